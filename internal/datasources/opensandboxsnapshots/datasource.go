// Package opensandboxsnapshots is the data source opensandbox_snapshots: the snapshots that a server has.
package opensandboxsnapshots

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
	"github.com/agentenv/terraform-provider-gpuvm/internal/snapshot"
)

// DataSource is the data source opensandbox_snapshots.
type DataSource struct{ service *connection.OpenSandbox }

// New gives the data source, not yet configured.
func New() datasource.DataSource { return &DataSource{} }

// Metadata names the type.
func (d *DataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_snapshots"
}

// Configure takes the service over from the provider.
func (d *DataSource) Configure(_ context.Context, req datasource.ConfigureRequest, _ *datasource.ConfigureResponse) {
	d.service, _ = req.ProviderData.(*connection.OpenSandbox)
}

type model struct {
	SandboxID types.String    `tfsdk:"sandbox_id"`
	States    types.Set       `tfsdk:"states"`
	Snapshots []snapshot.View `tfsdk:"snapshots"`
}

// Schema is the filter and what it finds.
func (d *DataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "The snapshots that the server has, of all sandboxes or of one, newest first.",
		Attributes: map[string]schema.Attribute{
			"sandbox_id": schema.StringAttribute{
				MarkdownDescription: listing.SandboxIDText,
				Optional:            true, Validators: []validator.String{stringvalidator.LengthAtLeast(1)},
			},
			"states": schema.SetAttribute{
				MarkdownDescription: listing.SnapshotStatesText,
				Optional:            true, ElementType: types.StringType,
				Validators: []validator.Set{setvalidator.NoNullValues(), setvalidator.ValueStringsAre(stringvalidator.LengthAtLeast(1))},
			},
			"snapshots": schema.ListNestedAttribute{
				MarkdownDescription: "What was found, newest first; empty where nothing was.",
				Computed:            true,
				NestedObject:        schema.NestedAttributeObject{Attributes: snapshot.ViewAttributes()},
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
	state.Snapshots = []snapshot.View{}
	for live, err := range service.API.Snapshots(ctx, listing.SnapshotFilter(state.SandboxID, state.States.Elements())) {
		if err != nil {
			diagnose.OpenSandbox.Error(&resp.Diagnostics, "Snapshots can't be listed", err)
			return
		}
		state.Snapshots = append(state.Snapshots, snapshot.ViewOf(live))
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, state)...)
}
