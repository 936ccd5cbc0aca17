// Package opensandboxsnapshot is the data source opensandbox_snapshot: a snapshot that another state, or nobody's, has.
package opensandboxsnapshot

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentenv/terraform-provider-gpuvm/internal/apiclient"
	"github.com/agentenv/terraform-provider-gpuvm/internal/connection"
	"github.com/agentenv/terraform-provider-gpuvm/internal/diagnose"
	"github.com/agentenv/terraform-provider-gpuvm/internal/snapshot"
)

// DataSource is the data source opensandbox_snapshot.
type DataSource struct{ service *connection.OpenSandbox }

// New gives the data source, not yet configured.
func New() datasource.DataSource { return &DataSource{} }

// Metadata names the type.
func (d *DataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_snapshot"
}

// Configure takes the service over from the provider.
func (d *DataSource) Configure(_ context.Context, req datasource.ConfigureRequest, _ *datasource.ConfigureResponse) {
	d.service, _ = req.ProviderData.(*connection.OpenSandbox)
}

// Schema is everything that the server tells of a snapshot.
func (d *DataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	attributes := snapshot.ViewAttributes()
	attributes["id"] = schema.StringAttribute{
		MarkdownDescription: snapshot.IDText + " One that is gone is an error.", Required: true,
		Validators: []validator.String{stringvalidator.LengthAtLeast(1)},
	}
	resp.Schema = schema.Schema{
		MarkdownDescription: "A snapshot of a sandbox, by its id: to make sandboxes from one that this configuration hasn't taken. It isn't waited for: look at `status`.",
		Attributes:          attributes,
	}
}

// timeout bounds a read with all its attempts, whatever the service asks to wait.
const timeout = 2 * time.Minute

// Read asks the server for the snapshot.
func (d *DataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	defer diagnose.Panic(&resp.Diagnostics)
	var state snapshot.View
	resp.Diagnostics.Append(req.Config.Get(ctx, &state)...)
	service := d.service.Lifecycle(&resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	id := state.ID.ValueString()
	live, err := service.API.Snapshot(ctx, id)
	switch {
	case apiclient.IsGone(err):
		diagnose.OpenSandbox.AttributeError(&resp.Diagnostics, path.Root("id"), "Snapshot "+id+" doesn't exist", err)
		return
	case err != nil:
		diagnose.OpenSandbox.Error(&resp.Diagnostics, "Snapshot "+id+" can't be read", err)
		return
	}
	state = snapshot.ViewOf(live)
	state.ID = types.StringValue(id)
	resp.Diagnostics.Append(resp.State.Set(ctx, state)...)
}
