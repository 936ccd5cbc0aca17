// Package opensandboxpool is the data source opensandbox_pool: the counters of a pool.
package opensandboxpool

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
	api "github.com/agentenv/terraform-provider-gpuvm/internal/apiclient/opensandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/connection"
	"github.com/agentenv/terraform-provider-gpuvm/internal/diagnose"
	"github.com/agentenv/terraform-provider-gpuvm/internal/nullable"
)

// DataSource is the data source opensandbox_pool.
type DataSource struct{ service *connection.OpenSandbox }

// New gives the data source, not yet configured.
func New() datasource.DataSource { return &DataSource{} }

// Metadata names the type.
func (d *DataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_pool"
}

// Configure takes the service over from the provider.
func (d *DataSource) Configure(_ context.Context, req datasource.ConfigureRequest, _ *datasource.ConfigureResponse) {
	d.service, _ = req.ProviderData.(*connection.OpenSandbox)
}

type model struct {
	Name      types.String `tfsdk:"name"`
	Total     types.Int64  `tfsdk:"total"`
	Allocated types.Int64  `tfsdk:"allocated"`
	Available types.Int64  `tfsdk:"available"`
	Revision  types.String `tfsdk:"revision"`
}

// Schema is the pool's counters.
func (d *DataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	count := func(description string) schema.Int64Attribute {
		return schema.Int64Attribute{Computed: true, MarkdownDescription: description + " Null until the server has looked at a new pool."}
	}
	resp.Schema = schema.Schema{
		MarkdownDescription: "How many sandboxes a pool has (servers on Kubernetes), counted anew at each refresh. The resource of the same name doesn't show these, since they change by themselves.",
		Attributes: map[string]schema.Attribute{
			"name": schema.StringAttribute{
				MarkdownDescription: "Name of the pool. One that is gone is an error.", Required: true,
				Validators: []validator.String{stringvalidator.LengthAtLeast(1)},
			},
			"total":     count("Sandboxes of the pool in all, warm and in use."),
			"allocated": count("Sandboxes of the pool that are in use."),
			"available": count("Sandboxes of the pool that wait warm."),
			"revision":  schema.StringAttribute{Computed: true, MarkdownDescription: "The server's word for the version of the pool's template; null where it gives none."},
		},
	}
}

// timeout bounds a read with all its attempts, whatever the service asks to wait.
const timeout = 2 * time.Minute

// Read asks the server for the pool.
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
	name := state.Name.ValueString()
	pool, err := service.API.Pool(ctx, name)
	switch {
	case apiclient.IsGone(err):
		diagnose.OpenSandbox.AttributeError(&resp.Diagnostics, path.Root("name"), "Pool "+name+" doesn't exist", err)
		return
	case err != nil:
		diagnose.OpenSandbox.AttributeError(&resp.Diagnostics, path.Root("name"), "Pool "+name+" can't be read", err)
		return
	}
	state.observe(pool.Status)
	resp.Diagnostics.Append(resp.State.Set(ctx, state)...)
}

func (m *model) observe(status *api.PoolStatus) {
	if status == nil {
		m.Total, m.Allocated, m.Available, m.Revision = types.Int64Null(), types.Int64Null(), types.Int64Null(), types.StringNull()
		return
	}
	m.Total, m.Allocated, m.Available = types.Int64Value(status.Total), types.Int64Value(status.Allocated), types.Int64Value(status.Available)
	m.Revision = nullable.Text(status.Revision)
}
