package opensandboxsandbox

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	api "github.com/agentenv/terraform-provider-gpuvm/internal/apiclient/opensandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/labels"
	"github.com/agentenv/terraform-provider-gpuvm/internal/nullable"
	"github.com/agentenv/terraform-provider-gpuvm/internal/plan"
	"github.com/agentenv/terraform-provider-gpuvm/internal/sandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/wholenumber"
)

type model struct {
	ID            types.String `tfsdk:"id"`
	ExposedPorts  types.Set    `tfsdk:"exposed_ports"`
	Status        types.String `tfsdk:"status"`
	StatusReason  types.String `tfsdk:"status_reason"`
	StatusMessage types.String `tfsdk:"status_message"`
	Image         types.String `tfsdk:"image"`
	SnapshotID    types.String `tfsdk:"snapshot_id"`
	PoolRef       types.String `tfsdk:"pool_ref"`
	Platform      types.Object `tfsdk:"platform"`
	Entrypoint    types.List   `tfsdk:"entrypoint"`
	Metadata      types.Map    `tfsdk:"metadata"`
	Extensions    types.Map    `tfsdk:"extensions"`
	Ports         types.Map    `tfsdk:"ports"`
	CreatedAt     types.String `tfsdk:"created_at"`
	ExpiresAt     types.String `tfsdk:"expires_at"`
}

// Schema is everything that the server tells of a sandbox.
func (d *DataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	text := func(description string) schema.StringAttribute {
		return schema.StringAttribute{Computed: true, MarkdownDescription: description}
	}
	texts := func(description string) schema.MapAttribute {
		return schema.MapAttribute{Computed: true, ElementType: types.StringType, MarkdownDescription: description}
	}
	resp.Schema = schema.Schema{
		MarkdownDescription: "A sandbox that stands, by its id: for reconnecting from another configuration than the one that made it.",
		Attributes: map[string]schema.Attribute{
			"id": schema.StringAttribute{
				MarkdownDescription: "The server's id of the sandbox. One that is gone is an error.", Required: true,
				Validators: []validator.String{stringvalidator.LengthAtLeast(1)},
			},
			"exposed_ports": schema.SetAttribute{
				MarkdownDescription: "Ports of the sandbox, 1 to 65535, whose URLs `ports` tells. Defaults to none.",
				Optional:            true, ElementType: wholenumber.Type{},
				Validators: []validator.Set{wholenumber.Elements(1, 65535)},
			},
			"status":         text("The server's word for its state, such as `Running`, `Paused`, `Failed` or `Terminated`."),
			"status_reason":  text("The server's code for why the state is what it is; null where it gives none."),
			"status_message": text("The server's words about the state; null where it gives none."),
			"image":          text("The image, as the server calls it: with Docker its first tag; null for a sandbox of a snapshot, and where the server doesn't know it."),
			"snapshot_id":    text("The snapshot it was restored from; null where it wasn't."),
			"pool_ref":       text("The pool it was taken from; null where it wasn't, and where the server doesn't tell (only newer ones do)."),
			"platform": schema.SingleNestedAttribute{
				MarkdownDescription: "What it was asked to run on; null where nothing was asked.", Computed: true,
				Attributes: map[string]schema.Attribute{
					"os":   text("`linux` or `windows`."),
					"arch": text("`amd64` or `arm64`."),
				},
			},
			"entrypoint": schema.ListAttribute{MarkdownDescription: "Command and arguments of its main process, as the server tells them: on Kubernetes behind its own `bootstrap.sh`.", Computed: true, ElementType: types.StringType},
			"metadata":   texts("All metadata that the sandbox has, whoever set it."),
			"extensions": texts("The extensions it was made with; empty where the server doesn't tell (only newer ones do)."),
			"ports":      texts("The URL of each of `exposed_ports`, by port. Headers that an endpoint demands never stand here."),
			"created_at": text("When the sandbox was made (RFC 3339)."),
			"expires_at": text("When the server ends the sandbox (RFC 3339); null where it never expires."),
		},
	}
}

func (m *model) observe(ctx context.Context, live api.Sandbox, urls map[int64]string, diags *diag.Diagnostics) {
	m.Status, m.StatusReason, m.StatusMessage = nullable.Text(live.Status.State), nullable.Text(live.Status.Reason), nullable.Text(live.Status.Message)
	source := sandbox.SourceOf(live)
	m.Image, m.SnapshotID, m.PoolRef = source.Image, source.SnapshotID, source.PoolRef
	m.Platform = sandbox.PlatformOf(live)
	entrypoint, d := types.ListValueFrom(ctx, types.StringType, append([]string{}, live.Entrypoint...))
	diags.Append(d...)
	m.Entrypoint = entrypoint
	m.Metadata = sandbox.MetadataOf(ctx, live, diags)
	m.Extensions = labels.ToMap(ctx, live.Extensions, diags)
	m.Ports = plan.PortsOf(m.ExposedPorts, sandbox.URLs(urls))
	m.CreatedAt, m.ExpiresAt = nullable.Time(live.CreatedAt.Time), nullable.Time(live.ExpiresAt.Time)
}
