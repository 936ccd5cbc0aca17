package opensandboxsandbox_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentenv/terraform-provider-gpuvm/internal/acctest"
	"github.com/agentenv/terraform-provider-gpuvm/internal/clock"
	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/faults"
	fake "github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/opensandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/provider"
)

type values = acctest.Values

const (
	kind = "opensandbox_sandbox"
	box  = `{"image":{"uri":"busybox"},"entrypoint":["tail"],"resourceLimits":{"cpu":"1"}%s}`
)

// bench is the provider at protocol level, and a server.
type bench struct {
	*acctest.Protocol
	server *acctest.OpenSandbox
}

func newBench(t *testing.T, set ...func(*fake.Options)) *bench {
	t.Helper()
	server := acctest.NewOpenSandbox(t, set...)
	return &bench{acctest.NewProtocol(t, provider.OpenSandbox("test")(), values{"domain": server.URL, "api_key": server.APIKey, "max_retries": 0}), server}
}

func ids(found []acctest.Listed) []string {
	all := []string{}
	for _, listed := range found {
		all = append(all, listed.ID)
	}
	return all
}

func TestSandboxesAreListed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	red := b.server.Make(t, fmt.Sprintf(box, `,"metadata":{"team":"red"}`))
	blue := b.server.Make(t, fmt.Sprintf(box, `,"metadata":{"team":"blue"}`))
	b.server.Exit(blue, 0)
	for title, c := range map[string]struct {
		query acctest.Query
		want  []string
	}{
		"all":      {acctest.Query{Limit: 100}, []string{blue, red}},
		"states":   {acctest.Query{Limit: 100, Config: values{"states": []string{"running"}}}, []string{red}},
		"metadata": {acctest.Query{Limit: 100, Config: values{"metadata": map[string]string{"team": "blue"}}}, []string{blue}},
		"neither":  {acctest.Query{Limit: 100, Config: values{"metadata": map[string]string{"team": "blue"}, "states": []string{"Running"}}}, []string{}},
		"limit":    {acctest.Query{Limit: 1}, []string{blue}},
	} {
		found, diagnostics := b.List(t.Context(), kind, c.query)
		if len(diagnostics) > 0 || !slices.Equal(ids(found), c.want) {
			t.Errorf("%s: found %v, want %v\n%s", title, ids(found), c.want, acctest.Text(diagnostics))
		}
		for _, listed := range found {
			if listed.Attributes != nil || !strings.HasPrefix(listed.DisplayName, "busybox:latest (") {
				t.Errorf("%s: %+v", title, listed)
			}
		}
	}
}

func TestBadFiltersAreRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, config := range []values{{"states": []string{""}}, {"states": []any{nil}}, {"metadata": map[string]any{"a": nil}}} {
		if _, diagnostics := b.List(t.Context(), kind, acctest.Query{Config: config}); len(diagnostics) == 0 {
			t.Errorf("%v is accepted", config)
		}
	}
}

// pages counts the pages that were asked for since the last time.
func (b *bench) pages() int {
	count := len(b.server.Faults().Requests())
	b.server.Faults().Reset()
	return count
}

// A page is 200 sandboxes, and the next one is asked for when Terraform takes the first of them.
func TestPagesAreStreamed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for range 450 {
		b.server.Make(t, fmt.Sprintf(box, ""))
	}
	for title, c := range map[string]struct {
		query        acctest.Query
		found, pages int
	}{
		"all":            {acctest.Query{Limit: 1000}, 450, 3},
		"one page":       {acctest.Query{Limit: 200}, 200, 1},
		"one more":       {acctest.Query{Limit: 201}, 201, 2},
		"no limit":       {acctest.Query{}, 450, 3},
		"taken in part":  {acctest.Query{Limit: 1000, Take: 10}, 10, 1},
		"whole resource": {acctest.Query{Limit: 300, IncludeResource: true}, 300, 2},
	} {
		found, diagnostics := b.List(t.Context(), kind, c.query)
		all := ids(found)
		slices.Sort(all)
		if pages := b.pages(); len(diagnostics) > 0 || len(slices.Compact(all)) != c.found || pages != c.pages {
			t.Errorf("%s: found %d in %d pages, want %d in %d\n%s", title, len(found), pages, c.found, c.pages, acctest.Text(diagnostics))
		}
	}
	b.server.Faults().Order(faults.Fault{Method: "GET", Path: "/v1/sandboxes", Status: 500, Skip: 1, Times: -1})
	found, diagnostics := b.List(t.Context(), kind, acctest.Query{Limit: 1000})
	if len(found) != 200 || len(diagnostics) != 1 || diagnostics[0].Summary != "Sandboxes can't be listed" {
		t.Errorf("found %d before the failure\n%s", len(found), acctest.Text(diagnostics))
	}
}

func TestWrongKey(t *testing.T) {
	t.Parallel()
	server := acctest.NewOpenSandbox(t)
	protocol := acctest.NewProtocol(t, provider.OpenSandbox("test")(), values{"domain": server.URL, "api_key": "wrong"})
	found, diagnostics := protocol.List(t.Context(), kind, acctest.Query{Limit: 1})
	if len(found) != 0 || !strings.Contains(acctest.Text(diagnostics), "api_key") {
		t.Errorf("found %v\n%s", found, acctest.Text(diagnostics))
	}
}

// Whatever a sandbox came from, what is listed of it is valid configuration with exactly one source, and the first apply after its
// import keeps it.
func TestListedSandboxMakesValidConfiguration(t *testing.T) {
	t.Parallel()
	pooled := `{"extensions":{"poolRef":"warm"}%s}`
	for title, c := range map[string]struct {
		kubernetes, newer bool
		body              string
		want              values
		warns             bool
	}{
		"image":                {body: fmt.Sprintf(box, ""), want: values{"image": "busybox:latest"}},
		"image, expiring":      {body: fmt.Sprintf(box, `,"timeout":3600`), want: values{"image": "busybox:latest", "ttl_seconds": 3600}},
		"platform":             {body: fmt.Sprintf(box, `,"platform":{"os":"linux","arch":"arm64"}`), want: values{"image": "busybox:latest", "platform": values{"os": "linux", "arch": "arm64"}}},
		"on Kubernetes":        {kubernetes: true, body: fmt.Sprintf(box, `,"timeout":60`), want: values{"image": "busybox", "ttl_seconds": 60}},
		"pool, newer server":   {kubernetes: true, newer: true, body: fmt.Sprintf(pooled, ""), want: values{"pool_ref": "warm"}},
		"pool, as it was once": {kubernetes: true, body: fmt.Sprintf(pooled, `,"timeout":600`), want: values{"pool_ref": "unknown", "ttl_seconds": 600}, warns: true},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			now := clock.NewManual(time.Now().Truncate(time.Second)) // so that no time passes between the two ends of a life
			b := newBench(t, func(o *fake.Options) { o.Kubernetes, o.Newer, o.Clock = c.kubernetes, c.newer, now })
			b.server.AddPool("warm", fake.Capacity{BufferMin: 1, BufferMax: 1, PoolMax: 3}, true)
			b.isKept(t, b.server.Make(t, c.body), c.want, c.warns)
		})
	}
	t.Run("snapshot", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		source := b.server.Make(t, fmt.Sprintf(box, ""))
		made, diagnostics := b.Apply(t.Context(), b.PlanChange(t.Context(), "opensandbox_snapshot", acctest.Object{}, values{"sandbox_id": source}))
		if len(diagnostics) > 0 {
			t.Fatal(acctest.Text(diagnostics))
		}
		var snapshot string
		if err := made.Attributes["id"].As(&snapshot); err != nil {
			t.Fatal(err)
		}
		restored := b.server.Make(t, fmt.Sprintf(`{"snapshotId":%q,"resourceLimits":{"cpu":"1"}}`, snapshot))
		b.isKept(t, restored, values{"snapshot_id": snapshot}, false)
	})
}

// isKept lists one sandbox, imports it and plans it under the configuration that is generated from what was listed.
func (b *bench) isKept(t *testing.T, id string, want values, warns bool) {
	t.Helper()
	found, diagnostics := b.List(t.Context(), kind, acctest.Query{Limit: 1, IncludeResource: true})
	if len(found) != 1 || found[0].ID != id || len(diagnostics) > 0 != warns {
		t.Fatalf("found %v\n%s", found, acctest.Text(diagnostics))
	}
	config := b.generated(t, found[0])
	for name, value := range want {
		if !has(config[name], value) {
			t.Errorf("%s is %v, want %v", name, config[name], value)
		}
	}
	if len(config) != len(want) {
		t.Errorf("generated configuration has %v, want %v", config, want)
	}
	imported, diagnostics := b.Import(t.Context(), kind, id)
	if len(diagnostics) > 0 {
		t.Fatal(acctest.Text(diagnostics))
	}
	change := b.PlanChange(t.Context(), kind, imported, config)
	for _, d := range change.Diagnostics {
		if d.Severity == tfprotov6.DiagnosticSeverityError {
			t.Fatal(acctest.Text(change.Diagnostics))
		}
	}
	if len(change.Replace) > 0 {
		t.Errorf("it would be replaced for %v", change.Replace)
	}
}

// generated is what Terraform writes of a listed resource: the arguments that have a value.
func (b *bench) generated(t *testing.T, listed acctest.Listed) values {
	t.Helper()
	config := values{}
	for _, attribute := range b.Schemas.ResourceSchemas[kind].Block.Attributes {
		value := listed.Attributes[attribute.Name]
		if (attribute.Optional || attribute.Required) && !value.IsNull() {
			config[attribute.Name] = value
		}
	}
	return config
}

func has(value any, want any) bool {
	got, ok := value.(tftypes.Value)
	if !ok {
		return false
	}
	if object, ok := want.(values); ok {
		var members map[string]tftypes.Value
		if got.As(&members) != nil || len(members) != len(object) {
			return false
		}
		for name, member := range object {
			if !has(members[name], member) {
				return false
			}
		}
		return true
	}
	return got.Equal(tftypes.NewValue(got.Type(), want))
}

// The whole resource tells what the server does.
func TestListedResourceIsWhole(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	id := b.server.Make(t, fmt.Sprintf(box, `,"metadata":{"team":"red","agentenv.dev/create-id":"x"}`))
	found, diagnostics := b.List(t.Context(), kind, acctest.Query{IncludeResource: true})
	if len(found) != 1 || len(diagnostics) > 0 {
		t.Fatalf("found %v\n%s", found, acctest.Text(diagnostics))
	}
	attributes := found[0].Attributes
	for name, want := range map[string]any{"id": id, "status": "Running", "image": "busybox:latest"} {
		if !has(attributes[name], want) {
			t.Errorf("%s is %v, want %v", name, attributes[name], want)
		}
	}
	var metadata map[string]tftypes.Value
	if err := attributes["effective_metadata"].As(&metadata); err != nil || len(metadata) != 1 || !has(metadata["team"], "red") {
		t.Errorf("metadata %v", metadata)
	}
}
