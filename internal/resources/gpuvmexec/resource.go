// Package gpuvmexec is the resource gpuvm_exec: a command that runs once in a GPU VM.
package gpuvmexec

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentenv/terraform-provider-gpuvm/internal/apiclient"
	"github.com/agentenv/terraform-provider-gpuvm/internal/connection"
	"github.com/agentenv/terraform-provider-gpuvm/internal/diagnose"
	"github.com/agentenv/terraform-provider-gpuvm/internal/execution"
	"github.com/agentenv/terraform-provider-gpuvm/internal/plan"
)

var (
	_ resource.ResourceWithConfigure      = &Resource{}
	_ resource.ResourceWithModifyPlan     = &Resource{}
	_ resource.ResourceWithValidateConfig = &Resource{}
)

// Resource is gpuvm_exec.
type Resource struct{ service *connection.GPUVM }

// New gives the resource, not yet configured.
func New() resource.Resource { return &Resource{} }

// Metadata names the type.
func (r *Resource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_exec"
}

// Configure takes the service over from the provider.
func (r *Resource) Configure(_ context.Context, req resource.ConfigureRequest, _ *resource.ConfigureResponse) {
	r.service, _ = req.ProviderData.(*connection.GPUVM)
}

// readTimeout bounds a refresh, which is one GET of the machine.
const readTimeout = 2 * time.Minute

// model is an execution as state, plan and configuration hold it.
type model struct {
	InstanceID types.String `tfsdk:"instance_id"`
	execution.Command
	Triggers types.Map `tfsdk:"triggers"`
	execution.Results
	Timeouts timeouts.Value `tfsdk:"timeouts"`
}

// Schema is the contract with users.
func (r *Resource) Schema(ctx context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "A command that runs once in a `gpuvm_instance`, when the object is made; whatever it depends on goes into `triggers`. " +
			"If it ends with another exit code than `expected_exit_codes` the apply fails, the error shows the end of its output, and the next apply runs it again. " +
			"A command whose answer is lost is never sent a second time within an apply. Destroying the object only forgets it, and it can't be imported; a machine that is gone takes the object out of the state.",
		Attributes: execution.ResourceAttributes(execution.VM),
		Blocks:     map[string]schema.Block{"timeouts": execution.TimeoutsBlock(ctx)},
	}
}

// ValidateConfig refuses what is wrong whatever the service says.
func (r *Resource) ValidateConfig(ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	var config model
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	config.Check(&resp.Diagnostics)
	plan.RefuseTimeouts(config.Timeouts.Object, &resp.Diagnostics)
}

// ModifyPlan says which change runs the command anew.
func (r *Resource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	execution.ModifyPlan(ctx, req, resp, "instance_id")
}

// Create runs the command. One that fails isn't kept.
func (r *Resource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	defer diagnose.Panic(&resp.Diagnostics)
	var planned model
	resp.Diagnostics.Append(req.Plan.Get(ctx, &planned)...)
	limit, diags := planned.Timeouts.Create(ctx, execution.DefaultLimit)
	resp.Diagnostics.Append(diags...)
	service := r.service.Lifecycle(&resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	job := execution.Job{Command: planned.Command, In: planned.InstanceID.ValueString(), Limit: limit, LimitedBy: "timeouts.create"}
	ended, err := job.InVM(ctx, service)
	if err != nil {
		job.Report(&resp.Diagnostics, diagnose.GPUVM, err, execution.ResourceFailed)
		return
	}
	planned.Results = execution.ResultsOf(ended)
	resp.Diagnostics.Append(resp.State.Set(ctx, planned)...)
}

// Read drops the execution from the state where its machine is gone; nothing else of it can change.
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
		diagnose.GPUVM.Error(&resp.Diagnostics, "Instance "+id+" of an execution can't be read", err)
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
