package providerschema_test

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/action"
	actionschema "github.com/hashicorp/terraform-plugin-framework/action/schema"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	datasourceschema "github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	ephemeralschema "github.com/hashicorp/terraform-plugin-framework/ephemeral/schema"
	"github.com/hashicorp/terraform-plugin-framework/list"
	listschema "github.com/hashicorp/terraform-plugin-framework/list/schema"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	providerschemas "github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	resourceschema "github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// fruit is a provider that serves one of every kind, so that none can be left out unnoticed.
type fruit struct{ broken bool }

func (fruit) Metadata(_ context.Context, _ provider.MetadataRequest, resp *provider.MetadataResponse) {
	resp.TypeName = "fruit"
}

func (fruit) Schema(_ context.Context, _ provider.SchemaRequest, resp *provider.SchemaResponse) {
	resp.Schema = providerschemas.Schema{
		MarkdownDescription: "Grows fruit.",
		Attributes: map[string]providerschemas.Attribute{
			"token": providerschemas.StringAttribute{Optional: true, Sensitive: true, Description: "Opens the gate."},
		},
	}
}

func (fruit) Configure(context.Context, provider.ConfigureRequest, *provider.ConfigureResponse) {}

func (f fruit) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{func() resource.Resource { return tree(f) }}
}

func (fruit) DataSources(context.Context) []func() datasource.DataSource {
	return []func() datasource.DataSource{func() datasource.DataSource { return market{} }}
}

func (fruit) EphemeralResources(context.Context) []func() ephemeral.EphemeralResource {
	return []func() ephemeral.EphemeralResource{func() ephemeral.EphemeralResource { return juice{} }}
}

func (fruit) Actions(context.Context) []func() action.Action {
	return []func() action.Action{func() action.Action { return shake{} }}
}

func (fruit) ListResources(context.Context) []func() list.ListResource {
	return []func() list.ListResource{func() list.ListResource { return orchard{} }}
}

type tree struct{ broken bool }

func (tree) Metadata(_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = "fruit_tree"
}

func (t tree) Schema(ctx context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = resourceschema.Schema{
		Version:     3,
		Description: "A tree.",
		Attributes: map[string]resourceschema.Attribute{
			"kind":   resourceschema.StringAttribute{Required: true, Description: "What grows."},
			"labels": resourceschema.MapAttribute{Optional: true, ElementType: types.StringType, DeprecationMessage: "Not read."},
			"secret": resourceschema.StringAttribute{Optional: true, WriteOnly: true},
			"place": resourceschema.SingleNestedAttribute{Computed: true, Attributes: map[string]resourceschema.Attribute{
				"row": resourceschema.Int64Attribute{Computed: true},
			}},
		},
		Blocks: map[string]resourceschema.Block{
			"timeouts": timeouts.Block(ctx, timeouts.Opts{Create: true}),
			"graft": resourceschema.ListNestedBlock{NestedObject: resourceschema.NestedBlockObject{
				Attributes: map[string]resourceschema.Attribute{"kind": resourceschema.StringAttribute{Required: true}},
			}},
		},
	}
	if t.broken {
		resp.Diagnostics.AddError("No such tree", "The schema can't be read.")
	}
}

func (tree) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse) {
	resp.IdentitySchema = identityschema.Schema{Version: 1, Attributes: map[string]identityschema.Attribute{
		"id": identityschema.StringAttribute{RequiredForImport: true, Description: "The tree's number."},
	}}
}

func (tree) Create(context.Context, resource.CreateRequest, *resource.CreateResponse) {}
func (tree) Read(context.Context, resource.ReadRequest, *resource.ReadResponse)       {}
func (tree) Update(context.Context, resource.UpdateRequest, *resource.UpdateResponse) {}
func (tree) Delete(context.Context, resource.DeleteRequest, *resource.DeleteResponse) {}

type market struct{}

func (market) Metadata(_ context.Context, _ datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = "fruit_market"
}

func (market) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = datasourceschema.Schema{Attributes: map[string]datasourceschema.Attribute{
		"prices": datasourceschema.MapAttribute{Computed: true, ElementType: types.NumberType},
	}}
}

func (market) Read(context.Context, datasource.ReadRequest, *datasource.ReadResponse) {}

type juice struct{}

func (juice) Metadata(_ context.Context, _ ephemeral.MetadataRequest, resp *ephemeral.MetadataResponse) {
	resp.TypeName = "fruit_juice"
}

func (juice) Schema(_ context.Context, _ ephemeral.SchemaRequest, resp *ephemeral.SchemaResponse) {
	resp.Schema = ephemeralschema.Schema{Attributes: map[string]ephemeralschema.Attribute{
		"litres": ephemeralschema.Float64Attribute{Required: true},
	}}
}

func (juice) Open(context.Context, ephemeral.OpenRequest, *ephemeral.OpenResponse) {}

type shake struct{}

func (shake) Metadata(_ context.Context, _ action.MetadataRequest, resp *action.MetadataResponse) {
	resp.TypeName = "fruit_shake"
}

func (shake) Schema(_ context.Context, _ action.SchemaRequest, resp *action.SchemaResponse) {
	resp.Schema = actionschema.Schema{MarkdownDescription: "Shakes a *tree*.", Attributes: map[string]actionschema.Attribute{
		"tree_id": actionschema.StringAttribute{Required: true},
	}}
}

func (shake) Invoke(context.Context, action.InvokeRequest, *action.InvokeResponse) {}

// orchard lists trees: a list resource is served under the name of the resource that it lists.
type orchard struct{}

func (orchard) Metadata(_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = "fruit_tree"
}

func (orchard) ListResourceConfigSchema(_ context.Context, _ list.ListResourceSchemaRequest, resp *list.ListResourceSchemaResponse) {
	resp.Schema = listschema.Schema{Attributes: map[string]listschema.Attribute{
		"states": listschema.ListAttribute{Optional: true, ElementType: types.StringType},
	}}
}

func (orchard) List(context.Context, list.ListRequest, *list.ListResultsStream) {}
