package gpuvmfile

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/agentenv/terraform-provider-gpuvm/internal/diagnose"
	"github.com/agentenv/terraform-provider-gpuvm/internal/redact"
)

// upload puts the configured content into the machine, and says whether it stands there now.
func (r *Resource) upload(ctx context.Context, planned *model, config model, diags *diag.Diagnostics) bool {
	service := r.service.Lifecycle(diags)
	data := config.Load(diags)
	if diags.HasError() {
		return false
	}
	ctx, cancel := context.WithTimeout(redact.Within(ctx, string(data)), uploadTimeout)
	defer cancel()
	id, at := planned.InstanceID.ValueString(), planned.Path.ValueString()
	if err := service.API.WriteFile(ctx, id, at, data); err != nil {
		diagnose.GPUVM.AttributeError(diags, path.Root("path"), "File "+at+" was not uploaded to "+id, err)
		return false
	}
	planned.Uploaded(config.Sole, data)
	return true
}
