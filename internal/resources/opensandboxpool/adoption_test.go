package opensandboxpool_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/agentenv/terraform-provider-gpuvm/internal/acctest"
	"github.com/agentenv/terraform-provider-gpuvm/internal/clock"
	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/faults"
	fake "github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/opensandbox"
)

type values = acctest.Values

const kind = "opensandbox_pool"

// bench is the provider at protocol level and a server, on one clock that no wait of either holds up.
type bench struct {
	*acctest.Protocol
	server *acctest.OpenSandbox
}

func newBench(t *testing.T) *bench {
	t.Helper()
	instant := clock.NewInstant(time.Now().Truncate(time.Second))
	server := acctest.NewOpenSandbox(t, func(o *fake.Options) { o.Kubernetes, o.Clock = true, instant })
	return &bench{acctest.NewProtocol(t, acctest.OpenSandboxClocked(instant), values{"domain": server.URL, "api_key": server.APIKey}), server}
}

func wanted(template string, poolMax int) values {
	return values{"name": "warm", "template": template, "capacity": values{"buffer_min": 0, "buffer_max": 0, "pool_min": 0, "pool_max": poolMax}}
}

// must are diagnostics without an error.
func must(t *testing.T, diagnostics []*tfprotov6.Diagnostic) {
	t.Helper()
	for _, d := range diagnostics {
		if d.Severity == tfprotov6.DiagnosticSeverityError {
			t.Fatal(acctest.Text(diagnostics))
		}
	}
}

func (b *bench) changed() []string {
	var sent []string
	for _, r := range b.server.Faults().Requests() {
		if r.Method != "GET" {
			sent = append(sent, r.Method+" "+r.Path)
		}
	}
	return sent
}

// The server doesn't tell a template, so that the first apply after an import takes the configured one; what it tells of the
// capacity is compared.
func TestImportedPoolIsAdopted(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.server.AddPool("warm", fake.Capacity{PoolMax: 9}, true)
	imported, diagnostics := b.Import(t.Context(), kind, "warm")
	must(t, diagnostics)

	change := b.PlanChange(t.Context(), kind, imported, wanted(`{"a":1}`, 9))
	must(t, change.Diagnostics)
	if len(change.Replace) > 0 || !strings.Contains(acctest.Text(change.Diagnostics), "template") {
		t.Fatalf("replaced for %v\n%s", change.Replace, acctest.Text(change.Diagnostics))
	}
	adopted, diagnostics := b.Apply(t.Context(), change)
	must(t, diagnostics)
	if sent := b.changed(); len(sent) > 0 {
		t.Errorf("%v were sent", sent)
	}
	again := b.PlanChange(t.Context(), kind, adopted, wanted(`{"a":1}`, 9))
	must(t, again.Diagnostics)
	for attribute, before := range adopted.Attributes {
		if !before.Equal(again.Attributes[attribute]) {
			t.Errorf("a plan after the adoption changes %s to %s", attribute, again.Attributes[attribute])
		}
	}
	// From now on it is its own.
	other := b.PlanChange(t.Context(), kind, adopted, wanted(`{"a":2}`, 9))
	if !slices.Equal(other.Replace, []string{"template"}) {
		t.Errorf("another template replaces for %v", other.Replace)
	}
}

// A provider that is killed in the middle of the first apply takes the note of the import with it.
func TestAdoptionOfAPoolOutlivesTheNotes(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.server.AddPool("warm", fake.Capacity{PoolMax: 9}, true)
	imported, diagnostics := b.Import(t.Context(), kind, "warm")
	must(t, diagnostics)
	imported.Private = nil
	change := b.PlanChange(t.Context(), kind, imported, wanted(`{"a":1}`, 9))
	must(t, change.Diagnostics)
	if len(change.Replace) > 0 {
		t.Fatalf("replaced for %v", change.Replace)
	}
	adopted, diagnostics := b.Apply(t.Context(), change)
	must(t, diagnostics)
	other := b.PlanChange(t.Context(), kind, adopted, wanted(`{"a":2}`, 9))
	if sent := b.changed(); len(sent) > 0 || !slices.Equal(other.Replace, []string{"template"}) {
		t.Errorf("%v were sent; another template replaces for %v", sent, other.Replace)
	}
}

func TestImportedPoolOfAnotherCapacityIsChanged(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.server.AddPool("warm", fake.Capacity{PoolMax: 9}, true)
	imported, diagnostics := b.Import(t.Context(), kind, "warm")
	must(t, diagnostics)
	_, diagnostics = b.Apply(t.Context(), b.PlanChange(t.Context(), kind, imported, wanted(`{}`, 10)))
	must(t, diagnostics)
	if sent := b.changed(); !slices.Equal(sent, []string{"PUT /v1/pools/warm"}) || b.server.Pools()[0].Capacity.PoolMax != 10 {
		t.Errorf("%v were sent; the server has %v", sent, b.server.Pools())
	}
}

func TestImportOfNoPool(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for id, says := range map[string]string{"": "isn't usable", "..": "isn't usable"} {
		if _, diagnostics := b.Import(t.Context(), kind, id); !strings.Contains(acctest.Text(diagnostics), says) {
			t.Errorf("%q: %s", id, acctest.Text(diagnostics))
		}
	}
	if imported, diagnostics := b.Import(t.Context(), kind, "cold"); imported.Exists() {
		t.Errorf("imported %v\n%s", imported.Attributes, acctest.Text(diagnostics))
	}
}

// None of these faults makes a pool that no state knows.
func TestPoolWhoseAnswerIsLost(t *testing.T) {
	t.Parallel()
	for _, fault := range []faults.Fault{{Kind: faults.ResetAfter}, {Kind: faults.Cut}, {Kind: faults.Garbage}, {Kind: faults.StatusAfter, Status: 502}, {Kind: faults.ResetBefore}} {
		b := newBench(t)
		fault.Method = "POST"
		b.server.Faults().Order(fault)
		made, diagnostics := b.Apply(t.Context(), b.PlanChange(t.Context(), kind, acctest.Object{}, wanted(`{}`, 1)))
		if len(diagnostics) > 0 || !made.Exists() || len(b.server.Pools()) != 1 {
			t.Errorf("%s: the server has %v\n%s", fault.Kind, b.server.Pools(), acctest.Text(diagnostics))
		}
	}
}

// A pool of which nobody can say whether it was made is kept tainted, and a destroy ends it.
func TestPoolInDoubtIsKnown(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.server.Faults().Order(
		faults.Fault{Method: "POST", Path: "/v1/pools", Kind: faults.ResetAfter},
		faults.Fault{Method: "GET", Path: "/v1/pools/warm", Status: 503, Skip: 1, Times: -1},
		faults.Fault{Method: "POST", Path: "/v1/pools", Status: 503, Skip: 1, Times: -1},
	)
	made, diagnostics := b.Apply(t.Context(), b.PlanChange(t.Context(), kind, acctest.Object{}, wanted(`{}`, 1)))
	if !made.Exists() || !strings.Contains(acctest.Text(diagnostics), "could not be found out") {
		t.Fatalf("kept: %t\n%s", made.Exists(), acctest.Text(diagnostics))
	}
	b.server.Faults().Clear()
	_, diagnostics = b.Apply(t.Context(), b.PlanChange(t.Context(), kind, made, nil))
	must(t, diagnostics)
	if left := b.server.Pools(); len(left) > 0 {
		t.Errorf("the server has %v", left)
	}
}

func TestPoolGoneDuringAnUpdateStaysInTheState(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	made, diagnostics := b.Apply(t.Context(), b.PlanChange(t.Context(), kind, acctest.Object{}, wanted(`{}`, 1)))
	must(t, diagnostics)
	change := b.PlanChange(t.Context(), kind, made, wanted(`{}`, 2))
	b.server.Faults().Order(faults.Fault{Method: "PUT", Status: 404})
	after, diagnostics := b.Apply(t.Context(), change)
	if !after.Exists() || !strings.Contains(acctest.Text(diagnostics), "plan again") {
		t.Errorf("kept: %t\n%s", after.Exists(), acctest.Text(diagnostics))
	}
}
