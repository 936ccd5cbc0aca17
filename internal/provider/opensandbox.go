package provider

import (
	"context"
	"maps"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	actionopensandboxexec "github.com/agentenv/terraform-provider-gpuvm/internal/actions/opensandboxexec"
	"github.com/agentenv/terraform-provider-gpuvm/internal/actions/opensandboxpause"
	"github.com/agentenv/terraform-provider-gpuvm/internal/actions/opensandboxrenew"
	"github.com/agentenv/terraform-provider-gpuvm/internal/connection"
	dataopensandboxendpoint "github.com/agentenv/terraform-provider-gpuvm/internal/datasources/opensandboxendpoint"
	dataopensandboxpool "github.com/agentenv/terraform-provider-gpuvm/internal/datasources/opensandboxpool"
	dataopensandboxsandbox "github.com/agentenv/terraform-provider-gpuvm/internal/datasources/opensandboxsandbox"
	dataopensandboxsandboxes "github.com/agentenv/terraform-provider-gpuvm/internal/datasources/opensandboxsandboxes"
	dataopensandboxsnapshot "github.com/agentenv/terraform-provider-gpuvm/internal/datasources/opensandboxsnapshot"
	dataopensandboxsnapshots "github.com/agentenv/terraform-provider-gpuvm/internal/datasources/opensandboxsnapshots"
	ephemeralopensandboxendpoint "github.com/agentenv/terraform-provider-gpuvm/internal/ephemerals/opensandboxendpoint"
	ephemeralopensandboxsandbox "github.com/agentenv/terraform-provider-gpuvm/internal/ephemerals/opensandboxsandbox"
	listopensandboxsandbox "github.com/agentenv/terraform-provider-gpuvm/internal/lists/opensandboxsandbox"
	listopensandboxsnapshot "github.com/agentenv/terraform-provider-gpuvm/internal/lists/opensandboxsnapshot"
	"github.com/agentenv/terraform-provider-gpuvm/internal/metadata"
	"github.com/agentenv/terraform-provider-gpuvm/internal/resources/opensandboxexec"
	"github.com/agentenv/terraform-provider-gpuvm/internal/resources/opensandboxfile"
	"github.com/agentenv/terraform-provider-gpuvm/internal/resources/opensandboxpool"
	"github.com/agentenv/terraform-provider-gpuvm/internal/resources/opensandboxsandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/resources/opensandboxsnapshot"
	"github.com/agentenv/terraform-provider-gpuvm/internal/stillopen"
	"github.com/agentenv/terraform-provider-gpuvm/internal/unchanged"
)

var (
	_ provider.ProviderWithActions            = &opensandbox{}
	_ provider.ProviderWithEphemeralResources = &opensandbox{}
	_ provider.ProviderWithListResources      = &opensandbox{}
	_ unchanged.Provider                      = &opensandbox{}
)

type opensandbox struct {
	version    string
	ephemerals stillopen.Objects
	service    *connection.OpenSandbox
}

// OpenSandbox gives the provider "opensandbox" of the given version.
func OpenSandbox(version string) func() provider.Provider {
	return func() provider.Provider { return &opensandbox{version: version} }
}

func (p *opensandbox) Metadata(_ context.Context, _ provider.MetadataRequest, resp *provider.MetadataResponse) {
	resp.TypeName, resp.Version = "opensandbox", p.version
}

func (p *opensandbox) Schema(_ context.Context, _ provider.SchemaRequest, resp *provider.SchemaResponse) {
	attributes := map[string]schema.Attribute{
		"domain": schema.StringAttribute{
			MarkdownDescription: "Host of the OpenSandbox server, with its port and path prefix where it has them; a scheme before it wins over `protocol`. Defaults to the first of the environment variables `OPEN_SANDBOX_DOMAIN` and `OPENSANDBOX_DOMAIN` that is set, else to `localhost:8080`.",
			Optional:            true,
		},
		"api_key": schema.StringAttribute{
			MarkdownDescription: "The server's API key; a server without authentication needs none. Defaults to the first of the environment variables `OPEN_SANDBOX_API_KEY` and `OPENSANDBOX_API_KEY` that is set, else to none.",
			Optional:            true, Sensitive: true,
		},
		"protocol": schema.StringAttribute{
			MarkdownDescription: "`http` or `https`. Defaults to the environment variable `OPEN_SANDBOX_PROTOCOL`, else to `http`.",
			Optional:            true,
			Validators:          []validator.String{stringvalidator.OneOf("http", "https", "")},
		},
		"use_server_proxy": schema.BoolAttribute{
			MarkdownDescription: "Whether sandboxes are reached through the server, where their own addresses can't be reached from here. The API key goes with those requests. Defaults to `false`.",
			Optional:            true,
		},
		"default_metadata": schema.MapAttribute{
			MarkdownDescription: "Metadata that each sandbox gets; its own `metadata` wins. A change is made in place on every sandbox. Not for secrets: plans print it. Defaults to none.",
			Optional:            true, ElementType: types.StringType,
			Validators: []validator.Map{metadata.Map()},
		},
	}
	maps.Copy(attributes, connection.Attributes("`3`; where `operations.retries` is set, that rules", "`15`; where `operations.retry_max_delay_seconds` is set, that rules"))
	blocks := connection.OpenSandboxBlocks()
	blocks["attribution"] = connection.AttributionSchema("metadata", "`"+connection.DefaultAttributionPrefix+"`")
	resp.Schema = schema.Schema{
		MarkdownDescription: "Makes sandboxes, and what belongs to them, on an OpenSandbox server.",
		Attributes:          attributes,
		Blocks:              blocks,
	}
}

func (p *opensandbox) Configure(ctx context.Context, req provider.ConfigureRequest, resp *provider.ConfigureResponse) {
	var model connection.OpenSandboxModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &model)...)
	if resp.Diagnostics.HasError() {
		return
	}
	agent := connection.UserAgent("terraform-provider-opensandbox", p.version, req.TerraformVersion)
	service := connection.NewOpenSandbox(ctx, model, agent, &resp.Diagnostics)
	service.Ephemerals = &p.ephemerals
	p.service = service
	resp.ResourceData, resp.DataSourceData = service, service
	resp.ActionData, resp.EphemeralResourceData, resp.ListResourceData = service, service, service
}

// ResourceData is what the resources are configured with.
func (p *opensandbox) ResourceData() any { return p.service }

func (p *opensandbox) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{
		opensandboxsandbox.New, opensandboxsnapshot.New, opensandboxpool.New, opensandboxfile.New, opensandboxexec.New,
	}
}

func (p *opensandbox) DataSources(context.Context) []func() datasource.DataSource {
	return []func() datasource.DataSource{
		dataopensandboxsandbox.New, dataopensandboxsandboxes.New, dataopensandboxsnapshot.New, dataopensandboxsnapshots.New,
		dataopensandboxpool.New, dataopensandboxendpoint.New,
	}
}

func (p *opensandbox) Actions(context.Context) []func() action.Action {
	return []func() action.Action{
		actionopensandboxexec.New, opensandboxpause.NewPause, opensandboxpause.NewResume, opensandboxrenew.New,
	}
}

func (p *opensandbox) EphemeralResources(context.Context) []func() ephemeral.EphemeralResource {
	return []func() ephemeral.EphemeralResource{ephemeralopensandboxsandbox.New, ephemeralopensandboxendpoint.New}
}

func (p *opensandbox) ListResources(context.Context) []func() list.ListResource {
	return []func() list.ListResource{listopensandboxsandbox.New, listopensandboxsnapshot.New}
}

// Close deletes the sandboxes of ephemeral resources that Terraform left open. Nobody can be told any more of one that
// stays; it ends with its time to live.
func (p *opensandbox) Close(ctx context.Context) { _ = p.ephemerals.CloseAll(ctx) }
