package gpuvminstance_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/agentenv/terraform-provider-gpuvm/internal/acctest"
	"github.com/agentenv/terraform-provider-gpuvm/internal/provider"
)

// TestShortTTLIsWarnedOf: where a machine is to be made that may end before it is usable, and nowhere else.
func TestShortTTLIsWarnedOf(t *testing.T) {
	t.Parallel()
	const kind = "gpuvm_instance"
	create := func(duration any) acctest.Values { return acctest.Values{"create": duration} }
	for title, c := range map[string]struct {
		block, config acctest.Values
		says          string // "" where nothing is to be said
	}{
		"the default":                          {nil, acctest.Values{}, ""},
		"below the boot's default":             {nil, acctest.Values{"ttl_seconds": 599}, "599 s after it is asked for, and it may take 600 s until it is usable (the provider's boot_timeout_seconds)"},
		"as long as the boot's default":        {nil, acctest.Values{"ttl_seconds": 600}, ""},
		"below the provider's boot":            {acctest.Values{"boot_timeout_seconds": 10800}, acctest.Values{}, "raise ttl_seconds to 10800 or more"},
		"above the provider's boot":            {acctest.Values{"boot_timeout_seconds": 60}, acctest.Values{"ttl_seconds": 60}, ""},
		"below timeouts.create":                {nil, acctest.Values{"ttl_seconds": 1199, "timeouts": create("20m")}, "it may take 1200 s until it is usable (timeouts.create)"},
		"as long as timeouts.create":           {nil, acctest.Values{"ttl_seconds": 300, "timeouts": create("5m")}, ""},
		"timeouts.create isn't known":          {nil, acctest.Values{"ttl_seconds": 60, "timeouts": create(acctest.Unknown)}, ""},
		"ttl_seconds isn't known":              {nil, acctest.Values{"ttl_seconds": acctest.Unknown}, ""},
		"boot_timeout_seconds isn't known":     {acctest.Values{"boot_timeout_seconds": acctest.Unknown}, acctest.Values{"ttl_seconds": 60}, ""},
		"another timeout says nothing of this": {nil, acctest.Values{"ttl_seconds": 599, "timeouts": acctest.Values{"delete": "1m"}}, "boot_timeout_seconds"},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			service := acctest.NewGPUVM(t)
			block := acctest.Values{"base_url": service.URL, "api_token": service.Token}
			maps.Copy(block, c.block)
			config := acctest.Values{"image": "client"}
			maps.Copy(config, c.config)
			p := acctest.NewProtocol(t, provider.GPUVM("test")(), block)
			change := p.PlanChange(t.Context(), kind, acctest.Object{}, config)
			if c.says == "" {
				if len(change.Diagnostics) > 0 {
					t.Errorf("it says %s", acctest.Text(change.Diagnostics))
				}
				return
			}
			if len(change.Diagnostics) != 1 || !strings.Contains(acctest.Text(change.Diagnostics), c.says) || change.Diagnostics[0].Attribute.String() != `AttributeName("ttl_seconds")` {
				t.Fatalf("it says %s", acctest.Text(change.Diagnostics))
			}
			// A machine that has become usable in time is told nothing of it any more.
			made, diagnostics := p.Apply(t.Context(), change)
			if len(diagnostics) > 0 {
				t.Fatal(acctest.Text(diagnostics))
			}
			if again := p.PlanChange(t.Context(), kind, made, config); len(again.Diagnostics) > 0 || len(again.Replace) > 0 {
				t.Errorf("the next plan says %s", acctest.Text(again.Diagnostics))
			}
		})
	}
}
