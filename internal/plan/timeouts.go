package plan

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// TimeoutsBlock is the timeouts block of a resource, with a description, which the stock one has none of.
func TimeoutsBlock(ctx context.Context, opts timeouts.Opts) schema.Block {
	block := timeouts.Block(ctx, opts)
	if single, ok := block.(schema.SingleNestedBlock); ok {
		single.MarkdownDescription = "How long what is done with the object may take at most. A change is noted, nothing is sent."
		return single
	}
	return block
}

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
