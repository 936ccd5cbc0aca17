// Package gpuvmfile is the resource gpuvm_file: a file in a GPU VM.
package gpuvmfile

import (
	"context"
	"maps"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentenv/terraform-provider-gpuvm/internal/apiclient"
	"github.com/agentenv/terraform-provider-gpuvm/internal/connection"
	"github.com/agentenv/terraform-provider-gpuvm/internal/diagnose"
	"github.com/agentenv/terraform-provider-gpuvm/internal/plan"
	"github.com/agentenv/terraform-provider-gpuvm/internal/upload"
)

var (
	_ resource.ResourceWithConfigure      = &Resource{}
	_ resource.ResourceWithModifyPlan     = &Resource{}
	_ resource.ResourceWithValidateConfig = &Resource{}
)

// Resource is gpuvm_file.
type Resource struct{ service *connection.GPUVM }

// New gives the resource, not yet configured.
func New() resource.Resource { return &Resource{} }

// Metadata names the type.
func (r *Resource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_file"
}

// Configure takes the service over from the provider.
func (r *Resource) Configure(_ context.Context, req resource.ConfigureRequest, _ *resource.ConfigureResponse) {
	r.service, _ = req.ProviderData.(*connection.GPUVM)
}

const (
	// uploadTimeout bounds an upload with all its attempts; request_timeout_seconds bounds each of them.
	uploadTimeout = 10 * time.Minute
	// readTimeout bounds a refresh, which is one GET of the machine.
	readTimeout = 2 * time.Minute
)

// model is a file as state, plan and configuration hold it.
type model struct {
	InstanceID types.String `tfsdk:"instance_id"`
	Path       types.String `tfsdk:"path"`
	upload.Sole
}

// Schema is the contract with users.
func (r *Resource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	attributes := map[string]schema.Attribute{
		"instance_id": schema.StringAttribute{
			MarkdownDescription: "Id of the `gpuvm_instance` that the file goes into. A change replaces the object: the file is uploaded to the other one.",
			Required:            true,
			Validators:          []validator.String{stringvalidator.LengthAtLeast(1)},
		},
		"path": schema.StringAttribute{
			MarkdownDescription: "Absolute path of the file in the machine; a file that stands there is overwritten. A change replaces the object: the file is uploaded to the new path, and the one at the old path stays.",
			Required:            true,
			Validators:          []validator.String{upload.AbsolutePath()},
		},
	}
	maps.Copy(attributes, upload.SoleAttributes())
	resp.Schema = schema.Schema{
		MarkdownDescription: "A file in a `gpuvm_instance`. The service can take a file and neither read nor delete one: a change inside the machine isn't noticed, destroying the object only forgets it (the file stays until the machine ends), and it can't be imported. " +
			"A machine that is gone takes the object out of the state. An upload whose answer is lost is repeated, as that does no harm.",
		Attributes: attributes,
	}
}

// ValidateConfig refuses what is wrong whatever the service says.
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
	upload.PlanSole(ctx, req, resp, config.Sole)
	if change, standing := plan.ChangeOf(req); standing {
		plan.Replace(resp, change.Of("instance_id", "path")...)
	}
}

// Create uploads the file.
func (r *Resource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	defer diagnose.Panic(&resp.Diagnostics)
	var planned, config model
	resp.Diagnostics.Append(req.Plan.Get(ctx, &planned)...)
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if resp.Diagnostics.HasError() || !r.upload(ctx, &planned, config, &resp.Diagnostics) {
		return
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, planned)...)
}

// Read drops the file from the state where its machine is gone; the service can't tell whether the file stands.
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
	id := state.InstanceID.ValueString()
	if _, err := service.API.Get(ctx, id); apiclient.IsGone(err) {
		resp.State.RemoveResource(ctx)
	} else if err != nil {
		diagnose.GPUVM.Error(&resp.Diagnostics, "Instance "+id+" of a file can't be read", err)
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
	if planned.SHA256.IsUnknown() && !r.upload(ctx, &planned, config, &resp.Diagnostics) {
		state.Doubtful(planned.Sole)
		resp.Diagnostics.Append(resp.State.Set(ctx, state)...)
		return
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, planned)...)
}

// Delete only forgets: the service can't delete a file.
func (r *Resource) Delete(context.Context, resource.DeleteRequest, *resource.DeleteResponse) {}
