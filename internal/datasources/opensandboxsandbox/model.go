package opensandboxsandbox

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentenv/terraform-provider-gpuvm/internal/sandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/wholenumber"
)

type model struct {
	sandbox.View
	ExposedPorts types.Set `tfsdk:"exposed_ports"`
	Ports        types.Map `tfsdk:"ports"`
}

// Schema is everything that the server tells of a sandbox.
func (d *DataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	attributes := sandbox.ViewAttributes()
	attributes["id"] = schema.StringAttribute{
		MarkdownDescription: "The server's id of the sandbox. One that is gone is an error.", Required: true,
		Validators: []validator.String{stringvalidator.LengthAtLeast(1)},
	}
	attributes["exposed_ports"] = schema.SetAttribute{
		MarkdownDescription: "Ports of the sandbox, 1 to 65535, whose URLs `ports` tells. Defaults to none.",
		Optional:            true, ElementType: wholenumber.Type{},
		Validators: []validator.Set{wholenumber.Elements(1, 65535)},
	}
	attributes["ports"] = schema.MapAttribute{
		MarkdownDescription: "The URL of each of `exposed_ports`, by port. Headers that an endpoint demands never stand here.",
		Computed:            true, ElementType: types.StringType,
	}
	resp.Schema = schema.Schema{
		MarkdownDescription: "A sandbox that stands, by its id: for reconnecting from another configuration than the one that made it.",
		Attributes:          attributes,
	}
}
