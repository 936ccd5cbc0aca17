// Package opensandboxendpoint is the ephemeral resource opensandbox_endpoint: the URL of a port of a sandbox with the
// headers that it demands, none of which any state holds.
package opensandboxendpoint

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentenv/terraform-provider-gpuvm/internal/connection"
	"github.com/agentenv/terraform-provider-gpuvm/internal/diagnose"
	"github.com/agentenv/terraform-provider-gpuvm/internal/endpoint"
	"github.com/agentenv/terraform-provider-gpuvm/internal/labels"
	"github.com/agentenv/terraform-provider-gpuvm/internal/wholenumber"
)

var (
	_ ephemeral.EphemeralResourceWithConfigure      = &Ephemeral{}
	_ ephemeral.EphemeralResourceWithValidateConfig = &Ephemeral{}
)

// Ephemeral is opensandbox_endpoint.
type Ephemeral struct{ service *connection.OpenSandbox }

// New gives the ephemeral resource, not yet configured.
func New() ephemeral.EphemeralResource { return &Ephemeral{} }

// Metadata names the type.
func (e *Ephemeral) Metadata(_ context.Context, req ephemeral.MetadataRequest, resp *ephemeral.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_endpoint"
}

// Configure takes the service over from the provider.
func (e *Ephemeral) Configure(_ context.Context, req ephemeral.ConfigureRequest, _ *ephemeral.ConfigureResponse) {
	e.service, _ = req.ProviderData.(*connection.OpenSandbox)
}

type model struct {
	endpoint.Arguments
	ExpiresSeconds wholenumber.Value `tfsdk:"expires_seconds"`
	URL            types.String      `tfsdk:"url"`
	Headers        types.Map         `tfsdk:"headers"`
}

// Schema is the contract with users.
func (e *Ephemeral) Schema(_ context.Context, _ ephemeral.SchemaRequest, resp *ephemeral.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Where a port of a sandbox is reached, with the headers that have to go with every request to it. Nothing of it stands in a state or plan, so this is the place for secure access and for signed URLs.",
		Attributes: map[string]schema.Attribute{
			"sandbox_id": schema.StringAttribute{
				MarkdownDescription: endpoint.SandboxIDText + " Where it is null or absent, as that of an ephemeral sandbox is in a plan that doesn't open it, nothing is looked up and all that would be told is null.",
				Optional:            true,
				Validators:          []validator.String{stringvalidator.LengthAtLeast(1)},
			},
			"port": schema.Int64Attribute{
				MarkdownDescription: endpoint.PortText, Required: true, CustomType: wholenumber.Type{},
				Validators: []validator.Int64{int64validator.Between(endpoint.MinPort, endpoint.MaxPort)},
			},
			"use_server_proxy": schema.BoolAttribute{MarkdownDescription: endpoint.UseServerProxyText, Optional: true},
			"expires_seconds": schema.Int64Attribute{
				MarkdownDescription: "Seconds after which `url` is to be worth nothing, a whole number of 1 or more: asks for a signed URL, for someone who has no other access (servers on Kubernetes with a gateway). It leads to the gateway whatever the provider's `use_server_proxy` says, and can't be had through the server. Defaults to none: the URL isn't signed.",
				Optional:            true, CustomType: wholenumber.Type{},
				Validators: []validator.Int64{int64validator.AtLeast(1)},
			},
			"url":     schema.StringAttribute{MarkdownDescription: "URL of the port, with its scheme; the signature of a signed one is part of it.", Computed: true, Sensitive: true},
			"headers": schema.MapAttribute{MarkdownDescription: "Headers that have to go with every request to `url`; empty where it demands none.", Computed: true, Sensitive: true, ElementType: types.StringType},
		},
	}
}

// ValidateConfig refuses a signed URL through the server.
func (e *Ephemeral) ValidateConfig(ctx context.Context, req ephemeral.ValidateConfigRequest, resp *ephemeral.ValidateConfigResponse) {
	var config model
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if config.UseServerProxy.ValueBool() && !config.ExpiresSeconds.IsNull() && !config.ExpiresSeconds.IsUnknown() {
		resp.Diagnostics.AddAttributeError(path.Root("expires_seconds"), "expires_seconds can't be set with use_server_proxy",
			"A signed URL leads to the gateway, and the server signs none of its own.\n\nWhat to do: take one of the two away.")
	}
}

// Open asks the server for the endpoint. There is nothing to renew or to close.
func (e *Ephemeral) Open(ctx context.Context, req ephemeral.OpenRequest, resp *ephemeral.OpenResponse) {
	defer diagnose.Panic(&resp.Diagnostics)
	var result model
	resp.Diagnostics.Append(req.Config.Get(ctx, &result)...)
	if resp.Diagnostics.HasError() {
		return
	}
	if result.SandboxID.IsNull() {
		result.URL, result.Headers = types.StringNull(), types.MapNull(types.StringType)
		resp.Diagnostics.Append(resp.Result.Set(ctx, result)...)
		return
	}
	var expires time.Time
	if !result.ExpiresSeconds.IsNull() {
		expires = e.service.Clock.Now().Add(result.ExpiresSeconds.Seconds())
	}
	found, ok := result.LookUp(ctx, e.service, expires, &resp.Diagnostics)
	if !ok {
		return
	}
	result.URL, result.Headers = types.StringValue(found.URL), labels.ToMap(ctx, found.Headers, &resp.Diagnostics)
	resp.Diagnostics.Append(resp.Result.Set(ctx, result)...)
}
