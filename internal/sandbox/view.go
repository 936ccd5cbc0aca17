package sandbox

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	api "github.com/agentenv/terraform-provider-gpuvm/internal/apiclient/opensandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/labels"
	"github.com/agentenv/terraform-provider-gpuvm/internal/nullable"
)

// View is everything that the server tells of a sandbox, for data sources; its schema is ViewAttributes.
type View struct {
	ID            types.String `tfsdk:"id"`
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
	CreatedAt     types.String `tfsdk:"created_at"`
	ExpiresAt     types.String `tfsdk:"expires_at"`
}

// ViewAttributes is the schema of View.
func ViewAttributes() map[string]schema.Attribute {
	text := func(description string) schema.StringAttribute {
		return schema.StringAttribute{Computed: true, MarkdownDescription: description}
	}
	texts := func(description string) schema.MapAttribute {
		return schema.MapAttribute{Computed: true, ElementType: types.StringType, MarkdownDescription: description}
	}
	return map[string]schema.Attribute{
		"id":             text("The server's id of the sandbox."),
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
		"created_at": text("When the sandbox was made (RFC 3339)."),
		"expires_at": text("When the server ends the sandbox (RFC 3339); null where it never expires."),
	}
}

// ViewOf reads a server's answer.
func ViewOf(ctx context.Context, live api.Sandbox, diags *diag.Diagnostics) View {
	source := SourceOf(live)
	entrypoint, d := types.ListValueFrom(ctx, types.StringType, append([]string{}, live.Entrypoint...))
	diags.Append(d...)
	return View{
		ID:     types.StringValue(live.ID),
		Status: nullable.Text(live.Status.State), StatusReason: nullable.Text(live.Status.Reason), StatusMessage: nullable.Text(live.Status.Message),
		Image: source.Image, SnapshotID: source.SnapshotID, PoolRef: source.PoolRef,
		Platform:   PlatformOf(live),
		Entrypoint: entrypoint,
		Metadata:   MetadataOf(ctx, live, diags),
		Extensions: labels.ToMap(ctx, live.Extensions, diags),
		CreatedAt:  nullable.Time(live.CreatedAt.Time), ExpiresAt: nullable.Time(live.ExpiresAt.Time),
	}
}
