package opensandboxsandbox_test

import (
	"strings"
	"testing"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/acctest"
	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/faults"
	fake "github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/opensandbox"
)

// refused plans and applies, and gives the error.
func (b *bench) refused(prior acctest.Object, config values) (acctest.Object, string) {
	b.t.Helper()
	object, diagnostics := b.Apply(b.t.Context(), b.plan(prior, config))
	if len(diagnostics) == 0 {
		b.t.Fatal("it succeeds")
	}
	return object, acctest.Text(diagnostics)
}

func TestTTLIsChangedByRenewal(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	made := b.make(with(busybox, values{"ttl_seconds": 600}))
	for _, seconds := range []int{3600, 120} { // the server may shorten too
		made = b.apply(made, with(busybox, values{"ttl_seconds": seconds}))
		expires, err := time.Parse(time.RFC3339, text(t, made.Attributes, "expires_at"))
		if err != nil {
			t.Fatal(err)
		}
		if left := expires.Sub(b.clock.Now()); left > time.Duration(seconds)*time.Second || left < time.Duration(seconds-30)*time.Second {
			t.Errorf("%v are left of %d seconds", left, seconds)
		}
		same(t, "expires_at", expires.Equal(only(t, b.server).Expires), true)
	}
	same(t, "what changes then", changed(made, b.plan(b.refresh(made), with(busybox, values{"ttl_seconds": 120}))), nil)
}

func TestPausedIsManagedOnlyWhereItIsSet(t *testing.T) {
	t.Parallel()
	for title, options := range map[string]func(*fake.Options){"Docker": func(*fake.Options) {}, "Kubernetes": func(o *fake.Options) { o.Kubernetes = true }} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, nil, options)
			base := with(busybox, values{"ttl_seconds": 3600, "exposed_ports": []int{80}, "vnc_port": 5900})
			made := b.make(with(base, values{"paused": true}))
			same(t, "status", text(t, made.Attributes, "status"), "Paused")
			made = b.refresh(made)
			same(t, "what changes", changed(made, b.plan(made, with(base, values{"paused": true}))), nil)

			made = b.apply(made, with(base, values{"paused": false}))
			same(t, "status", text(t, made.Attributes, "status"), "Running")
			same(t, "URL of 80", strings.HasPrefix(texts(t, made.Attributes, "ports")["80"], "http://"), true)
			same(t, "URL of the display", strings.HasPrefix(text(t, made.Attributes, "vnc_url"), "http://"), true)

			// Not managed any more: whatever an action does is no drift.
			made = b.apply(made, base)
			b.pause(made)
			made = b.refresh(made)
			same(t, "status", text(t, made.Attributes, "status"), "Paused")
			same(t, "what changes", changed(made, b.plan(made, base)), nil)

			// Managed again, it is.
			made = b.apply(made, with(base, values{"paused": true}))
			b.resume(made)
			made = b.refresh(made)
			same(t, "what isn't known", unknowns(b.plan(made, with(base, values{"paused": true}))), []string{"ports", "status", "status_message", "status_reason", "vnc_url"})
			made = b.apply(made, with(base, values{"paused": true}))
			same(t, "status", text(t, made.Attributes, "status"), "Paused")
		})
	}
}

func TestPolicyIsChangedThroughTheSidecar(t *testing.T) {
	t.Parallel()
	rule := func(target string) values { return values{"action": "allow", "target": target} }
	policy := func(rules ...any) values {
		return with(busybox, values{"network_policy": values{"default_action": "deny", "egress": rules}})
	}
	live := func(targets ...string) fake.NetworkPolicy {
		p := fake.NetworkPolicy{DefaultAction: "deny", Egress: []fake.NetworkRule{}}
		for _, target := range targets {
			p.Egress = append(p.Egress, fake.NetworkRule{Action: "allow", Target: target})
		}
		return p
	}
	b := newBench(t, nil)
	made := b.make(policy(rule("b.example"), rule("a.example")))
	made = b.refresh(made)
	same(t, "what changes", changed(made, b.plan(made, policy(rule("b.example"), rule("a.example")))), nil)

	made = b.apply(made, policy(rule("a.example"), rule("b.example")))
	same(t, "policy in another order", *only(t, b.server).Policy, live("a.example", "b.example"))

	b.server.SetPolicy(text(t, made.Attributes, "id"), live("evil.example"))
	made = b.refresh(made)
	same(t, "what changes after a change outside", changed(made, b.plan(made, policy(rule("a.example")))), []string{"network_policy"})
	made = b.apply(made, policy(rule("a.example")))
	same(t, "policy", *only(t, b.server).Policy, live("a.example"))

	// A resume forgets it.
	managed := with(policy(rule("a.example")), values{"paused": true})
	made = b.apply(made, managed)
	managed["paused"] = false
	made = b.apply(b.refresh(made), managed)
	same(t, "policy after a resume", *only(t, b.server).Policy, live("a.example"))
	made = b.refresh(made)
	same(t, "what changes after a resume", changed(made, b.plan(made, managed)), nil)
	made = b.apply(made, with(managed, values{"network_policy": values{"default_action": "deny"}}))
	same(t, "what changes without rules", changed(made, b.plan(b.refresh(made), with(managed, values{"network_policy": values{"default_action": "deny"}}))), nil)
}

func TestPolicyOfAPausedSandboxCanNotBeChanged(t *testing.T) {
	t.Parallel()
	config := with(busybox, values{"paused": true, "network_policy": values{"default_action": "deny"}})
	b := newBench(t, nil)
	made := b.make(config)
	allow := with(config, values{"network_policy": values{"default_action": "allow"}})
	if _, said := b.refused(made, allow); !strings.Contains(said, "it is paused") {
		t.Errorf("it says %s", said)
	}
	// With the resume it can.
	allow["paused"] = false
	b.apply(made, allow)
	same(t, "policy", only(t, b.server).Policy.DefaultAction, "allow")
}

func TestPolicyThatCanNotBeReadIsAWarning(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	made := b.make(with(busybox, values{"network_policy": values{"default_action": "deny"}}))
	b.server.Faults().Order(faults.Fault{Method: "GET", Path: "**/policy", Status: 401, Times: -1})
	b.server.Faults().Order(faults.Fault{Method: "GET", Path: "/v1/sandboxes/*/endpoints/18080", Status: 403, Times: -1})
	after, diagnostics := b.Refresh(t.Context(), kind, made)
	said := acctest.Text(diagnostics)
	if !strings.HasPrefix(said, "WARNING: Network policy of ") {
		t.Errorf("it says %s", said)
	}
	same(t, "state", after.Attributes["network_policy"].Equal(made.Attributes["network_policy"]), true)
}

func TestGoneDuringAnUpdate(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	made := b.make(with(busybox, values{"metadata": values{"a": "b"}}))
	change := b.plan(made, with(busybox, values{"metadata": values{"a": "c"}}))
	b.server.Kill(text(t, made.Attributes, "id"))
	after, diagnostics := b.Apply(t.Context(), change)
	said := acctest.Text(diagnostics)
	if !strings.Contains(said, "can't be changed") || !strings.Contains(said, "plan again") || !strings.Contains(said, "HTTP 404") {
		t.Errorf("it says %s", said)
	}
	same(t, "the state stays", texts(t, after.Attributes, "metadata"), map[string]string{"a": "b"})
}

// What an update that fails has done before stands in the state.
func TestUpdateThatFailsKeepsWhatItReached(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	made := b.make(with(busybox, values{"ttl_seconds": 600, "metadata": values{"a": "b"}, "network_policy": values{"default_action": "allow"}}))
	id := text(t, made.Attributes, "id")
	b.server.Faults().Order(faults.Fault{Method: "POST", Path: "/v1/sandboxes/" + id + "/pause", Status: 403, Times: -1})
	wanted := with(busybox, values{"ttl_seconds": 900, "metadata": values{"a": "c"}, "network_policy": values{"default_action": "deny"}, "paused": true, "teardown_script": "true"})
	after, said := b.refused(made, wanted)
	if !strings.Contains(said, "was not paused") {
		t.Errorf("it says %s", said)
	}
	same(t, "what is left to do", changed(after, b.plan(b.refresh(after), wanted)), []string{"paused", "status", "status_message", "status_reason", "teardown_script"})
	b.server.Faults().Clear()
	done := b.apply(b.refresh(after), wanted)
	same(t, "status", text(t, done.Attributes, "status"), "Paused")
	same(t, "renewals", b.server.Asked("POST", "/sandboxes/{id}/renew-expiration"), 1)
	same(t, "patches", b.server.Asked("PATCH", "/sandboxes/{id}/metadata"), 1)
}

// Only 404 and 410 drop a sandbox from the state.
func TestRefreshFailsAndChangesNothing(t *testing.T) {
	t.Parallel()
	for title, fault := range map[string]faults.Fault{
		"401": {Status: 401}, "403": {Status: 403}, "500": {Status: 500}, "page": {Kind: faults.HTML}, "reset": {Kind: faults.ResetBefore},
		"garbage": {Kind: faults.Garbage}, "empty": {Kind: faults.Empty}, "redirect": {Kind: faults.Redirect, Location: "http://127.0.0.1:1/"},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, values{"operations": values{"retries": 0}})
			made := b.make(busybox)
			fault.Method, fault.Path, fault.Times = "GET", "/v1/sandboxes/*", -1
			b.server.Faults().Order(fault)
			after, diagnostics := b.Refresh(t.Context(), kind, made)
			if said := acctest.Text(diagnostics); !strings.HasPrefix(said, "ERROR: Sandbox "+text(t, made.Attributes, "id")+" can't be read") {
				t.Errorf("it says %s", said)
			}
			same(t, "state", after.Exists() && after.Attributes["id"].Equal(made.Attributes["id"]), true)
		})
	}
	for _, status := range []int{404, 410} {
		b := newBench(t, nil)
		made := b.make(busybox)
		b.server.Faults().Order(faults.Fault{Method: "GET", Path: "/v1/sandboxes/*", Status: status, Times: -1})
		same(t, "state after a 404", b.refresh(made).Exists(), false)
	}
}
