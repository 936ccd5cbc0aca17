// Package endpoint is looking up where a port of a sandbox is reached, as the data source and the ephemeral resource
// opensandbox_endpoint do.
package endpoint

import (
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	api "github.com/agentenv/terraform-provider-gpuvm/internal/apiclient/opensandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/connection"
	"github.com/agentenv/terraform-provider-gpuvm/internal/diagnose"
	"github.com/agentenv/terraform-provider-gpuvm/internal/wholenumber"
)

// Arguments say which port is meant and by which way it is to be reached.
type Arguments struct {
	SandboxID      types.String      `tfsdk:"sandbox_id"`
	Port           wholenumber.Value `tfsdk:"port"`
	UseServerProxy types.Bool        `tfsdk:"use_server_proxy"`
}

// What the attributes of both say of themselves.
const (
	SandboxIDText      = "Id of the sandbox. One that is gone is an error."
	PortText           = "Port of the sandbox, 1 to 65535. It is told whether or not something listens there."
	UseServerProxyText = "Whether the port is to be reached through the server, where the sandbox's own address can't be reached from here. Defaults to the provider's `use_server_proxy`."
)

// Ports is the range of what Port may be.
const (
	MinPort = 1
	MaxPort = 65535
)

// timeout bounds the look-up with all its attempts.
const timeout = 2 * time.Minute

// LookUp asks the server. expires is when a signed URL is to end; zero asks for none. ok is false, with the reason in diags,
// where the server doesn't tell.
func (a Arguments) LookUp(ctx context.Context, service *connection.OpenSandbox, expires time.Time, diags *diag.Diagnostics) (found api.Endpoint, ok bool) {
	server := service.Lifecycle(diags)
	if server == nil {
		return api.Endpoint{}, false
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	id, port := a.SandboxID.ValueString(), a.Port.ValueInt64()
	found, err := server.API.Endpoint(ctx, id, port, api.Route{ServerProxy: a.proxied(service, expires), Expires: expires})
	if err != nil {
		diagnose.OpenSandbox.AttributeError(diags, path.Root("sandbox_id"), fmt.Sprintf("Endpoint of port %d of sandbox %s can't be looked up", port, id), err)
		return api.Endpoint{}, false
	}
	return found, true
}

// proxied: a signed URL leads to the gateway, whatever the provider says of other ways.
func (a Arguments) proxied(service *connection.OpenSandbox, expires time.Time) bool {
	if a.UseServerProxy.IsNull() {
		return service.ServerProxy && expires.IsZero()
	}
	return a.UseServerProxy.ValueBool()
}
