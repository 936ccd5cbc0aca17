// Package opensandboxfile is the resource opensandbox_file: a file in a sandbox.
package opensandboxfile

import (
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentenv/terraform-provider-gpuvm/internal/connection"
	"github.com/agentenv/terraform-provider-gpuvm/internal/diagnose"
	"github.com/agentenv/terraform-provider-gpuvm/internal/plan"
	"github.com/agentenv/terraform-provider-gpuvm/internal/private"
	"github.com/agentenv/terraform-provider-gpuvm/internal/upload"
)

var (
	_ resource.ResourceWithConfigure      = &Resource{}
	_ resource.ResourceWithModifyPlan     = &Resource{}
	_ resource.ResourceWithValidateConfig = &Resource{}
)

// Resource is opensandbox_file.
type Resource struct{ service *connection.OpenSandbox }

// New gives the resource, not yet configured.
func New() resource.Resource { return &Resource{} }

// Metadata names the type.
func (r *Resource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_file"
}

// Configure takes the service over from the provider.
func (r *Resource) Configure(_ context.Context, req resource.ConfigureRequest, _ *resource.ConfigureResponse) {
	r.service, _ = req.ProviderData.(*connection.OpenSandbox)
}

const (
	// uploadTimeout bounds an upload or a deletion with all its attempts; request_timeout_seconds bounds each of them.
	uploadTimeout = 10 * time.Minute
	// readTimeout bounds a refresh.
	readTimeout = 2 * time.Minute
)

// model is a file as state, plan and configuration hold it.
type model struct {
	SandboxID types.String `tfsdk:"sandbox_id"`
	Path      types.String `tfsdk:"path"`
	upload.Sole
	Mode  types.String `tfsdk:"mode"`
	Owner types.String `tfsdk:"owner"`
	Group types.String `tfsdk:"group"`
}

// ValidateConfig refuses what is wrong whatever the server says.
func (r *Resource) ValidateConfig(ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	var config model
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	config.Check(&resp.Diagnostics)
}

// ModifyPlan reads a local source, and says what uploads and what replaces.
func (r *Resource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.Plan.Raw.IsNull() {
		return
	}
	var config model
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	upload.PlanSole(ctx, req, resp, config.Sole, "mode", "owner", "group")
	if change, standing := plan.ChangeOf(req); standing {
		plan.Replace(resp, change.Of("sandbox_id", "path")...)
	}
}

// Create uploads the file.
func (r *Resource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	defer diagnose.Panic(&resp.Diagnostics)
	var planned, config model
	resp.Diagnostics.Append(req.Plan.Get(ctx, &planned)...)
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if resp.Diagnostics.HasError() || !r.upload(ctx, &planned, config, resp.Private, &resp.Diagnostics) {
		return
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, planned)...)
}

// Read drops the file from the state where it, or its sandbox, is gone, and notes what it holds now.
func (r *Resource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	defer diagnose.Panic(&resp.Diagnostics)
	var state model
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	service := r.service.Lifecycle(&resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	var size int64
	if !private.Get(ctx, req.Private, private.UploadedSize, &size) {
		size = unknownSize
	}
	seen, err := look(ctx, service, state, size)
	switch {
	case err != nil:
		diagnose.OpenSandbox.Error(&resp.Diagnostics, "File "+state.Path.ValueString()+" in sandbox "+state.SandboxID.ValueString()+" can't be read", err)
	case seen.gone:
		resp.State.RemoveResource(ctx)
	case seen.read:
		state.SHA256 = seen.sha256
		resp.Diagnostics.Append(resp.State.Set(ctx, state)...)
	}
}

// Update uploads the file again where the plan says so, and otherwise only notes the change.
func (r *Resource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	defer diagnose.Panic(&resp.Diagnostics)
	var state, planned, config model
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	resp.Diagnostics.Append(req.Plan.Get(ctx, &planned)...)
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if resp.Diagnostics.HasError() {
		return
	}
	if planned.SHA256.IsUnknown() && !r.upload(ctx, &planned, config, resp.Private, &resp.Diagnostics) {
		state.Doubtful(planned.Sole)
		resp.Diagnostics.Append(resp.State.Set(ctx, state)...)
		return
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, planned)...)
}

// Delete deletes the file. In a sandbox that doesn't run it can't be, and ends with that.
func (r *Resource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	defer diagnose.Panic(&resp.Diagnostics)
	var state model
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	service := r.service.Lifecycle(&resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, uploadTimeout)
	defer cancel()
	at, id := state.Path.ValueString(), state.SandboxID.ValueString()
	left, err := remove(ctx, service, id, at)
	if err != nil {
		diagnose.OpenSandbox.Error(&resp.Diagnostics, "File "+at+" was not deleted from sandbox "+id, fmt.Errorf("%w\n\nIt is still in the state; destroy again", err))
	} else if left != "" {
		resp.Diagnostics.AddWarning("File "+at+" stays in sandbox "+id,
			"It can't be deleted there, because the sandbox "+left+". It ends with the sandbox; Terraform forgets it.")
	}
}
