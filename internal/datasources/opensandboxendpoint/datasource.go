// Package opensandboxendpoint is the data source opensandbox_endpoint: the URL of a port of a sandbox.
package opensandboxendpoint

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentenv/terraform-provider-gpuvm/internal/connection"
	"github.com/agentenv/terraform-provider-gpuvm/internal/diagnose"
	"github.com/agentenv/terraform-provider-gpuvm/internal/endpoint"
	"github.com/agentenv/terraform-provider-gpuvm/internal/wholenumber"
)

// DataSource is the data source opensandbox_endpoint.
type DataSource struct{ service *connection.OpenSandbox }

// New gives the data source, not yet configured.
func New() datasource.DataSource { return &DataSource{} }

// Metadata names the type.
func (d *DataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_endpoint"
}

// Configure takes the service over from the provider.
func (d *DataSource) Configure(_ context.Context, req datasource.ConfigureRequest, _ *datasource.ConfigureResponse) {
	d.service, _ = req.ProviderData.(*connection.OpenSandbox)
}

type model struct {
	endpoint.Arguments
	URL types.String `tfsdk:"url"`
}

// Schema has neither headers nor signed URLs: they would stand in the state.
func (d *DataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Where a port of a sandbox is reached. Headers that an endpoint demands, and signed URLs, would stand in the state; the ephemeral resource of the same name gives them.",
		Attributes: map[string]schema.Attribute{
			"sandbox_id": schema.StringAttribute{
				MarkdownDescription: endpoint.SandboxIDText, Required: true,
				Validators: []validator.String{stringvalidator.LengthAtLeast(1)},
			},
			"port": schema.Int64Attribute{
				MarkdownDescription: endpoint.PortText, Required: true, CustomType: wholenumber.Type{},
				Validators: []validator.Int64{int64validator.Between(endpoint.MinPort, endpoint.MaxPort)},
			},
			"use_server_proxy": schema.BoolAttribute{MarkdownDescription: endpoint.UseServerProxyText, Optional: true},
			"url":              schema.StringAttribute{MarkdownDescription: "URL of the port, with its scheme.", Computed: true},
		},
	}
}

// Read asks the server for the endpoint.
func (d *DataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	defer diagnose.Panic(&resp.Diagnostics)
	var state model
	resp.Diagnostics.Append(req.Config.Get(ctx, &state)...)
	if resp.Diagnostics.HasError() {
		return
	}
	found, ok := state.LookUp(ctx, d.service, time.Time{}, &resp.Diagnostics)
	if !ok {
		return
	}
	state.URL = types.StringValue(found.URL)
	resp.Diagnostics.Append(resp.State.Set(ctx, state)...)
	if len(found.Headers) > 0 {
		resp.Diagnostics.AddAttributeWarning(path.Root("url"), "The endpoint demands headers",
			fmt.Sprintf("Requests to %s are refused without %s, whose value is secret and so isn't given here.\n\nWhat to do: use the ephemeral resource opensandbox_endpoint, which gives url and headers.",
				found.URL, strings.Join(slices.Sorted(maps.Keys(found.Headers)), ", ")))
	}
}
