// Package provider is the two provider blocks, and the list of what each serves.
package provider

import (
	"context"
	"maps"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	actiongpuvmexec "github.com/agentenv/terraform-provider-gpuvm/internal/actions/gpuvmexec"
	"github.com/agentenv/terraform-provider-gpuvm/internal/connection"
	datagpuvminstance "github.com/agentenv/terraform-provider-gpuvm/internal/datasources/gpuvminstance"
	"github.com/agentenv/terraform-provider-gpuvm/internal/resources/gpuvmexec"
	"github.com/agentenv/terraform-provider-gpuvm/internal/resources/gpuvmfile"
	"github.com/agentenv/terraform-provider-gpuvm/internal/resources/gpuvminstance"
	"github.com/agentenv/terraform-provider-gpuvm/internal/unchanged"
	"github.com/agentenv/terraform-provider-gpuvm/internal/wholenumber"
)

var (
	_ provider.ProviderWithActions = &gpuvm{}
	_ unchanged.Provider           = &gpuvm{}
)

type gpuvm struct {
	version string
	service *connection.GPUVM
}

// GPUVM gives the provider "gpuvm" of the given version.
func GPUVM(version string) func() provider.Provider {
	return func() provider.Provider { return &gpuvm{version: version} }
}

func (p *gpuvm) Metadata(_ context.Context, _ provider.MetadataRequest, resp *provider.MetadataResponse) {
	resp.TypeName, resp.Version = "gpuvm", p.version
}

func (p *gpuvm) Schema(_ context.Context, _ provider.SchemaRequest, resp *provider.SchemaResponse) {
	attributes := map[string]schema.Attribute{
		"base_url": schema.StringAttribute{
			MarkdownDescription: "URL of the VM service, http or https, with its path prefix where it has one. Defaults to the environment variable `GPU_VM_URL`; one of the two is needed.",
			Optional:            true,
		},
		"api_token": schema.StringAttribute{
			MarkdownDescription: "The VM service's bearer token. Defaults to the environment variable `GPU_VM_TOKEN`; one of the two is needed.",
			Optional:            true, Sensitive: true,
		},
		"boot_timeout_seconds": schema.Int64Attribute{
			MarkdownDescription: "Seconds that a machine may take to boot, 1 or more; a `timeouts` block with `create` rules over it. Defaults to `600`.",
			Optional:            true, CustomType: wholenumber.Type{},
			Validators: []validator.Int64{int64validator.AtLeast(1)},
		},
		"default_labels": schema.MapAttribute{
			MarkdownDescription: "Labels that each new machine gets; its own `labels` win. A change reaches only machines that are made afterwards. Not for secrets: plans print them. Defaults to none.",
			Optional:            true, ElementType: types.StringType,
		},
	}
	maps.Copy(attributes, connection.Attributes("`4`", "`30`"))
	resp.Schema = schema.Schema{
		MarkdownDescription: "Makes GPU virtual machines with a display on an HTTP VM service.",
		Attributes:          attributes,
		Blocks:              map[string]schema.Block{"attribution": connection.AttributionSchema("labels", "none")},
	}
}

func (p *gpuvm) Configure(ctx context.Context, req provider.ConfigureRequest, resp *provider.ConfigureResponse) {
	var model connection.GPUVMModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &model)...)
	if resp.Diagnostics.HasError() {
		return
	}
	service := connection.NewGPUVM(model, connection.UserAgent("terraform-provider-gpuvm", p.version, req.TerraformVersion), &resp.Diagnostics)
	p.service = service
	resp.ResourceData, resp.DataSourceData = service, service
	resp.ActionData, resp.EphemeralResourceData, resp.ListResourceData = service, service, service
}

// ResourceData is what the resources are configured with.
func (p *gpuvm) ResourceData() any { return p.service }

func (p *gpuvm) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{gpuvminstance.New, gpuvmfile.New, gpuvmexec.New}
}

func (p *gpuvm) DataSources(context.Context) []func() datasource.DataSource {
	return []func() datasource.DataSource{datagpuvminstance.New}
}

func (p *gpuvm) Actions(context.Context) []func() action.Action {
	return []func() action.Action{actiongpuvmexec.New}
}
