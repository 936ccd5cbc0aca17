package opensandboxrenew_test

import (
	"strings"
	"testing"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/acctest"
	"github.com/agentenv/terraform-provider-gpuvm/internal/provider"
)

const action = "opensandbox_renew"

// world is a server with one sandbox that lives for the given seconds (or for ever: "null"), and a provider for it.
func world(t *testing.T, timeout string) (*acctest.OpenSandbox, *acctest.Protocol, string) {
	t.Helper()
	server := acctest.NewOpenSandbox(t)
	id := server.Make(t, `{"image":{"uri":"busybox"},"entrypoint":["tail","-f","/dev/null"],"resourceLimits":{"cpu":"1","memory":"1Gi"},"timeout":`+timeout+`}`)
	return server, acctest.NewProtocol(t, provider.OpenSandbox("test")(), acctest.Values{
		"domain": server.URL, "api_key": server.APIKey, "operations": acctest.Values{"retries": 1, "retry_delay_seconds": 0},
	}), id
}

func TestRenewSetsAndTellsTheExpiry(t *testing.T) {
	t.Parallel()
	for name, seconds := range map[string]int64{"longer": 7200, "shorter": 60} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, protocol, id := world(t, "600")
			from := time.Now()
			progress, diagnostics := protocol.Invoke(t.Context(), action, acctest.Values{"sandbox_id": id, "ttl_seconds": seconds})
			until := time.Now()
			if len(diagnostics) > 0 {
				t.Fatal(acctest.Text(diagnostics))
			}
			sandbox, _ := server.Sandbox(id)
			ttl := time.Duration(seconds) * time.Second
			if got := sandbox.Expires; got.Before(from.Add(ttl-time.Second)) || got.After(until.Add(ttl)) {
				t.Errorf("it expires at %s, asked at %s", got, from)
			}
			if want := "sandbox " + id + " expires at " + sandbox.Expires.UTC().Format(time.RFC3339); progress[len(progress)-1] != want {
				t.Errorf("told %q, want %q", progress, want)
			}
		})
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	t.Run("never expires", func(t *testing.T) {
		t.Parallel()
		_, protocol, id := world(t, "null")
		_, diagnostics := protocol.Invoke(t.Context(), action, acctest.Values{"sandbox_id": id, "ttl_seconds": 600})
		if text := acctest.Text(diagnostics); !strings.Contains(text, "was not renewed") || !strings.Contains(text, "never expires") {
			t.Error(text)
		}
	})
	t.Run("gone", func(t *testing.T) {
		t.Parallel()
		server, protocol, id := world(t, "600")
		server.Kill(id)
		_, diagnostics := protocol.Invoke(t.Context(), action, acctest.Values{"sandbox_id": id, "ttl_seconds": 600})
		if text := acctest.Text(diagnostics); !strings.Contains(text, "was not renewed") || !strings.Contains(text, "404") {
			t.Error(text)
		}
	})
}

func TestBadAndUnknownInput(t *testing.T) {
	t.Parallel()
	server, protocol, id := world(t, "600")
	for says, config := range map[string]acctest.Values{
		"at least 60":        {"sandbox_id": id, "ttl_seconds": 59},
		"not a whole number": {"sandbox_id": id, "ttl_seconds": 90.5},
		"ttl_seconds":        {"sandbox_id": id},
		"at least 1":         {"sandbox_id": "", "ttl_seconds": 60},
	} {
		if text := acctest.Text(protocol.Plan(t.Context(), action, config)); !strings.Contains(text, says) {
			t.Errorf("%q doesn't say %q", text, says)
		}
	}
	if diagnostics := protocol.Plan(t.Context(), action, acctest.Values{"sandbox_id": acctest.Unknown, "ttl_seconds": acctest.Unknown}); len(diagnostics) > 0 {
		t.Error(acctest.Text(diagnostics))
	}
	_, diagnostics := protocol.InvokeUnplanned(t.Context(), action, acctest.Values{"sandbox_id": id, "ttl_seconds": 1}, nil)
	if text := acctest.Text(diagnostics); !strings.Contains(text, "has to be 60 or more") {
		t.Error(text)
	}
	if sent := server.Faults().Total(); sent > 1 { // the one that made the sandbox
		t.Errorf("%d requests were sent", sent)
	}
}

func TestExampleCanBePlanned(t *testing.T) {
	t.Parallel()
	_, protocol, _ := world(t, "600")
	example, config := acctest.ActionExample(t, "opensandbox/actions/opensandbox_renew/action.tf")
	if diagnostics := protocol.Plan(t.Context(), example, config); example != action || len(diagnostics) > 0 {
		t.Errorf("%s: %s", example, acctest.Text(diagnostics))
	}
}
