package plan

import (
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentenv/terraform-provider-gpuvm/internal/wholenumber"
)

// Ports is the ports attribute as it can be planned: exactly the keys of exposed_ports, whose URLs the service will
// tell. Users for_each over the keys, so they are known whenever exposed_ports is.
func Ports(exposed types.Set) types.Map {
	return portMap(exposed, func(string) types.String { return types.StringUnknown() })
}

// PortsKept is the ports attribute of an object that stands under other exposed_ports: what it knows stays known.
func PortsKept(exposed types.Set, before types.Map) types.Map {
	return portMap(exposed, func(port string) types.String {
		if url, ok := before.Elements()[port].(types.String); ok && !url.IsNull() {
			return url
		}
		return types.StringUnknown()
	})
}

// PortsOf is the ports attribute as the service told the URLs: one that it doesn't tell is null, and a port that
// nobody asked for is left out.
func PortsOf(exposed types.Set, urls map[string]string) types.Map {
	return portMap(exposed, func(port string) types.String {
		if url := urls[port]; url != "" {
			return types.StringValue(url)
		}
		return types.StringNull()
	})
}

func portMap(exposed types.Set, url func(port string) types.String) types.Map {
	if exposed.IsUnknown() {
		return types.MapUnknown(types.StringType)
	}
	ports := map[string]attr.Value{}
	for _, element := range exposed.Elements() {
		number, ok := element.(wholenumber.Value)
		if !ok || number.IsUnknown() {
			return types.MapUnknown(types.StringType)
		}
		port := number.String()
		ports[port] = url(port)
	}
	return types.MapValueMust(types.StringType, ports)
}
