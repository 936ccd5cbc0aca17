package opensandboxpause_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/agentenv/terraform-provider-gpuvm/internal/acctest"
	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/faults"
	fake "github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/opensandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/provider"
)

const (
	pause  = "opensandbox_pause"
	resume = "opensandbox_resume"
)

// world is a server with one sandbox, and a provider for it.
func world(t *testing.T, set ...func(*fake.Options)) (*acctest.OpenSandbox, *acctest.Protocol, string) {
	t.Helper()
	server := acctest.NewOpenSandbox(t, set...)
	id := server.Make(t, `{"image":{"uri":"busybox"},"entrypoint":["tail","-f","/dev/null"],"resourceLimits":{"cpu":"1","memory":"1Gi"}}`)
	return server, acctest.NewProtocol(t, provider.OpenSandbox("test")(), acctest.Values{
		"domain": server.URL, "api_key": server.APIKey, "operations": acctest.Values{"retries": 1, "retry_delay_seconds": 0},
	}), id
}

func TestPauseAndResume(t *testing.T) {
	t.Parallel()
	for name, set := range map[string]func(*fake.Options){
		"docker":     func(*fake.Options) {},
		"kubernetes": func(o *fake.Options) { o.Kubernetes = true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, protocol, id := world(t, set)
			// Each twice: what is so already is left as it is, whatever the server says of it.
			for _, step := range []struct {
				action string
				doing  string
				state  string
			}{{pause, "pausing", "Paused"}, {pause, "pausing", "Paused"}, {resume, "resuming", "Running"}, {resume, "resuming", "Running"}} {
				progress, diagnostics := protocol.Invoke(t.Context(), step.action, acctest.Values{"sandbox_id": id})
				if len(diagnostics) > 0 {
					t.Fatal(acctest.Text(diagnostics))
				}
				if want := []string{step.doing + " sandbox " + id, "sandbox " + id + " is " + step.state}; !slices.Equal(progress, want) {
					t.Errorf("told %q, want %q", progress, want)
				}
				if sandbox, _ := server.Sandbox(id); sandbox.Status.State != step.state {
					t.Errorf("it is %s, want %s", sandbox.Status.State, step.state)
				}
			}
		})
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		action string
		before func(server *acctest.OpenSandbox, id string)
		says   []string
	}{
		"pause, gone":    {pause, func(s *acctest.OpenSandbox, id string) { s.Kill(id) }, []string{"was not paused", "404"}},
		"resume, gone":   {resume, func(s *acctest.OpenSandbox, id string) { s.Kill(id) }, []string{"was not resumed", "404"}},
		"pause, exited":  {pause, func(s *acctest.OpenSandbox, id string) { s.Exit(id, 3) }, []string{"was not paused", "Failed"}},
		"resume, exited": {resume, func(s *acctest.OpenSandbox, id string) { s.Exit(id, 0) }, []string{"was not resumed", "Terminated"}},
		"no key": {pause, func(s *acctest.OpenSandbox, _ string) {
			s.Faults().Order(faults.Fault{Kind: faults.Status, Status: 401, Times: -1})
		}, []string{"was not paused", "api_key (environment variable OPEN_SANDBOX_API_KEY)"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, protocol, id := world(t)
			test.before(server, id)
			_, diagnostics := protocol.Invoke(t.Context(), test.action, acctest.Values{"sandbox_id": id})
			text := acctest.Text(diagnostics)
			for _, want := range test.says {
				if !strings.Contains(text, want) {
					t.Errorf("%q doesn't say %q", text, want)
				}
			}
		})
	}
}

func TestALostAnswerIsNoFailure(t *testing.T) {
	t.Parallel()
	server, protocol, id := world(t)
	server.Faults().Order(faults.Fault{Method: "POST", Path: "/v1/sandboxes/*/pause", Kind: faults.ResetAfter})
	if _, diagnostics := protocol.Invoke(t.Context(), pause, acctest.Values{"sandbox_id": id}); len(diagnostics) > 0 {
		t.Error(acctest.Text(diagnostics))
	}
	if sandbox, _ := server.Sandbox(id); sandbox.Status.State != "Paused" {
		t.Errorf("it is %s", sandbox.Status.State)
	}
}

func TestUnknownAndEmptyIDs(t *testing.T) {
	t.Parallel()
	_, protocol, _ := world(t)
	for _, action := range []string{pause, resume} {
		if diagnostics := protocol.Plan(t.Context(), action, acctest.Values{"sandbox_id": acctest.Unknown}); len(diagnostics) > 0 {
			t.Errorf("%s: %s", action, acctest.Text(diagnostics))
		}
		for _, config := range []acctest.Values{{}, {"sandbox_id": ""}} {
			if diagnostics := protocol.Plan(t.Context(), action, config); len(diagnostics) == 0 {
				t.Errorf("%s: %v is planned", action, config)
			}
		}
	}
}

func TestExamplesCanBePlanned(t *testing.T) {
	t.Parallel()
	_, protocol, _ := world(t)
	for _, action := range []string{pause, resume} {
		example, config := acctest.ActionExample(t, "opensandbox/actions/"+action+"/action.tf")
		if diagnostics := protocol.Plan(t.Context(), example, config); example != action || len(diagnostics) > 0 {
			t.Errorf("%s: %s", example, acctest.Text(diagnostics))
		}
	}
}
