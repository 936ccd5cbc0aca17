// Package opensandboxsandbox is the list resource opensandbox_sandbox: the sandboxes of a server, to be taken over by
// Terraform.
package opensandboxsandbox

import (
	"context"
	"iter"

	"github.com/hashicorp/terraform-plugin-framework-validators/listvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
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
	"github.com/agentenv/terraform-provider-gpuvm/internal/validate"
)

var _ list.ListResourceWithConfigure = &List{}

// List is the list resource opensandbox_sandbox.
type List struct{ service *connection.OpenSandbox }

// New gives the list resource, not yet configured.
func New() list.ListResource { return &List{} }

// Metadata names the type, which is that of the resource.
func (l *List) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_sandbox"
}

// Configure takes the service over from the provider.
func (l *List) Configure(_ context.Context, req resource.ConfigureRequest, _ *resource.ConfigureResponse) {
	l.service, _ = req.ProviderData.(*connection.OpenSandbox)
}

type model struct {
	States   types.List `tfsdk:"states"`
	Metadata types.Map  `tfsdk:"metadata"`
}

// ListResourceConfigSchema is the filter.
func (l *List) ListResourceConfigSchema(_ context.Context, _ list.ListResourceSchemaRequest, resp *list.ListResourceSchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Lists the sandboxes that the server holds, newest first, whoever made them (`terraform query` of Terraform 1.14 and newer). " +
			"With `include_resource`, and where configuration is generated, the whole resource is given as an import would have it; `ttl_seconds` is then the time from the sandbox's start to its expiry. " +
			"The server doesn't tell everything that a sandbox was made with: complete generated configuration before you apply it.",
		Attributes: map[string]schema.Attribute{
			"states": schema.ListAttribute{
				MarkdownDescription: listing.SandboxStatesText,
				Optional:            true, ElementType: types.StringType,
				Validators: []validator.List{validate.NoNullElements(), listvalidator.ValueStringsAre(stringvalidator.LengthAtLeast(1))},
			},
			"metadata": schema.MapAttribute{
				MarkdownDescription: listing.MetadataText,
				Optional:            true, ElementType: types.StringType,
				Validators: []validator.Map{validate.NoNulls("Metadata")},
			},
		},
	}
}

// List asks for one page after the other, as Terraform takes their sandboxes.
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
	filter := listing.SandboxFilter(config.States.Elements(), config.Metadata)
	stream.Results = kind.Stream(ctx, req, func(ctx context.Context) iter.Seq2[api.Sandbox, error] { return service.API.Sandboxes(ctx, filter) })
}
