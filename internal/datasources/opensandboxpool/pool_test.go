package opensandboxpool_test

import (
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/agentenv/terraform-provider-gpuvm/internal/acctest"
	fake "github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/opensandbox"
)

func TestAccPoolIsCounted(t *testing.T) {
	for title, c := range map[string]struct {
		delay time.Duration
		want  map[string]knownvalue.Check
	}{
		"counted": {0, map[string]knownvalue.Check{
			"total": knownvalue.Int64Exact(3), "allocated": knownvalue.Int64Exact(1), "available": knownvalue.Int64Exact(2), "revision": knownvalue.StringExact("warm-1"),
		}},
		"not looked at yet": {time.Hour, map[string]knownvalue.Check{
			"total": knownvalue.Null(), "allocated": knownvalue.Null(), "available": knownvalue.Null(), "revision": knownvalue.Null(),
		}},
	} {
		t.Run(title, func(t *testing.T) {
			server := acctest.NewOpenSandbox(t, func(o *fake.Options) { o.Kubernetes, o.PoolDelay = true, c.delay })
			server.AddPool("warm", fake.Capacity{BufferMin: 2, BufferMax: 2, PoolMax: 3}, true)
			server.Make(t, `{"extensions":{"poolRef":"warm"}}`)
			var checks []statecheck.StateCheck
			for attribute, check := range c.want {
				checks = append(checks, statecheck.ExpectKnownValue("data.opensandbox_pool.warm", tfjsonpath.New(attribute), check))
			}
			acctest.Run(t, resource.TestCase{Steps: []resource.TestStep{{
				Config: server.Provider() + "data \"opensandbox_pool\" \"warm\" {\n  name = \"warm\"\n}\n", ConfigStateChecks: checks,
			}}})
		})
	}
}

func TestAccPoolThatCantBeRead(t *testing.T) {
	for says, kubernetes := range map[string]bool{"Pool cold doesn't exist": true, "Pool cold can't be read": false} {
		t.Run(says, func(t *testing.T) {
			server := acctest.NewOpenSandbox(t, func(o *fake.Options) { o.Kubernetes = kubernetes })
			acctest.Run(t, resource.TestCase{Steps: []resource.TestStep{{
				Config: server.Provider() + "data \"opensandbox_pool\" \"cold\" {\n  name = \"cold\"\n}\n", ExpectError: acctest.Said(says),
			}}})
		})
	}
}
