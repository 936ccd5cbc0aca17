package opensandboxsandbox_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentenv/terraform-provider-gpuvm/internal/acctest"
	"github.com/agentenv/terraform-provider-gpuvm/internal/clock"
	fake "github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/opensandbox"
)

type values = acctest.Values

const kind = "opensandbox_sandbox"

// bench is the provider at protocol level and a server, on one clock that no wait of either holds up.
type bench struct {
	*acctest.Protocol
	t      *testing.T
	server *acctest.OpenSandbox
	clock  *clock.Fake
}

func newBench(t *testing.T, block values, set ...func(*fake.Options)) *bench {
	t.Helper()
	b := &bench{t: t, clock: clock.NewInstant(time.Now().Truncate(time.Second))}
	b.server = acctest.NewOpenSandbox(t, append(set, func(o *fake.Options) { o.Clock = b.clock })...)
	b.Protocol = acctest.NewProtocol(t, acctest.OpenSandboxClocked(b.clock), b.provider(block))
	return b
}

// provider is a provider block in which nothing waits before a retry.
func (b *bench) provider(more values) values {
	block := values{
		"domain": b.server.URL, "api_key": b.server.APIKey,
		"create": values{"retry_delay_seconds": 0}, "operations": values{"retry_delay_seconds": 0},
	}
	maps.Copy(block, more)
	return block
}

// again is the same server under another provider block: the provider of a later run.
func (b *bench) again(block values) *bench {
	b.t.Helper()
	later := *b
	later.Protocol = acctest.NewProtocol(b.t, acctest.OpenSandboxClocked(b.clock), b.provider(block))
	return &later
}

// make makes a sandbox.
func (b *bench) make(config values) acctest.Object {
	b.t.Helper()
	return b.apply(acctest.Object{}, config)
}

// apply plans and applies, without a replacement and without a word.
func (b *bench) apply(prior acctest.Object, config values) acctest.Object {
	b.t.Helper()
	change := b.plan(prior, config)
	if len(change.Replace) > 0 {
		b.t.Fatalf("a replacement is planned through %v", change.Replace)
	}
	object, diagnostics := b.Apply(b.t.Context(), change)
	if len(diagnostics) > 0 {
		b.t.Fatal(acctest.Text(diagnostics))
	}
	return object
}

func (b *bench) plan(prior acctest.Object, config values) acctest.Change {
	b.t.Helper()
	change := b.PlanChange(b.t.Context(), kind, prior, config)
	if len(change.Diagnostics) > 0 {
		b.t.Fatal(acctest.Text(change.Diagnostics))
	}
	return change
}

func (b *bench) refresh(prior acctest.Object) acctest.Object {
	b.t.Helper()
	object, diagnostics := b.Refresh(b.t.Context(), kind, prior)
	if len(diagnostics) > 0 {
		b.t.Fatal(acctest.Text(diagnostics))
	}
	return object
}

// text is an attribute's text.
func text(t *testing.T, of map[string]tftypes.Value, attribute string) string {
	t.Helper()
	var text *string
	if err := of[attribute].As(&text); err != nil || text == nil {
		return ""
	}
	return *text
}

// unknowns are the attributes of a plan that aren't known, by name.
func unknowns(change acctest.Change) []string {
	var names []string
	for name, value := range change.Attributes {
		if !value.IsFullyKnown() {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// changed are the attributes that a plan changes, known or not.
func changed(prior acctest.Object, change acctest.Change) []string {
	var names []string
	for name, value := range change.Attributes {
		if !value.Equal(prior.Attributes[name]) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func with(base values, more values) values {
	config := maps.Clone(base)
	maps.Copy(config, more)
	return config
}

var busybox = values{"image": "busybox"}

func TestPlanReplaces(t *testing.T) {
	t.Parallel()
	volume := func(path string) []any {
		return []any{values{"name": "v", "mount_path": "/v", "host": values{"path": path}}}
	}
	claim := func(more values) []any {
		return []any{values{"name": "v", "mount_path": "/v", "pvc": with(values{"claim_name": "c"}, more)}}
	}
	allow := values{"network_policy": values{"default_action": "allow"}}
	for title, c := range map[string]struct {
		before, after values
		through       string // "": the change replaces nothing
	}{
		"image":                   {busybox, values{"image": "alpine"}, "image"},
		"image to unknown":        {busybox, values{"image": acctest.Unknown}, "image"},
		"image to snapshot":       {busybox, values{"snapshot_id": "s"}, "image,snapshot_id"},
		"entrypoint":              {busybox, with(busybox, values{"entrypoint": []string{"sleep", "1h"}}), "entrypoint"},
		"resources":               {with(busybox, values{"resources": values{"cpu": 1}}), with(busybox, values{"resources": values{"cpu": 2}}), "resources"},
		"empty resources":         {busybox, with(busybox, values{"resources": values{}}), ""},
		"no text for a GPU type":  {with(busybox, values{"resources": values{"cpu": 1}}), with(busybox, values{"resources": values{"cpu": 1, "extended": map[string]any{}}}), ""},
		"requests":                {busybox, with(busybox, values{"resource_requests": values{"cpu": 1}}), "resource_requests"},
		"env":                     {busybox, with(busybox, values{"env": values{"A": "b"}}), "env"},
		"empty env":               {busybox, with(busybox, values{"env": values{}}), ""},
		"env_wo alone":            {with(busybox, values{"env_wo": values{"A": "b"}}), with(busybox, values{"env_wo": values{"A": "c"}}), ""},
		"env_wo_version":          {with(busybox, values{"env_wo_version": 1}), with(busybox, values{"env_wo_version": 2}), "env_wo_version"},
		"platform":                {busybox, with(busybox, values{"platform": values{"os": "linux", "arch": "amd64"}}), "platform"},
		"volume":                  {with(busybox, values{"volume": volume("/a")}), with(busybox, values{"volume": volume("/b")}), "volume"},
		"another volume":          {with(busybox, values{"volume": volume("/a")}), busybox, "volume"},
		"volume's default":        {with(busybox, values{"volume": claim(nil)}), with(busybox, values{"volume": claim(values{"create_if_not_exists": true, "storage_class": nil, "access_modes": []string{}})}), ""},
		"volume's class":          {with(busybox, values{"volume": claim(nil)}), with(busybox, values{"volume": claim(values{"storage_class": "fast"})}), "volume"},
		"secure_access":           {busybox, with(busybox, values{"secure_access": true}), "secure_access"},
		"secure_access spelt out": {busybox, with(busybox, values{"secure_access": false}), ""},
		"extensions":              {busybox, with(busybox, values{"extensions": values{"a": "b"}}), "extensions"},
		"pull policy":             {busybox, with(busybox, values{"image_pull_policy": "Always"}), "image_pull_policy"},
		"pre_start":               {busybox, with(busybox, values{"pre_start": values{"command": []string{"true"}}}), "pre_start"},
		"periodic":                {busybox, with(busybox, values{"periodic": []any{values{"name": "p", "schedule": "* * * * *", "command": []string{"true"}}}}), "periodic"},
		"files":                   {with(busybox, values{"files": values{"/a": values{"content": "x"}}}), with(busybox, values{"files": values{"/a": values{"content": "y"}}}), "files"},
		"file's mode":             {with(busybox, values{"files": values{"/a": values{"content": "x"}}}), with(busybox, values{"files": values{"/a": values{"content": "x", "mode": "600"}}}), "files"},
		"write-only file":         {with(busybox, values{"files": values{"/a": values{"content_wo": "x"}}}), with(busybox, values{"files": values{"/a": values{"content_wo": "y"}}}), ""},
		"files_wo_version":        {with(busybox, values{"files_wo_version": 1}), with(busybox, values{"files_wo_version": 2}), "files_wo_version"},
		"setup_script":            {busybox, with(busybox, values{"setup_script": "true"}), "setup_script"},
		"ttl comes":               {busybox, with(busybox, values{"ttl_seconds": 600}), "ttl_seconds"},
		"ttl goes":                {with(busybox, values{"ttl_seconds": 600}), busybox, "ttl_seconds"},
		"ttl changes":             {with(busybox, values{"ttl_seconds": 600}), with(busybox, values{"ttl_seconds": 900}), ""},
		"policy comes":            {busybox, with(busybox, allow), "network_policy"},
		"policy goes":             {with(busybox, allow), busybox, "network_policy"},
		"policy changes":          {with(busybox, allow), with(busybox, values{"network_policy": values{"default_action": "deny"}}), ""},
		"credential_proxy":        {with(busybox, allow), with(busybox, with(allow, values{"credential_proxy": true})), "credential_proxy"},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, nil, func(o *fake.Options) { o.EgressMode = "dns+nft" })
			made := b.make(c.before)
			change := b.plan(made, c.after)
			same(t, "what replaces", strings.Join(change.Replace, ","), c.through)
			if c.through == "" {
				b.apply(made, c.after)
			}
		})
	}
}

func TestPlanKeepsWhatIsKnown(t *testing.T) {
	t.Parallel()
	base := with(busybox, values{"ttl_seconds": 600, "exposed_ports": []int{80}, "vnc_port": 5900, "metadata": values{"a": "b"}, "network_policy": values{"default_action": "allow"}})
	for title, c := range map[string]struct {
		more    values
		changes []string
		unknown []string
	}{
		"nothing":           {nil, nil, nil},
		"teardown":          {values{"teardown_script": "true"}, []string{"teardown_script"}, nil},
		"metadata":          {values{"metadata": values{"a": "c d"}}, []string{"effective_metadata", "metadata"}, nil},
		"unknown metadata":  {values{"metadata": values{"a": acctest.Unknown}}, []string{"effective_metadata", "metadata"}, []string{"effective_metadata", "metadata"}},
		"other words":       {values{"metadata": values{"a": "b."}}, []string{"metadata"}, nil},
		"ttl":               {values{"ttl_seconds": 900}, []string{"expires_at", "ttl_seconds"}, []string{"expires_at"}},
		"renewal, not now":  {values{"renew_below_seconds": 60}, []string{"expires_at", "renew_below_seconds"}, []string{"expires_at"}},
		"a port more":       {values{"exposed_ports": []int{80, 81}}, []string{"exposed_ports", "ports"}, []string{"ports"}},
		"a port less":       {values{"exposed_ports": []int{}}, []string{"exposed_ports", "ports"}, nil},
		"unknown port":      {values{"exposed_ports": acctest.Unknown}, []string{"exposed_ports", "ports"}, []string{"exposed_ports", "ports"}},
		"display's port":    {values{"vnc_port": 5901}, []string{"vnc_port", "vnc_url"}, []string{"vnc_url"}},
		"no display":        {values{"vnc_port": nil}, []string{"vnc_port", "vnc_url"}, nil},
		"paused":            {values{"paused": true}, []string{"paused", "ports", "status", "status_message", "status_reason", "vnc_url"}, []string{"ports", "status", "status_message", "status_reason", "vnc_url"}},
		"paused as it is":   {values{"paused": false}, []string{"paused"}, nil},
		"policy":            {values{"network_policy": values{"default_action": "deny"}}, []string{"network_policy"}, nil},
		"on_create_failure": {values{"on_create_failure": "keep"}, []string{"on_create_failure"}, nil},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, nil)
			made := b.make(base)
			change := b.plan(made, with(base, c.more))
			same(t, "what changes", changed(made, change), c.changes)
			same(t, "what isn't known", unknowns(change), c.unknown)
			same(t, "what replaces", change.Replace, nil)
		})
	}
}

func TestPlanOfANewSandbox(t *testing.T) {
	t.Parallel()
	b := newBench(t, values{"default_metadata": values{"owner": "a/b", "team": "x"}})
	change := b.plan(acctest.Object{}, with(busybox, values{"exposed_ports": []int{80}, "metadata": values{"team": "red team!"}}))
	texts := func(attribute string) map[string]tftypes.Value {
		var texts map[string]tftypes.Value
		if err := change.Attributes[attribute].As(&texts); err != nil {
			t.Fatal(err)
		}
		return texts
	}
	same(t, "effective_metadata", texts("effective_metadata"), map[string]tftypes.Value{
		"owner": tftypes.NewValue(tftypes.String, "a_b"), "team": tftypes.NewValue(tftypes.String, "red_team"),
	})
	same(t, "keys of ports", slices.Collect(maps.Keys(texts("ports"))), []string{"80"})
	same(t, "vnc_url is null", change.Attributes["vnc_url"].IsNull(), true)
	same(t, "what isn't known", unknowns(change), []string{"attribution_metadata", "created_at", "expires_at", "id", "ports", "status", "status_message", "status_reason"})
}

func TestPlanRenewsByTheClock(t *testing.T) {
	t.Parallel()
	config := with(busybox, values{"ttl_seconds": 600, "renew_below_seconds": 300})
	b := newBench(t, nil)
	made := b.make(config)
	same(t, "what changes with 600 s left", changed(made, b.plan(made, config)), nil)

	b.clock.Advance(250 * time.Second)
	same(t, "what changes with 350 s left", changed(made, b.plan(made, config)), nil)
	same(t, "what isn't known when something else is updated", unknowns(b.plan(made, with(config, values{"metadata": values{"a": "b"}}))), []string{"expires_at"})

	b.clock.Advance(60 * time.Second)
	change := b.plan(made, config)
	same(t, "what changes with 290 s left", changed(made, change), []string{"expires_at"})
	renewed, diagnostics := b.Apply(t.Context(), change)
	if len(diagnostics) > 0 {
		t.Fatal(acctest.Text(diagnostics))
	}
	same(t, "renewals", b.server.Asked("POST", "/sandboxes/{id}/renew-expiration"), 1)
	if text(t, renewed.Attributes, "expires_at") < text(t, made.Attributes, "expires_at") {
		t.Error("expires_at went back")
	}
}

// Renewed by someone else between plan and apply, it isn't renewed again: apply decides by what the server says then.
func TestApplyDecidesWhetherToRenew(t *testing.T) {
	t.Parallel()
	config := with(busybox, values{"ttl_seconds": 600, "renew_below_seconds": 300})
	b := newBench(t, nil)
	made := b.make(config)
	b.clock.Advance(400 * time.Second)
	change := b.plan(made, config)
	same(t, "what changes", changed(made, change), []string{"expires_at"})
	later := b.clock.Now().Add(time.Hour)
	b.server.SetExpiry(text(t, made.Attributes, "id"), later)
	renewed, diagnostics := b.Apply(t.Context(), change)
	if len(diagnostics) > 0 {
		t.Fatal(acctest.Text(diagnostics))
	}
	same(t, "renewals", b.server.Asked("POST", "/sandboxes/{id}/renew-expiration"), 0)
	same(t, "expires_at", text(t, renewed.Attributes, "expires_at"), later.UTC().Format(time.RFC3339))
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
