package gpuvminstance

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/agentenv/terraform-provider-gpuvm/internal/fields"
	"github.com/agentenv/terraform-provider-gpuvm/internal/plan"
)

// ValidateConfig refuses what is wrong whatever the service says.
func (r *Resource) ValidateConfig(ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	var config model
	resp.Diagnostics.Append(fields.Get(ctx, req.Config.Schema, req.Config.Raw, &config)...)
	refuseUnenforceable(config.NetworkPolicy, &resp.Diagnostics)
	plan.RefuseTimeouts(config.Timeouts.Object, &resp.Diagnostics)
}
