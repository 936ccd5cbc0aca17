// Package opensandboxpause is the actions opensandbox_pause and opensandbox_resume.
package opensandboxpause

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/action/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	api "github.com/agentenv/terraform-provider-gpuvm/internal/apiclient/opensandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/connection"
	"github.com/agentenv/terraform-provider-gpuvm/internal/diagnose"
	"github.com/agentenv/terraform-provider-gpuvm/internal/execution"
	lifecycle "github.com/agentenv/terraform-provider-gpuvm/internal/lifecycle/opensandbox"
)

var _ action.ActionWithConfigure = &Action{}

// Action is opensandbox_pause or opensandbox_resume.
type Action struct {
	change
	service *connection.OpenSandbox
}

// change is what differs between the two.
type change struct {
	name        string
	description string
	doing       string // "pausing"
	failed      string // "was not paused"
	do          func(ctx context.Context, service *lifecycle.Lifecycle, id string) (api.Sandbox, error)
}

// NewPause gives the action opensandbox_pause, not yet configured.
func NewPause() action.Action {
	return &Action{change: change{
		name: "_pause",
		description: "Pauses an `opensandbox_sandbox` and waits until it is (Terraform 1.14 and newer); one that is paused already is left as it is. " +
			"Docker freezes its processes; Kubernetes keeps the files and loses the processes. The time to live runs on. " +
			"Leave `paused` out of the resource then: where it is set, the next apply of the resource puts the sandbox back.",
		doing: "pausing", failed: "was not paused",
		do: func(ctx context.Context, service *lifecycle.Lifecycle, id string) (api.Sandbox, error) {
			return service.Pause(ctx, id)
		},
	}}
}

// NewResume gives the action opensandbox_resume, not yet configured.
func NewResume() action.Action {
	return &Action{change: change{
		name: "_resume",
		description: "Lets a paused `opensandbox_sandbox` run on and waits until it does (Terraform 1.14 and newer); one that runs already is left as it is. " +
			"Endpoints may have moved: the next refresh of the resource looks them up. A network policy that was changed since the sandbox was made is back to its first form; the next apply of the resource puts it right.",
		doing: "resuming", failed: "was not resumed",
		do: func(ctx context.Context, service *lifecycle.Lifecycle, id string) (api.Sandbox, error) {
			usable, err := service.Resume(ctx, id, lifecycle.Resumption{})
			if err != nil {
				return api.Sandbox{}, err
			}
			return usable.Sandbox, nil
		},
	}}
}

// Metadata names the type.
func (a *Action) Metadata(_ context.Context, req action.MetadataRequest, resp *action.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + a.name
}

// Configure takes the service over from the provider.
func (a *Action) Configure(_ context.Context, req action.ConfigureRequest, _ *action.ConfigureResponse) {
	a.service, _ = req.ProviderData.(*connection.OpenSandbox)
}

type model struct {
	SandboxID types.String `tfsdk:"sandbox_id"`
}

// Schema is the contract with users.
func (a *Action) Schema(_ context.Context, _ action.SchemaRequest, resp *action.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: a.description,
		Attributes: map[string]schema.Attribute{
			"sandbox_id": schema.StringAttribute{
				MarkdownDescription: "Id of the sandbox.",
				Required:            true,
				Validators:          []validator.String{stringvalidator.LengthAtLeast(1)},
			},
		},
	}
}

// limit bounds the change with all that is waited for.
const limit = 10 * time.Minute

// Invoke makes the change and waits until it is made.
func (a *Action) Invoke(ctx context.Context, req action.InvokeRequest, resp *action.InvokeResponse) {
	defer diagnose.Panic(&resp.Diagnostics)
	var config model
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	service := a.service.Lifecycle(&resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	id := config.SandboxID.ValueString()
	progress := execution.Begin(ctx, resp, a.doing+" sandbox "+id)
	defer progress.Close()
	sandbox, err := a.do(ctx, service, id)
	if err != nil {
		diagnose.OpenSandbox.AttributeError(&resp.Diagnostics, path.Root("sandbox_id"), "Sandbox "+id+" "+a.failed, err)
		return
	}
	progress.Line("sandbox " + id + " is " + sandbox.Status.State)
}
