// Package opensandboxrenew is the action opensandbox_renew.
package opensandboxrenew

import (
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/action/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentenv/terraform-provider-gpuvm/internal/connection"
	"github.com/agentenv/terraform-provider-gpuvm/internal/diagnose"
	"github.com/agentenv/terraform-provider-gpuvm/internal/execution"
	"github.com/agentenv/terraform-provider-gpuvm/internal/sandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/wholenumber"
)

var _ action.ActionWithConfigure = &Action{}

// Action is opensandbox_renew.
type Action struct{ service *connection.OpenSandbox }

// New gives the action, not yet configured.
func New() action.Action { return &Action{} }

// Metadata names the type.
func (a *Action) Metadata(_ context.Context, req action.MetadataRequest, resp *action.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_renew"
}

// Configure takes the service over from the provider.
func (a *Action) Configure(_ context.Context, req action.ConfigureRequest, _ *action.ConfigureResponse) {
	a.service, _ = req.ProviderData.(*connection.OpenSandbox)
}

type model struct {
	SandboxID  types.String      `tfsdk:"sandbox_id"`
	TTLSeconds wholenumber.Value `tfsdk:"ttl_seconds"`
}

// Schema is the contract with users.
func (a *Action) Schema(_ context.Context, _ action.SchemaRequest, resp *action.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Lets an `opensandbox_sandbox` expire later, or sooner, than it would (Terraform 1.14 and newer), whether it runs or is paused. " +
			"A sandbox that was made without a time to live never expires and can't be renewed. The server's answer is read back, and an expiry that didn't come about is an error.",
		Attributes: map[string]schema.Attribute{
			"sandbox_id": schema.StringAttribute{
				MarkdownDescription: "Id of the sandbox.",
				Required:            true,
				Validators:          []validator.String{stringvalidator.LengthAtLeast(1)},
			},
			"ttl_seconds": schema.Int64Attribute{
				MarkdownDescription: "Seconds from now until the sandbox expires, a whole number of 60 or more.",
				Required:            true, CustomType: wholenumber.Type{},
				Validators: []validator.Int64{int64validator.AtLeast(sandbox.MinTTL)},
			},
		},
	}
}

// limit bounds the renewal with all its attempts.
const limit = 10 * time.Minute

// Invoke renews the sandbox and tells when it expires.
func (a *Action) Invoke(ctx context.Context, req action.InvokeRequest, resp *action.InvokeResponse) {
	defer diagnose.Panic(&resp.Diagnostics)
	var config model
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	service := a.service.Lifecycle(&resp.Diagnostics)
	if config.TTLSeconds.ValueInt64() < sandbox.MinTTL { // it may have become known only after the plan
		resp.Diagnostics.AddAttributeError(path.Root("ttl_seconds"), "Number out of range", fmt.Sprintf("ttl_seconds has to be %d or more.", sandbox.MinTTL))
	}
	if resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	id := config.SandboxID.ValueString()
	progress := execution.Begin(ctx, resp, "renewing sandbox "+id)
	defer progress.Close()
	renewed, err := service.Renew(ctx, id, execution.Seconds(config.TTLSeconds))
	if err != nil {
		diagnose.OpenSandbox.AttributeError(&resp.Diagnostics, path.Root("sandbox_id"), "Sandbox "+id+" was not renewed", err)
		return
	}
	progress.Line("sandbox " + id + " expires at " + renewed.ExpiresAt.UTC().Format(time.RFC3339))
}
