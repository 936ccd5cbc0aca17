// Package opensandboxexec is the resource opensandbox_exec: a command that runs once in a sandbox.
package opensandboxexec

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentenv/terraform-provider-gpuvm/internal/apiclient"
	"github.com/agentenv/terraform-provider-gpuvm/internal/connection"
	"github.com/agentenv/terraform-provider-gpuvm/internal/diagnose"
	"github.com/agentenv/terraform-provider-gpuvm/internal/execution"
	"github.com/agentenv/terraform-provider-gpuvm/internal/plan"
	"github.com/agentenv/terraform-provider-gpuvm/internal/wholenumber"
)

var (
	_ resource.ResourceWithConfigure      = &Resource{}
	_ resource.ResourceWithModifyPlan     = &Resource{}
	_ resource.ResourceWithValidateConfig = &Resource{}
)

// Resource is opensandbox_exec.
type Resource struct{ service *connection.OpenSandbox }

// New gives the resource, not yet configured.
func New() resource.Resource { return &Resource{} }

// Metadata names the type.
func (r *Resource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_exec"
}

// Configure takes the service over from the provider.
func (r *Resource) Configure(_ context.Context, req resource.ConfigureRequest, _ *resource.ConfigureResponse) {
	r.service, _ = req.ProviderData.(*connection.OpenSandbox)
}

// readTimeout bounds a refresh, which is one GET of the sandbox.
const readTimeout = 2 * time.Minute

// model is an execution as state, plan and configuration hold it.
type model struct {
	SandboxID types.String `tfsdk:"sandbox_id"`
	execution.Command
	execution.Process
	TimeoutSeconds wholenumber.Value `tfsdk:"timeout_seconds"`
	Triggers       types.Map         `tfsdk:"triggers"`
	execution.Results
	Timeouts timeouts.Value `tfsdk:"timeouts"`
}

// ValidateConfig refuses what is wrong whatever the server says.
func (r *Resource) ValidateConfig(ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	var config model
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	config.Check(&resp.Diagnostics)
	plan.RefuseTimeouts(config.Timeouts.Object, &resp.Diagnostics)
}

// ModifyPlan says which change runs the command anew.
func (r *Resource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	execution.ModifyPlan(ctx, req, resp, append([]string{"sandbox_id"}, execution.ReplacingProcess...)...)
}

// Create runs the command. One that fails isn't kept.
func (r *Resource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	defer diagnose.Panic(&resp.Diagnostics)
	var planned, config model
	resp.Diagnostics.Append(req.Plan.Get(ctx, &planned)...)
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	limit, diags := planned.Timeouts.Create(ctx, execution.DefaultLimit)
	resp.Diagnostics.Append(diags...)
	service := r.service.Lifecycle(&resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	job := execution.Job{Command: planned.Command, In: planned.SandboxID.ValueString(), Limit: limit, LimitedBy: "timeouts.create"}
	ended, err := job.InSandbox(ctx, service, config.Process, execution.Seconds(planned.TimeoutSeconds), nil)
	if err != nil {
		job.Report(&resp.Diagnostics, diagnose.OpenSandbox, err, execution.ResourceFailed)
		return
	}
	planned.Results = execution.ResultsOf(ended)
	resp.Diagnostics.Append(resp.State.Set(ctx, planned)...)
}

// Read drops the execution from the state where its sandbox is gone; nothing else of it can change.
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
	id := state.SandboxID.ValueString()
	if _, err := service.API.Sandbox(ctx, id); apiclient.IsGone(err) {
		resp.State.RemoveResource(ctx)
	} else if err != nil {
		diagnose.OpenSandbox.Error(&resp.Diagnostics, "Sandbox "+id+" of an execution can't be read", err)
	}
}

// Update notes a change that runs nothing.
func (r *Resource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	defer diagnose.Panic(&resp.Diagnostics)
	var planned model
	resp.Diagnostics.Append(req.Plan.Get(ctx, &planned)...)
	if !resp.Diagnostics.HasError() {
		resp.Diagnostics.Append(resp.State.Set(ctx, planned)...)
	}
}

// Delete only forgets: what a command did can't be undone from outside.
func (r *Resource) Delete(context.Context, resource.DeleteRequest, *resource.DeleteResponse) {}
