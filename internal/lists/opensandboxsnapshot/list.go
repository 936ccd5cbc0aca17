// Package opensandboxsnapshot is the list resource opensandbox_snapshot: the snapshots of a server, to be taken over by
// Terraform.
package opensandboxsnapshot

import (
	"cmp"
	"context"
	"iter"

	"github.com/hashicorp/terraform-plugin-framework-validators/listvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/list/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	api "github.com/agentenv/terraform-provider-gpuvm/internal/apiclient/opensandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/connection"
	"github.com/agentenv/terraform-provider-gpuvm/internal/diagnose"
	"github.com/agentenv/terraform-provider-gpuvm/internal/listing"
	"github.com/agentenv/terraform-provider-gpuvm/internal/snapshot"
	"github.com/agentenv/terraform-provider-gpuvm/internal/validate"
)

var _ list.ListResourceWithConfigure = &List{}

// List is the list resource opensandbox_snapshot.
type List struct{ service *connection.OpenSandbox }

// New gives the list resource, not yet configured.
func New() list.ListResource { return &List{} }

// Metadata names the type, which is that of the resource.
func (l *List) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_snapshot"
}

// Configure takes the service over from the provider.
func (l *List) Configure(_ context.Context, req resource.ConfigureRequest, _ *resource.ConfigureResponse) {
	l.service, _ = req.ProviderData.(*connection.OpenSandbox)
}

type model struct {
	SandboxID types.String `tfsdk:"sandbox_id"`
	States    types.List   `tfsdk:"states"`
}

// ListResourceConfigSchema is the filter.
func (l *List) ListResourceConfigSchema(_ context.Context, _ list.ListResourceSchemaRequest, resp *list.ListResourceSchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Lists the snapshots that the server has, of all sandboxes or of one, newest first (`terraform query` of Terraform 1.14 and newer). With `include_resource`, and where configuration is generated, the whole resource is given.",
		Attributes: map[string]schema.Attribute{
			"sandbox_id": schema.StringAttribute{
				MarkdownDescription: listing.SandboxIDText,
				Optional:            true, Validators: []validator.String{stringvalidator.LengthAtLeast(1)},
			},
			"states": schema.ListAttribute{
				MarkdownDescription: listing.SnapshotStatesText,
				Optional:            true, ElementType: types.StringType,
				Validators: []validator.List{validate.NoNullElements(), listvalidator.ValueStringsAre(stringvalidator.LengthAtLeast(1))},
			},
		},
	}
}

var kind = listing.Kind[api.Snapshot]{
	Many: "Snapshots",
	ID:   func(live api.Snapshot) string { return live.ID },
	Name: func(live api.Snapshot) string { return cmp.Or(live.Name, live.ID) + " (" + live.Status.State + ")" },
	Resource: func(ctx context.Context, live api.Snapshot, result *list.ListResult) {
		told := snapshot.ToldOf(live)
		listing.Fill(ctx, result, map[string]attr.Value{
			"id": told.ID, "sandbox_id": told.SandboxID, "name": told.Name, "status": told.Status, "created_at": told.CreatedAt,
		})
	},
}

// List asks for one page after the other, as Terraform takes their snapshots.
func (l *List) List(ctx context.Context, req list.ListRequest, stream *list.ListResultsStream) {
	var diags diag.Diagnostics
	defer func() {
		if diags.HasError() {
			stream.Results = list.ListResultsStreamDiagnostics(diags)
		}
	}()
	defer diagnose.Panic(&diags)
	var config model
	diags.Append(req.Config.Get(ctx, &config)...)
	service := l.service.Lifecycle(&diags)
	if diags.HasError() {
		return
	}
	filter := listing.SnapshotFilter(config.SandboxID, config.States.Elements())
	stream.Results = kind.Stream(ctx, req, func(ctx context.Context) iter.Seq2[api.Snapshot, error] { return service.API.Snapshots(ctx, filter) })
}
