package gpuvminstance

import (
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// refuseUnenforceable refuses a network policy that the service would silently not enforce: anything but allowing all.
// What isn't known yet passes, and is judged again before the request.
func refuseUnenforceable(policy types.Object, diags *diag.Diagnostics) {
	if policy.IsNull() || policy.IsUnknown() {
		return
	}
	at := path.Root("network_policy")
	action, _ := policy.Attributes()["default_action"].(types.String)
	if !action.IsNull() && !action.IsUnknown() && action.ValueString() != "allow" {
		refuse(diags, at.AtName("default_action"), "default_action = \""+action.ValueString()+"\"")
	}
	egress, _ := policy.Attributes()["egress"].(types.List)
	for i, element := range egress.Elements() {
		rule, _ := element.(types.Object)
		action, _ := rule.Attributes()["action"].(types.String)
		if !action.IsUnknown() && !action.IsNull() && action.ValueString() != "allow" {
			refuse(diags, at.AtName("egress").AtListIndex(i).AtName("action"), "an egress rule with action = \""+action.ValueString()+"\"")
		}
	}
}

func refuse(diags *diag.Diagnostics, at path.Path, what string) {
	diags.AddAttributeError(at, "The VM service can't enforce this network policy",
		what+" asks for a restriction, and the machine would have full network access all the same, so no machine is made.\n\nWhat to do: allow all, or put the restriction into the image or the network that the service runs in.")
}
