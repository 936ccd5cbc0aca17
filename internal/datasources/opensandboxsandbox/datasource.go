// Package opensandboxsandbox is the data source opensandbox_sandbox: reconnecting to a sandbox that another state made.
package opensandboxsandbox

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentenv/terraform-provider-gpuvm/internal/apiclient"
	"github.com/agentenv/terraform-provider-gpuvm/internal/connection"
	"github.com/agentenv/terraform-provider-gpuvm/internal/diagnose"
	"github.com/agentenv/terraform-provider-gpuvm/internal/plan"
	"github.com/agentenv/terraform-provider-gpuvm/internal/sandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/wholenumber"
)

// DataSource is the data source opensandbox_sandbox.
type DataSource struct{ service *connection.OpenSandbox }

// New gives the data source, not yet configured.
func New() datasource.DataSource { return &DataSource{} }

// Metadata names the type.
func (d *DataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_sandbox"
}

// Configure takes the service over from the provider.
func (d *DataSource) Configure(_ context.Context, req datasource.ConfigureRequest, _ *datasource.ConfigureResponse) {
	d.service, _ = req.ProviderData.(*connection.OpenSandbox)
}

// timeout bounds a read with all its attempts, whatever the service asks to wait.
const timeout = 2 * time.Minute

// Read asks the server for the sandbox, and for the URLs of its ports.
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
	live, err := service.API.Sandbox(ctx, id)
	switch {
	case apiclient.IsGone(err):
		diagnose.OpenSandbox.AttributeError(&resp.Diagnostics, path.Root("id"), "Sandbox "+id+" doesn't exist", err)
		return
	case err != nil:
		diagnose.OpenSandbox.Error(&resp.Diagnostics, "Sandbox "+id+" can't be read", err)
		return
	}
	urls, _, err := service.Reach(ctx, id, wholenumber.Sorted(state.ExposedPorts), 0)
	if err != nil {
		diagnose.OpenSandbox.AttributeError(&resp.Diagnostics, path.Root("exposed_ports"), "Ports of sandbox "+id+" can't be looked up", err)
		return
	}
	state.View = sandbox.ViewOf(ctx, live, &resp.Diagnostics)
	state.ID = types.StringValue(id)
	state.Ports = plan.PortsOf(state.ExposedPorts, sandbox.URLs(urls))
	resp.Diagnostics.Append(resp.State.Set(ctx, state)...)
}
