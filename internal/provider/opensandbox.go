package provider

import (
	"context"
	"maps"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	actionopensandboxexec "github.com/agentenv/terraform-provider-gpuvm/internal/actions/opensandboxexec"
	"github.com/agentenv/terraform-provider-gpuvm/internal/actions/opensandboxpause"
	"github.com/agentenv/terraform-provider-gpuvm/internal/actions/opensandboxrenew"
	"github.com/agentenv/terraform-provider-gpuvm/internal/connection"
	dataopensandboxsandbox "github.com/agentenv/terraform-provider-gpuvm/internal/datasources/opensandboxsandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/metadata"
	"github.com/agentenv/terraform-provider-gpuvm/internal/resources/opensandboxexec"
	"github.com/agentenv/terraform-provider-gpuvm/internal/resources/opensandboxfile"
	"github.com/agentenv/terraform-provider-gpuvm/internal/resources/opensandboxsandbox"
)

var _ provider.ProviderWithActions = &opensandbox{}

type opensandbox struct{ version string }

// OpenSandbox gives the provider "opensandbox" of the given version.
func OpenSandbox(version string) func() provider.Provider {
	return func() provider.Provider { return &opensandbox{version} }
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
	maps.Copy(attributes, connection.Attributes())
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
	resp.ResourceData, resp.DataSourceData = service, service
	resp.ActionData, resp.EphemeralResourceData, resp.ListResourceData = service, service, service
}

func (p *opensandbox) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{opensandboxsandbox.New, opensandboxfile.New, opensandboxexec.New}
}

func (p *opensandbox) DataSources(context.Context) []func() datasource.DataSource {
	return []func() datasource.DataSource{dataopensandboxsandbox.New}
}

func (p *opensandbox) Actions(context.Context) []func() action.Action {
	return []func() action.Action{
		actionopensandboxexec.New, opensandboxpause.NewPause, opensandboxpause.NewResume, opensandboxrenew.New,
	}
}
