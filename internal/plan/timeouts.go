package plan

import (
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// RefuseTimeouts refuses durations of a timeouts block that leave no time: the block's own validators see to their form
// alone.
func RefuseTimeouts(block types.Object, diags *diag.Diagnostics) {
	for name, value := range block.Attributes() {
		text, ok := value.(types.String)
		if !ok || text.IsNull() || text.IsUnknown() {
			continue
		}
		if duration, err := time.ParseDuration(text.ValueString()); err == nil && duration <= 0 {
			diags.AddAttributeError(path.Root("timeouts").AtName(name), "Timeout leaves no time", "The duration "+text.ValueString()+" must be more than 0.")
		}
	}
}
