// Package opensandboxsandboxes is the data source opensandbox_sandboxes: the sandboxes that a server holds.
package opensandboxsandboxes

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-validators/setvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentenv/terraform-provider-gpuvm/internal/connection"
	"github.com/agentenv/terraform-provider-gpuvm/internal/diagnose"
	"github.com/agentenv/terraform-provider-gpuvm/internal/listing"
	"github.com/agentenv/terraform-provider-gpuvm/internal/sandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/validate"
)

// DataSource is the data source opensandbox_sandboxes.
type DataSource struct{ service *connection.OpenSandbox }

// New gives the data source, not yet configured.
func New() datasource.DataSource { return &DataSource{} }

// Metadata names the type.
func (d *DataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_sandboxes"
}

// Configure takes the service over from the provider.
func (d *DataSource) Configure(_ context.Context, req datasource.ConfigureRequest, _ *datasource.ConfigureResponse) {
	d.service, _ = req.ProviderData.(*connection.OpenSandbox)
}

type model struct {
	States    types.Set      `tfsdk:"states"`
	Metadata  types.Map      `tfsdk:"metadata"`
	Sandboxes []sandbox.View `tfsdk:"sandboxes"`
}

// Schema is the filter and what it finds.
func (d *DataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "The sandboxes that the server holds, newest first, whoever made them.",
		Attributes: map[string]schema.Attribute{
			"states": schema.SetAttribute{
				MarkdownDescription: listing.SandboxStatesText,
				Optional:            true, ElementType: types.StringType,
				Validators: []validator.Set{setvalidator.NoNullValues(), setvalidator.ValueStringsAre(stringvalidator.LengthAtLeast(1))},
			},
			"metadata": schema.MapAttribute{
				MarkdownDescription: listing.MetadataText,
				Optional:            true, ElementType: types.StringType,
				Validators: []validator.Map{validate.NoNulls("Metadata")},
			},
			"sandboxes": schema.ListNestedAttribute{
				MarkdownDescription: "What was found, newest first; empty where nothing was.",
				Computed:            true,
				NestedObject:        schema.NestedAttributeObject{Attributes: sandbox.ViewAttributes()},
			},
		},
	}
}

// timeout bounds the listing with all its pages and attempts.
const timeout = 10 * time.Minute

// Read lists all pages.
func (d *DataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	defer diagnose.Panic(&resp.Diagnostics)
	var state model
	resp.Diagnostics.Append(req.Config.Get(ctx, &state)...)
	service := d.service.Lifecycle(&resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	state.Sandboxes = []sandbox.View{}
	for live, err := range service.API.Sandboxes(ctx, listing.SandboxFilter(state.States.Elements(), state.Metadata)) {
		if err != nil {
			diagnose.OpenSandbox.Error(&resp.Diagnostics, "Sandboxes can't be listed", err)
			return
		}
		state.Sandboxes = append(state.Sandboxes, sandbox.ViewOf(ctx, live, &resp.Diagnostics))
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, state)...)
}
