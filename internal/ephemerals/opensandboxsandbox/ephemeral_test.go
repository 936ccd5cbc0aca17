package opensandboxsandbox_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentenv/terraform-provider-gpuvm/internal/acctest"
	"github.com/agentenv/terraform-provider-gpuvm/internal/clock"
	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/faults"
	fake "github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/opensandbox"
)

type values = acctest.Values

const kind = "opensandbox_sandbox"

// bench is the provider at protocol level and a server, on one clock, which stands still unless a test moves it: nothing here
// has to wait.
type bench struct {
	*acctest.Protocol
	provider provider.Provider
	server   *acctest.OpenSandbox
	clock    *clock.Fake
}

func newBench(t *testing.T, set ...func(*fake.Options)) *bench {
	t.Helper()
	b := &bench{clock: clock.NewManual(time.Now().Truncate(time.Second))}
	b.server = acctest.NewOpenSandbox(t, append(set, func(o *fake.Options) { o.Clock = b.clock })...)
	b.provider = acctest.OpenSandboxClocked(b.clock)
	b.Protocol = acctest.NewProtocol(t, b.provider, values{
		"domain": b.server.URL, "api_key": b.server.APIKey, "create": values{"retry_delay_seconds": 0}, "operations": values{"retry_delay_seconds": 0},
	})
	return b
}

// end is the end of the program.
func (b *bench) end(ctx context.Context) {
	b.provider.(interface{ Close(context.Context) }).Close(ctx)
}

func (b *bench) mustOpen(t *testing.T, config values) acctest.Opened {
	t.Helper()
	opened, diagnostics := b.OpenEphemeral(t.Context(), kind, config)
	if len(diagnostics) > 0 {
		t.Fatal(acctest.Text(diagnostics))
	}
	return opened
}

// left fails where the server holds sandboxes.
func (b *bench) left(t *testing.T, when string) {
	t.Helper()
	if all := b.server.Sandboxes(); len(all) > 0 {
		t.Errorf("%s: the server holds %d sandboxes", when, len(all))
	}
}

func (b *bench) only(t *testing.T) fake.Sandbox {
	t.Helper()
	all := b.server.Sandboxes()
	if len(all) != 1 {
		t.Fatalf("the server holds %d sandboxes", len(all))
	}
	return all[0]
}

func says(t *testing.T, diagnostics []*tfprotov6.Diagnostic, words ...string) {
	t.Helper()
	text := acctest.Text(diagnostics)
	for _, word := range words {
		if !strings.Contains(text, word) {
			t.Errorf("%q is missing in\n%s", word, text)
		}
	}
}

func TestOpenRenewClose(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	opened := b.mustOpen(t, values{"image": "busybox", "exposed_ports": []int{8080}, "vnc_port": 5900, "metadata": map[string]string{"team": "red team"}})
	made := b.only(t)
	if made.Request.Timeout != 300 || made.Metadata["team"] != "red_team" || !opened.RenewAt.Equal(b.clock.Now().Add(150*time.Second)) {
		t.Errorf("timeout %d, metadata %v, renewed at %s", made.Request.Timeout, made.Metadata, opened.RenewAt)
	}
	if !opened.Attributes["id"].Equal(tftypes.NewValue(tftypes.String, made.ID)) || !opened.Attributes["status"].Equal(tftypes.NewValue(tftypes.String, "Running")) {
		t.Errorf("it tells %v", opened.Attributes)
	}
	for name, value := range opened.Attributes {
		if !value.IsFullyKnown() {
			t.Errorf("%s is unknown", name)
		}
	}
	for range 3 {
		b.clock.Advance(150 * time.Second)
		var diagnostics []*tfprotov6.Diagnostic
		if opened, diagnostics = b.Renew(t.Context(), opened); len(diagnostics) > 0 {
			t.Fatal(acctest.Text(diagnostics))
		}
		if left := b.only(t).Expires.Sub(b.clock.Now()); left != 300*time.Second || !opened.RenewAt.Equal(b.clock.Now().Add(150*time.Second)) {
			t.Errorf("%s left after a renewal, the next at %s", left, opened.RenewAt)
		}
	}
	for range 2 {
		if diagnostics := b.CloseEphemeral(t.Context(), opened); len(diagnostics) > 0 {
			t.Error(acctest.Text(diagnostics))
		}
		b.left(t, "after close")
	}
}

func TestLeftShut(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	opened := b.mustOpen(t, values{"open": false, "image": "busybox", "exposed_ports": []int{80}})
	for _, name := range []string{"id", "status", "ports", "vnc_url", "effective_metadata", "attribution_metadata", "created_at"} {
		if !opened.Attributes[name].IsNull() {
			t.Errorf("%s is %s", name, opened.Attributes[name])
		}
	}
	if diagnostics := b.CloseEphemeral(t.Context(), opened); len(diagnostics) > 0 || !opened.RenewAt.IsZero() {
		t.Errorf("renewed at %s; %s", opened.RenewAt, acctest.Text(diagnostics))
	}
	if sent := b.server.Faults().Requests(); len(sent) > 0 {
		t.Errorf("%d requests were sent", len(sent))
	}
}

func TestWhatIsMadeIsWhatTheResourceMakes(t *testing.T) {
	t.Parallel()
	arguments := values{
		"image": "registry.example/tool:1", "image_auth": values{"username": "ada", "password_wo": "hush-hush"},
		"entrypoint": []string{"sleep", "infinity"}, "env": map[string]string{"A": "b"}, "env_wo": map[string]string{"S": "secret"},
		"resources": values{"cpu": 2.5, "memory_mib": 512, "extended": map[string]string{"example.com/x": "1"}}, "metadata": map[string]string{"team": "red team"},
		"platform": values{"os": "linux", "arch": "arm64"}, "ttl_seconds": 600, "extensions": map[string]string{"a": "b"}, "image_pull_policy": "Always",
		"volume": []any{
			values{"name": "code", "mount_path": "/code", "read_only": true, "host": values{"path": "/srv"}},
			values{"name": "data", "mount_path": "/data", "pvc": values{"claim_name": "claim", "create_if_not_exists": false}},
		},
		"network_policy": values{"default_action": "deny", "egress": []any{values{"action": "allow", "target": "pypi.org"}}},
		"files":          map[string]any{"/a": values{"content": "x", "mode": "600"}, "/b": values{"content_wo": "y"}},
		"pre_start":      values{"command": []string{"true"}}, "periodic": []any{values{"name": "tick", "schedule": "* * * * *", "command": []string{"date"}}},
		"setup_script": "cat /a /b > /c", "exposed_ports": []int{80}, "credential_proxy": true,
	}
	b := newBench(t, func(o *fake.Options) { o.EgressMode, o.Newer, o.Kubernetes = "dns+nft", true, true })
	b.mustOpen(t, arguments)
	_, diagnostics := b.Apply(t.Context(), b.PlanChange(t.Context(), kind, acctest.Object{}, arguments))
	if len(diagnostics) > 0 {
		t.Fatal(acctest.Text(diagnostics))
	}
	all := b.server.Sandboxes()
	for i := range all {
		delete(all[i].Request.Metadata, "agentenv.dev/create-id")
		file, err := b.server.Machine(all[i].ID).ReadFile("/c")
		if err != nil || string(file.Data) != "xy" {
			t.Errorf("the script has written %q, %v", file.Data, err)
		}
	}
	if len(all) != 2 || !sameRequest(all[0].Request, all[1].Request) {
		t.Errorf("the ephemeral resource asks for\n%+v\nthe resource for\n%+v", all[0].Request, all[1].Request)
	}
}

// Whatever goes wrong while it opens, nothing is left, not even for the end of the program.
func TestFailedOpenLeavesNothing(t *testing.T) {
	t.Parallel()
	for title, c := range map[string]struct {
		config values
		fault  faults.Fault
		says   []string
	}{
		"refused":           {fault: faults.Fault{Method: "POST", Path: "/v1/sandboxes", Status: 400, Body: `{"code":"X","message":"no"}`, Times: -1}, says: []string{"Sandbox was not created", "no sandbox was made"}},
		"setup":             {config: values{"setup_script": "echo oops; exit 3"}, says: []string{"Setup script failed", "exit 3", "oops", "was deleted again"}},
		"upload":            {config: values{"files": values{"/a": values{"content": "x"}}}, fault: faults.Fault{Method: "POST", Path: "/direct/*/*/proxy/*/files/upload", Status: 403, Times: -1}, says: []string{"File upload failed"}},
		"endpoint":          {config: values{"exposed_ports": []int{81}}, fault: faults.Fault{Method: "GET", Path: "/v1/sandboxes/*/endpoints/81", Status: 403, Times: -1}, says: []string{"Ports can't be looked up"}},
		"source is missing": {config: values{"files": values{"/a": values{"source": "/nonexistent/x"}}}, says: []string{"File for the machine can't be read"}},
		"two sources":       {config: values{"snapshot_id": "x"}, says: []string{"More than one source"}},
		"short life":        {config: values{"ttl_seconds": 59}, says: []string{"at least 60"}},
		"no time":           {config: values{"timeouts": values{"open": "0s"}}, says: []string{"more than 0"}},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			if c.fault.Method != "" {
				b.server.Faults().Order(c.fault)
			}
			config := values{"image": "busybox"}
			for name, value := range c.config {
				config[name] = value
			}
			opened, diagnostics := b.OpenEphemeral(t.Context(), kind, config)
			says(t, diagnostics, c.says...)
			if opened.Attributes != nil {
				t.Errorf("it is open: %v", opened.Attributes)
			}
			b.left(t, "after the failure")
			b.server.Faults().Reset()
			b.end(t.Context())
			if sent := b.server.Faults().Requests(); len(sent) > 0 {
				t.Errorf("%s %s was sent as the program ended", sent[0].Method, sent[0].Path)
			}
		})
	}
}

// Interrupted at any request of Open, nothing is left.
func TestInterruptedOpenLeavesNothing(t *testing.T) {
	t.Parallel()
	full := values{"image": "busybox", "files": values{"/a": values{"content": "x"}}, "setup_script": "cat /a", "exposed_ports": []int{80}}
	b := newBench(t)
	b.mustOpen(t, full)
	requests := len(b.server.Faults().Requests())
	for at := range requests {
		b := newBench(t)
		ctx, interrupt := context.WithCancel(t.Context())
		seen := make(chan struct{}, 1000)
		b.server.Faults().OnRequest(func(faults.Record) {
			seen <- struct{}{}
			if len(seen) == at+1 {
				interrupt()
			}
		})
		opened, diagnostics := b.OpenEphemeral(ctx, kind, full)
		if opened.Attributes != nil || len(diagnostics) == 0 {
			t.Errorf("interrupted at request %d of %d it opens", at+1, requests)
		}
		b.left(t, "after an interrupt")
	}
}

func TestArgumentsStayAsConfigured(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	config := values{"image": "busybox", "ttl_seconds": 120, "open": true, "skip_health_check": true}
	opened := b.mustOpen(t, config)
	for name, want := range map[string]any{"ttl_seconds": 120, "open": true, "skip_health_check": true, "ready_timeout_seconds": nil, "exposed_ports": nil, "env": nil} {
		value := opened.Attributes[name]
		if !value.Equal(tftypes.NewValue(value.Type(), want)) {
			t.Errorf("%s is %s, want %v as configured", name, value, want)
		}
	}
	if requests := b.server.Faults().Requests(); slices.ContainsFunc(requests, func(r faults.Record) bool { return strings.HasSuffix(r.Path, "/ping") }) {
		t.Error("the agent was pinged all the same")
	}
}
