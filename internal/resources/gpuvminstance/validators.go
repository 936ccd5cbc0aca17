package gpuvminstance

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentenv/terraform-provider-gpuvm/internal/plan"
)

// ValidateConfig refuses what is wrong whatever the service says.
func (r *Resource) ValidateConfig(ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	var config model
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	refuseUnenforceable(config.NetworkPolicy, &resp.Diagnostics)
	plan.RefuseTimeouts(config.Timeouts.Object, &resp.Diagnostics)
}

// moreThanZero is a validator of sizes: the stock one has only "at least".
type moreThanZero struct{}

func (moreThanZero) Description(context.Context) string { return "is more than 0" }

func (v moreThanZero) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

func (moreThanZero) ValidateFloat64(_ context.Context, req validator.Float64Request, resp *validator.Float64Response) {
	if !req.ConfigValue.IsNull() && !req.ConfigValue.IsUnknown() && req.ConfigValue.ValueFloat64() <= 0 {
		resp.Diagnostics.AddAttributeError(req.Path, "Number out of range", fmt.Sprintf("%v is not more than 0.", req.ConfigValue.ValueFloat64()))
	}
}

// noNullLabels is a validator of labels: a null value would be a label that is neither set nor absent.
type noNullLabels struct{}

func (noNullLabels) Description(context.Context) string { return "no value is null" }

func (v noNullLabels) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

func (noNullLabels) ValidateMap(_ context.Context, req validator.MapRequest, resp *validator.MapResponse) {
	for key, element := range req.ConfigValue.Elements() {
		if value, ok := element.(types.String); ok && value.IsNull() {
			resp.Diagnostics.AddAttributeError(req.Path.AtMapKey(key), "Label is null", "Give the label a text, which may be empty, or leave its key out.")
		}
	}
}
