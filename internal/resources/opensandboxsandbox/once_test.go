package opensandboxsandbox_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/acctest"
	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/faults"
	fake "github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/opensandbox"
)

const posts = "/v1/sandboxes"

// createFaults is what can happen to a create, as users reported it. Each leaves open whether there is a sandbox.
var createFaults = map[string]faults.Fault{
	"answer lost":                       {Method: "POST", Path: posts, Kind: faults.ResetAfter},
	"504 of a gateway":                  {Method: "POST", Path: posts, Kind: faults.StatusAfter, Status: 504},
	"502 of a gateway, nothing done":    {Method: "POST", Path: posts, Kind: faults.HTML},
	"reset before":                      {Method: "POST", Path: posts, Kind: faults.ResetBefore},
	"500 before":                        {Method: "POST", Path: posts, Status: 500},
	"half an answer":                    {Method: "POST", Path: posts, Kind: faults.Cut},
	"an answer that is no JSON":         {Method: "POST", Path: posts, Kind: faults.Garbage},
	"an answer of another shape":        {Method: "POST", Path: posts, Kind: faults.Empty},
	"429, to be tried again":            {Method: "POST", Path: posts, Status: 429, RetryAfter: "1"},
	"503, to be tried again":            {Method: "POST", Path: posts, Status: 503, RetryAfter: "1"},
	"a list that fails":                 {Method: "GET", Path: posts, Status: 500},
	"a list that is reset":              {Method: "GET", Path: posts, Kind: faults.ResetBefore},
	"a first look that fails":           {Method: "GET", Path: posts + "/*", Status: 502},
	"a first look that comes too early": {Method: "GET", Path: posts + "/*", Status: 404},
}

// checkOnce says whether the server holds exactly what the state holds, and the state no mark of the create.
func (b *bench) checkOnce(made acctest.Object, said string) {
	b.t.Helper()
	held := b.server.Sandboxes()
	switch {
	case !made.Exists() && len(held) > 0:
		b.t.Errorf("the server holds %d sandboxes that no state knows; it was said: %s", len(held), said)
	case made.Exists() && (len(held) != 1 || held[0].ID != text(b.t, made.Attributes, "id")):
		b.t.Errorf("the state holds %s, the server %d sandboxes; it was said: %s", text(b.t, made.Attributes, "id"), len(held), said)
	}
}

func TestExactlyOnceCreate(t *testing.T) {
	t.Parallel()
	for title, fault := range createFaults {
		for lag, of := range map[string]time.Duration{"": 0, ", slow list": 3 * time.Second} {
			t.Run(title+lag, func(t *testing.T) {
				t.Parallel()
				b := newBench(t, nil, func(o *fake.Options) { o.ListLag = of })
				b.server.Faults().Order(fault)
				made, diagnostics := b.Apply(t.Context(), b.plan(acctest.Object{}, with(busybox, values{"metadata": values{"a": "b"}})))
				b.checkOnce(made, acctest.Text(diagnostics))
				if !made.Exists() {
					t.Errorf("one fault is too much: %s", acctest.Text(diagnostics))
				}
				same(t, "metadata", b.own(), map[string]string{"a": "b"})
				b.destroy(made)
			})
		}
	}
}

// Faults mixed at random: whatever comes of the create, state and server agree.
func TestExactlyOnceCreateUnderMixedFaults(t *testing.T) {
	t.Parallel()
	const histories = 150
	var kinds []faults.Fault
	for _, title := range sortedKeys(createFaults) {
		kinds = append(kinds, createFaults[title])
	}
	var refused atomic.Int64
	t.Cleanup(func() { t.Logf("%d histories, %d of which made no sandbox", histories, refused.Load()) })
	for seed := range uint64(histories) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 1))
			b := newBench(t, nil, func(o *fake.Options) { o.ListLag = time.Duration(random.IntN(4)) * time.Second })
			for range 1 + random.IntN(5) {
				fault := kinds[random.IntN(len(kinds))]
				fault.Skip, fault.Times = random.IntN(2), 1+random.IntN(2)
				b.server.Faults().Order(fault)
			}
			object, diagnostics := b.Apply(t.Context(), b.plan(acctest.Object{}, busybox))
			b.server.Faults().Clear()
			b.checkOnce(object, acctest.Text(diagnostics))
			if object.Exists() {
				b.destroy(object)
			} else {
				refused.Add(1)
			}
		})
	}
}

// Where nothing can be found out, the error names the key to look for.
func TestUnknownOutcomeNamesTheKey(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.server.Faults().Order(
		faults.Fault{Method: "POST", Path: posts, Kind: faults.ResetAfter, Times: -1},
		faults.Fault{Method: "GET", Path: posts, Status: 500, Times: -1},
	)
	made, diagnostics := b.Apply(t.Context(), b.plan(acctest.Object{}, busybox))
	said := acctest.Text(diagnostics)
	key := only(t, b.server).Metadata["agentenv.dev/create-id"]
	if key == "" || !strings.Contains(said, key) || !strings.Contains(said, "agentenv.dev/create-id") {
		t.Errorf("it says %s", said)
	}
	same(t, "state", made.Exists(), false)
	same(t, "creates", b.server.Asked("POST", "/sandboxes"), 1)
}
