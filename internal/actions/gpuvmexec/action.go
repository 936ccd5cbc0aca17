// Package gpuvmexec is the action gpuvm_exec: running a command in a GPU VM without keeping anything of it.
package gpuvmexec

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/action/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentenv/terraform-provider-gpuvm/internal/connection"
	"github.com/agentenv/terraform-provider-gpuvm/internal/diagnose"
	"github.com/agentenv/terraform-provider-gpuvm/internal/execution"
	"github.com/agentenv/terraform-provider-gpuvm/internal/wholenumber"
)

var (
	_ action.ActionWithConfigure      = &Action{}
	_ action.ActionWithValidateConfig = &Action{}
)

// Action is gpuvm_exec.
type Action struct{ service *connection.GPUVM }

// New gives the action, not yet configured.
func New() action.Action { return &Action{} }

// Metadata names the type.
func (a *Action) Metadata(_ context.Context, req action.MetadataRequest, resp *action.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_exec"
}

// Configure takes the service over from the provider.
func (a *Action) Configure(_ context.Context, req action.ConfigureRequest, _ *action.ConfigureResponse) {
	a.service, _ = req.ProviderData.(*connection.GPUVM)
}

type model struct {
	InstanceID types.String `tfsdk:"instance_id"`
	execution.Command
	TimeoutSeconds wholenumber.Value `tfsdk:"timeout_seconds"`
}

// Schema is the contract with users.
func (a *Action) Schema(_ context.Context, _ action.SchemaRequest, resp *action.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Runs a command in a `gpuvm_instance` and keeps nothing of it (Terraform 1.14 and newer). " +
			"Its output is shown line by line once it has ended, as the service tells it only then, without control characters. " +
			"If it ends with another exit code than `expected_exit_codes` the run fails; nothing is tainted. A command whose answer is lost is never sent a second time. An interrupt gives it up, of which Terraform reports no error; the command may run on in the machine.",
		Attributes: execution.ActionAttributes(execution.VM),
	}
}

// ValidateConfig refuses what is wrong whatever the service says.
func (a *Action) ValidateConfig(ctx context.Context, req action.ValidateConfigRequest, resp *action.ValidateConfigResponse) {
	var config model
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	config.Check(&resp.Diagnostics)
}

// Invoke runs the command and tells what it printed.
func (a *Action) Invoke(ctx context.Context, req action.InvokeRequest, resp *action.InvokeResponse) {
	defer diagnose.Panic(&resp.Diagnostics)
	var config model
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	config.Check(&resp.Diagnostics) // once more: what was unknown at plan is known now
	limit := execution.Limit(config.TimeoutSeconds, &resp.Diagnostics)
	service := a.service.Lifecycle(&resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	job := execution.Job{Command: config.Command, In: config.InstanceID.ValueString(), Limit: limit, LimitedBy: "timeout_seconds"}
	job.Invoke(ctx, resp, diagnose.GPUVM, func(ctx context.Context, progress *execution.Progress) (execution.Ended, error) {
		ended, err := job.InVM(ctx, service)
		progress.Printed(ended)
		return ended, err
	})
}
