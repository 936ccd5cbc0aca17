package sandbox

import (
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentenv/terraform-provider-gpuvm/internal/validate"
)

// withoutPool are the arguments that a sandbox of a pool can't have: its pool's template says these.
var withoutPool = []string{"network_policy", "platform", "volume", "credential_proxy", "pre_start", "periodic", "image_pull_policy"}

// Check refuses configured arguments that don't go together. What isn't known yet passes.
func (a Arguments) Check(diags *diag.Diagnostics) {
	a.checkSource(diags)
	if isSet(a.PoolRef) {
		for _, name := range withoutPool {
			if isSet(a.named()[name]) {
				diags.AddAttributeError(path.Root(name), name+" can't be set with pool_ref",
					"A sandbox of a pool is what the pool's template says, so the server refuses "+name+" for it.\n\nWhat to do: take "+name+" away, or make the sandbox from an image.")
			}
		}
	}
	if a.CredentialProxy.ValueBool() && a.NetworkPolicy.IsNull() {
		diags.AddAttributeError(path.Root("credential_proxy"), "credential_proxy needs network_policy",
			"The proxy is a part of the egress sidecar, which only a sandbox with a network policy has.\n\nWhat to do: add a network_policy block; default_action = \"allow\" in it allows all.")
	}
	if isSet(a.ImageAuth) && a.Image.IsNull() {
		diags.AddAttributeError(path.Root("image_auth"), "image_auth needs image", "It signs in to the registry of an image, and there is none.")
	}
	a.checkPullPolicy(diags)
}

// checkSource sees that exactly one of the sources is given.
func (a Arguments) checkSource(diags *diag.Diagnostics) {
	sources := []string{"image", "snapshot_id", "pool_ref"}
	given, unknown := validate.Given(a.named(), sources...)
	switch {
	case len(given) > 1:
		for _, name := range given[1:] {
			diags.AddAttributeError(path.Root(name), "More than one source", fmt.Sprintf("A sandbox is made from exactly one of %s; this one has %s.", strings.Join(sources, ", "), strings.Join(given, " and ")))
		}
	case len(given) == 0 && !unknown:
		diags.AddError("Sandbox has no source", fmt.Sprintf("A sandbox is made from exactly one of %s; this one has none.", strings.Join(sources, ", ")))
	}
}

// checkPullPolicy refuses two words on one thing.
func (a Arguments) checkPullPolicy(diags *diag.Diagnostics) {
	if a.ImagePullPolicy.IsNull() || a.ImagePullPolicy.IsUnknown() {
		return
	}
	for _, key := range []string{pullPolicyExtension, pullPolicyExtensionLong} {
		said, ok := a.Extensions.Elements()[key].(types.String)
		if ok && !said.IsUnknown() && said.ValueString() != a.ImagePullPolicy.ValueString() {
			diags.AddAttributeError(path.Root("extensions").AtMapKey(key), "Two image pull policies",
				fmt.Sprintf("This extension says %q, and image_pull_policy says %q. Give one of the two.", said.ValueString(), a.ImagePullPolicy.ValueString()))
		}
	}
}

func (a Arguments) named() map[string]attr.Value {
	return map[string]attr.Value{
		"image": a.Image, "snapshot_id": a.SnapshotID, "pool_ref": a.PoolRef, "network_policy": a.NetworkPolicy,
		"platform": a.Platform, "volume": a.Volume, "credential_proxy": a.CredentialProxy, "pre_start": a.PreStart,
		"periodic": a.Periodic, "image_pull_policy": a.ImagePullPolicy,
	}
}

// isSet says whether a value is known and says something: false and an empty list don't.
func isSet(v attr.Value) bool {
	if v.IsNull() || v.IsUnknown() {
		return false
	}
	switch v := v.(type) {
	case types.Bool:
		return v.ValueBool()
	case types.List:
		return len(v.Elements()) > 0
	}
	return true
}
