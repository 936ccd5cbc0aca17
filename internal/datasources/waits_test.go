// Package datasources_test holds what is true of every data source.
package datasources_test

import (
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentenv/terraform-provider-gpuvm/internal/acctest"
	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/faults"
	"github.com/agentenv/terraform-provider-gpuvm/internal/provider"
)

// A read has an end, however long the service asks to wait.
func TestEachReadHasADeadline(t *testing.T) {
	t.Parallel()
	vms, sandboxes := acctest.NewGPUVM(t), acctest.NewOpenSandbox(t)
	later := faults.Fault{Kind: faults.Status, Status: 429, RetryAfter: "7200", Times: -1}
	vms.Faults().Order(later)
	sandboxes.Faults().Order(later)
	for _, p := range []*acctest.Protocol{
		acctest.NewProtocol(t, provider.GPUVM("test")(), acctest.Values{"base_url": vms.URL, "api_token": vms.Token}),
		acctest.NewProtocol(t, provider.OpenSandbox("test")(), acctest.Values{"domain": sandboxes.URL, "api_key": sandboxes.APIKey}),
	} {
		for kind, schema := range p.Schemas.DataSourceSchemas {
			t.Run(kind, func(t *testing.T) {
				t.Parallel()
				config := acctest.Values{}
				for _, attribute := range schema.Block.Attributes {
					switch {
					case !attribute.Required:
						config[attribute.Name] = tftypes.NewValue(attribute.ValueType(), nil)
					case attribute.Type.Is(tftypes.Number):
						config[attribute.Name] = 80
					default:
						config[attribute.Name] = "some"
					}
				}
				_, diagnostics := p.ReadData(t.Context(), kind, config)
				if said := acctest.Text(diagnostics); !strings.Contains(said, "after the deadline of this operation") {
					t.Errorf("it says %s", said)
				}
			})
		}
	}
}
