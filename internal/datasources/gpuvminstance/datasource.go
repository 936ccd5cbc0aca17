// Package gpuvminstance is the data source gpuvm_instance: reconnecting to a machine that another state made.
package gpuvminstance

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
	api "github.com/agentenv/terraform-provider-gpuvm/internal/apiclient/gpuvm"
	"github.com/agentenv/terraform-provider-gpuvm/internal/connection"
	"github.com/agentenv/terraform-provider-gpuvm/internal/diagnose"
	"github.com/agentenv/terraform-provider-gpuvm/internal/labels"
	"github.com/agentenv/terraform-provider-gpuvm/internal/nullable"
)

// DataSource is the data source gpuvm_instance.
type DataSource struct{ service *connection.GPUVM }

// New gives the data source, not yet configured.
func New() datasource.DataSource { return &DataSource{} }

// Metadata names the type.
func (d *DataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_instance"
}

// Configure takes the service over from the provider.
func (d *DataSource) Configure(_ context.Context, req datasource.ConfigureRequest, _ *datasource.ConfigureResponse) {
	d.service, _ = req.ProviderData.(*connection.GPUVM)
}

type model struct {
	ID     types.String `tfsdk:"id"`
	Status types.String `tfsdk:"status"`
	Image  types.String `tfsdk:"image"`
	Ports  types.Map    `tfsdk:"ports"`
	VNCURL types.String `tfsdk:"vnc_url"`
	Labels types.Map    `tfsdk:"labels"`
	Error  types.String `tfsdk:"error"`
}

// Schema is everything that the service tells of a machine.
func (d *DataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "A GPU virtual machine that stands, by its id: for reconnecting from another configuration than the one that made it.",
		Attributes: map[string]schema.Attribute{
			"id": schema.StringAttribute{
				MarkdownDescription: "The service's id of the machine. One that is gone is an error.", Required: true,
				Validators: []validator.String{stringvalidator.LengthAtLeast(1)},
			},
			"status":  schema.StringAttribute{MarkdownDescription: "`booting`, `running` or `failed`.", Computed: true},
			"image":   schema.StringAttribute{MarkdownDescription: "The image, as the service calls it.", Computed: true},
			"ports":   schema.MapAttribute{MarkdownDescription: "URL of each port that the service tells, by port.", Computed: true, ElementType: types.StringType},
			"vnc_url": schema.StringAttribute{MarkdownDescription: "URL of the machine's display; null where the service gives none.", Computed: true},
			"labels":  schema.MapAttribute{MarkdownDescription: "All labels that the machine has, whoever set them.", Computed: true, ElementType: types.StringType},
			"error":   schema.StringAttribute{MarkdownDescription: "What the service says of a failed machine, else null.", Computed: true},
		},
	}
}

// timeout bounds a read with all its attempts, whatever the service asks to wait.
const timeout = 2 * time.Minute

// Read asks the service for the machine.
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
	id := state.ID.ValueString()
	vm, err := service.API.Get(ctx, id)
	if apiclient.IsGone(err) {
		diagnose.GPUVM.AttributeError(&resp.Diagnostics, path.Root("id"), "Instance "+id+" doesn't exist", err)
		return
	} else if err != nil {
		diagnose.GPUVM.Error(&resp.Diagnostics, "Instance "+id+" can't be read", err)
		return
	}
	state.observe(ctx, vm, resp)
	resp.Diagnostics.Append(resp.State.Set(ctx, state)...)
}

func (m *model) observe(ctx context.Context, vm api.VM, resp *datasource.ReadResponse) {
	m.Status = types.StringValue(vm.Status)
	m.Image = nullable.Text(vm.Image)
	m.Ports = labels.ToMap(ctx, vm.Ports, &resp.Diagnostics)
	m.VNCURL = nullable.Text(vm.VNCURL)
	m.Labels = labels.ToMap(ctx, vm.Labels, &resp.Diagnostics)
	m.Error = nullable.Text(vm.Error)
}
