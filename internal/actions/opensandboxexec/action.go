// Package opensandboxexec is the action opensandbox_exec: running a command in a sandbox without keeping anything of it.
package opensandboxexec

import (
	"context"
	"maps"
	"time"

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

// Action is opensandbox_exec.
type Action struct{ service *connection.OpenSandbox }

// New gives the action, not yet configured.
func New() action.Action { return &Action{} }

// Metadata names the type.
func (a *Action) Metadata(_ context.Context, req action.MetadataRequest, resp *action.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_exec"
}

// Configure takes the service over from the provider.
func (a *Action) Configure(_ context.Context, req action.ConfigureRequest, _ *action.ConfigureResponse) {
	a.service, _ = req.ProviderData.(*connection.OpenSandbox)
}

type model struct {
	SandboxID types.String `tfsdk:"sandbox_id"`
	execution.Command
	execution.Process
	TimeoutSeconds wholenumber.Value `tfsdk:"timeout_seconds"`
}

// Schema is the contract with users.
func (a *Action) Schema(_ context.Context, _ action.SchemaRequest, resp *action.SchemaResponse) {
	attributes := execution.ActionAttributes(execution.Sandbox)
	maps.Copy(attributes, execution.ProcessActionAttributes())
	resp.Schema = schema.Schema{
		MarkdownDescription: "Runs a command in an `opensandbox_sandbox` and keeps nothing of it (Terraform 1.14 and newer). " +
			"Its output is shown line by line as it comes, without control characters. " +
			"If it ends with another exit code than `expected_exit_codes` the run fails; nothing is tainted. A command of which the sandbox's agent tells no exit code counts as ended with 125, one that was killed with -1. " +
			"A command whose answer is lost is sent again only as often as the provider's `command_retries` allows. An interrupt ends it, of which Terraform reports no error.",
		Attributes: attributes,
	}
}

// ValidateConfig refuses what is wrong whatever the server says.
func (a *Action) ValidateConfig(ctx context.Context, req action.ValidateConfigRequest, resp *action.ValidateConfigResponse) {
	var config model
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	config.Check(&resp.Diagnostics)
}

// margin is how much longer than the agent's own limit the command is waited for, so that the agent can tell what it killed.
const margin = 30 * time.Second

// Invoke runs the command and tells what it prints.
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
	job := execution.Job{Command: config.Command, In: config.SandboxID.ValueString(), Limit: limit + margin, LimitedBy: "timeout_seconds"}
	job.Invoke(ctx, resp, diagnose.OpenSandbox, func(ctx context.Context, progress *execution.Progress) (execution.Ended, error) {
		return job.InSandbox(ctx, service, config.Process, limit, progress.Line)
	})
}
