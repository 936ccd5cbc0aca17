package opensandboxsandbox

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/agentenv/terraform-provider-gpuvm/internal/fields"
	"github.com/agentenv/terraform-provider-gpuvm/internal/plan"
)

// ValidateConfig refuses what is wrong whatever the server says. Terraform asks once more when all values are known.
func (r *Resource) ValidateConfig(ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	var config model
	resp.Diagnostics.Append(fields.Get(ctx, req.Config.Schema, req.Config.Raw, &config)...)
	if resp.Diagnostics.HasError() {
		return
	}
	config.Check(&resp.Diagnostics)
	plan.RefuseTimeouts(config.Timeouts.Object, &resp.Diagnostics)

	below, ttl := config.RenewBelowSeconds, config.TTLSeconds
	switch {
	case below.IsNull() || below.IsUnknown() || ttl.IsUnknown():
	case ttl.IsNull():
		resp.Diagnostics.AddAttributeError(path.Root("renew_below_seconds"), "renew_below_seconds needs ttl_seconds", "A sandbox without ttl_seconds never expires, so there is nothing to renew.")
	case below.ValueInt64() >= ttl.ValueInt64():
		resp.Diagnostics.AddAttributeError(path.Root("renew_below_seconds"), "renew_below_seconds isn't less than ttl_seconds",
			fmt.Sprintf("It is %d, and ttl_seconds is %d: every plan would renew.", below.ValueInt64(), ttl.ValueInt64()))
	}
}
