package hostile_test

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/faults"
	"github.com/agentenv/terraform-provider-gpuvm/internal/subject"
	core "github.com/agentenv/terraform-provider-gpuvm/internal/terraformcore"
)

// hostility is something that a service does to every request, or to those of one kind.
type hostility struct {
	name   string
	faults []faults.Fault
	wrap   func(http.Handler) http.Handler
	says   []string // one of which stands in the error
}

// What errors say of what takes too long.
const (
	late = "no complete answer within"
	past = "the deadline of this operation has passed"
)

var hostilities = []hostility{
	{
		name: "answers that never end, at full speed", says: []string{"longer than"},
		wrap: flood,
	},
	{name: "answers that never end, slowly", faults: always(faults.Fault{Kind: faults.Endless, Delay: 2 * time.Second}), says: []string{late, past, "longer than"}},
	{name: "answers that drip", faults: always(faults.Fault{Kind: faults.Slow, Delay: 5 * time.Second}), says: []string{late, past}},
	{name: "no answer", faults: always(faults.Fault{Kind: faults.Hang, Before: true}), says: []string{late, past}},
	{name: "redirects in a circle", faults: always(faults.Fault{Kind: faults.Redirect, Location: "/v1/round"}), says: []string{"redirected"}},
	{name: "redirects to another host", faults: always(faults.Fault{Kind: faults.Redirect, Location: "https://evil.example/"}), says: []string{"redirected to https://evil.example/"}},
	{name: "redirects to nowhere", faults: always(faults.Fault{Kind: faults.Redirect, Location: "http://["}), says: []string{"redirected, but not to a valid URL"}},
	{name: "pages of a gateway", faults: always(faults.Fault{Kind: faults.HTML}), says: []string{"502 Bad Gateway"}},
	{name: "JSON without an end", wrap: nested, says: []string{"not the JSON", "isn't what", "longer than"}},
	{name: "a header without an end", wrap: header, says: []string{"header"}},
	{name: "a Retry-After of years", faults: always(faults.Fault{Kind: faults.Status, Status: 503, RetryAfter: "99999999"}), says: []string{"after the deadline", "the next attempt would come in"}},
	{name: "too many requests, for ever", faults: always(faults.Fault{Kind: faults.Status, Status: 429, RetryAfter: "1"}), says: []string{"HTTP 429"}},
}

func always(f faults.Fault) []faults.Fault {
	f.Times = -1
	return []faults.Fault{f}
}

// flood answers with text for as long as it is read.
func flood(http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		chunk := []byte(`"` + strings.Repeat("x", 1<<20) + `",`)
		_, err := w.Write([]byte(`{"id":[`))
		for err == nil {
			_, err = w.Write(chunk)
		}
	})
}

// nested answers with what takes a careless reader's stack.
func nested(http.Handler) http.Handler {
	body := []byte(strings.Repeat(`{"a":[`, 1<<13))
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(body) // a client that has gone needs no answer
	})
}

func header(http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for i := range 8 {
			w.Header().Set(fmt.Sprintf("X-%d", i), strings.Repeat("h", 64<<10))
		}
	})
}

// Bounds of one command against a hostile service: no deadlines of a command add up to more, by the time of the bubble; and
// memory in use grows by no more than a few bounded answers take.
const (
	bound     = 2 * time.Hour
	maxMemory = 256 << 20
)

func TestHostileServices(t *testing.T) {
	for _, of := range []*subject.Type{subject.GPUVMInstance, subject.OpenSandboxSandbox} {
		schemas, err := of.Served(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range hostilities {
			t.Run(of.Name+"/"+h.name, func(t *testing.T) { meet(t, of, schemas, h) })
		}
	}
}

// meet creates under one hostility, then refreshes and destroys what stands.
func meet(t *testing.T, of *subject.Type, schemas *core.Schemas, h hostility) {
	synctest.Test(t, func(t *testing.T) {
		e := &encounter{t: t, hostility: h}
		e.world = of.Begin(schemas, map[string]bool{"knows-keys": true}, e.between)
		defer e.world.End()
		e.ctx = e.world.Context(t.Context())

		create := func(p *core.Provider) core.Outcome { return p.Up(e.ctx, of.Name, nil, of.Smallest, of.Smallest) }
		e.suffer("apply", create)
		synctest.Wait()                                 // a create that was held back may be carried out now
		for _, id := range e.world.Service.Standing() { // an answer that was lost, and is named in the error
			e.world.Service.Disturb("delete", id)
		}
		made := e.calmly(create)
		if made.Failed() {
			t.Fatal(made)
		}
		if out := e.suffer("refresh", func(p *core.Provider) core.Outcome { return p.Reread(e.ctx, made.Object) }); out.Object == nil {
			t.Error("a refresh dropped what stands from the state")
		}
		destroy := func(p *core.Provider) core.Outcome { return p.Down(e.ctx, made.Object) }
		if out := e.suffer("destroy", destroy); out.Object == nil {
			t.Error("a destroy that failed dropped what stands from the state")
		}
		if down := e.calmly(destroy); down.Failed() || len(e.world.Service.Standing()) > 0 {
			t.Errorf("what is left can't be destroyed: %s", down)
		}
	})
}

// encounter is a provider's with one hostile service.
type encounter struct {
	hostility
	t     *testing.T
	ctx   context.Context //nolint:containedctx // of the bubble
	world *subject.World
	on    atomic.Bool
	peak  atomic.Uint64 // of memory in use, in bytes
}

// between stands between network and service.
func (e *encounter) between(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if now := inUse(); now > e.peak.Load() {
			e.peak.Store(now)
		}
		if e.on.Load() && e.wrap != nil {
			e.wrap(next).ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// calmly runs a command with a provider of its own, as every command has one, while the service behaves.
func (e *encounter) calmly(do func(*core.Provider) core.Outcome) core.Outcome {
	p, configured := e.world.Provider(e.ctx, nil)
	if configured.Failed() {
		e.t.Fatal(configured)
	}
	return do(p)
}

// suffer runs a command while it doesn't.
func (e *encounter) suffer(what string, do func(*core.Provider) core.Outcome) core.Outcome {
	e.on.Store(true)
	e.world.Service.Faults().Order(e.faults...)
	defer func() {
		e.on.Store(false)
		e.world.Service.Faults().Clear()
	}()
	runtime.GC()
	start, before := time.Now(), inUse()
	e.peak.Store(before)
	out := e.calmly(do)
	for _, fault := range out.Faults {
		e.t.Errorf("%s: %s", what, fault)
	}
	if took := time.Since(start); took > bound {
		e.t.Errorf("%s took %s", what, took)
	}
	if peak := e.peak.Load(); peak > before+maxMemory {
		e.t.Errorf("%s took up to %d MiB of memory", what, (peak-before)>>20)
	}
	if text := out.String(); len(out.Errors()) == 0 || !says(text, e.says) {
		e.t.Errorf("%s: the error says none of %q: %s", what, e.says, text)
	}
	return out
}

func says(text string, some []string) bool {
	for _, one := range some {
		if strings.Contains(text, one) {
			return true
		}
	}
	return false
}

// inUse is the memory in use, with what isn't collected yet, in bytes.
func inUse() uint64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}
