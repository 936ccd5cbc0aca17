package opensandboxsandbox_test

import (
	"strings"
	"testing"

	"github.com/agentenv/terraform-provider-gpuvm/internal/acctest"
)

// TestShortTTLIsWarnedOf: where a sandbox is to be made that may end before it is usable, and nowhere else.
func TestShortTTLIsWarnedOf(t *testing.T) {
	t.Parallel()
	for title, c := range map[string]struct {
		block, config values
		says          string // "" where nothing is to be said
	}{
		"none":                        {nil, nil, ""},
		"below what is waited for":    {nil, values{"ttl_seconds": 89}, "it may take 90 s until it is usable (ready_timeout_seconds and the provider's probe block)"},
		"as long":                     {nil, values{"ttl_seconds": 90}, ""},
		"a long wait for the agent":   {nil, values{"ttl_seconds": 300, "ready_timeout_seconds": 600}, "raise ttl_seconds to 630 or more"},
		"without the agent":           {nil, values{"ttl_seconds": 60, "skip_health_check": true}, ""},
		"without agents":              {values{"create": values{"skip_health_check": true, "retry_delay_seconds": 0}}, values{"ttl_seconds": 60}, ""},
		"a patient probe":             {values{"probe": values{"deadline_seconds": 600}}, values{"ttl_seconds": 300, "skip_health_check": true}, "600 s until it is usable (the provider's probe block)"},
		"no probe":                    {values{"probe": values{"command": ""}}, values{"ttl_seconds": 60}, ""},
		"no probe, a long wait":       {values{"probe": values{"command": ""}}, values{"ttl_seconds": 60, "ready_timeout_seconds": 61}, "61 s until it is usable (ready_timeout_seconds)"},
		"below timeouts.create":       {nil, values{"ttl_seconds": 600, "timeouts": values{"create": "15m"}}, "it may take 900 s until it is usable (timeouts.create)"},
		"as long as timeouts.create":  {nil, values{"ttl_seconds": 60, "timeouts": values{"create": "60s"}}, ""},
		"timeouts.create isn't known": {nil, values{"ttl_seconds": 60, "timeouts": values{"create": acctest.Unknown}}, ""},
		"ttl_seconds isn't known":     {nil, values{"ttl_seconds": acctest.Unknown}, ""},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, c.block)
			config := with(busybox, c.config)
			change := b.PlanChange(t.Context(), kind, acctest.Object{}, config)
			if c.says == "" {
				if len(change.Diagnostics) > 0 {
					t.Errorf("it says %s", acctest.Text(change.Diagnostics))
				}
				return
			}
			if len(change.Diagnostics) != 1 || !strings.Contains(acctest.Text(change.Diagnostics), c.says) || change.Diagnostics[0].Attribute.String() != `AttributeName("ttl_seconds")` {
				t.Fatalf("it says %s", acctest.Text(change.Diagnostics))
			}
			// A sandbox that has become usable in time is told nothing of it any more.
			made, diagnostics := b.Apply(t.Context(), change)
			if len(diagnostics) > 0 {
				t.Fatal(acctest.Text(diagnostics))
			}
			b.plan(made, config)
		})
	}
}
