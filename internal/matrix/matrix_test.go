package matrix_test

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/agentenv/terraform-provider-gpuvm/internal/figures"
	"github.com/agentenv/terraform-provider-gpuvm/internal/subject"
	core "github.com/agentenv/terraform-provider-gpuvm/internal/terraformcore"
)

func TestMatrix(t *testing.T) {
	debug.SetGCPercent(400)
	for _, of := range subject.All() {
		t.Run(of.Name, func(t *testing.T) {
			schemas, err := of.Served(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			m := &matrix{of: of, schemas: schemas, table: table{of.Smallest, of.Values, of.Requires}}
			t.Run("of", func(t *testing.T) {
				for _, p := range m.table.places(schemas.ResourceSchemas[of.Name].Block) {
					t.Run(p.String(), func(t *testing.T) {
						t.Parallel()
						m.try(t, p)
					})
				}
			})
			figures.Tell(t, "matrix-"+of.Name, fmt.Sprintf("%s: %d cells of absent, empty and unknown values: %d applied, %d refused with a readable error", of.Name, m.applied+m.refused, m.applied, m.refused))
		})
	}
}

// matrix is all cells of one type.
type matrix struct {
	of      *subject.Type
	schemas *core.Schemas
	table   table

	mu               sync.Mutex
	applied, refused int
}

// full is whether each cell meets each kind of answer and follows on a value, instead of one kind of answer each and every
// third after a value, which takes a quarter of the time.
var full = os.Getenv("MATRIX") == "full"

// try makes an object with each kind of nothing in one place, and changes one that has a value there.
func (m *matrix) try(t *testing.T, p place) {
	for i, c := range cells(p) {
		kinds := []answers{asEver, absent, null, emptied}
		if !full {
			kinds = kinds[(i+len(p.String()))%len(kinds):][:1]
		}
		for _, told := range kinds {
			m.inWorld(t, told, fmt.Sprintf("%s of %s, answers %s", c.name, p, told), func(r *trial) {
				r.up(m.table.config(p, c.plan), m.table.config(p, c.applied))
			})
		}
		if p.value == nil || c.name == "a value" || !full && i%3 != len(p.String())%3 {
			continue
		}
		m.inWorld(t, asEver, fmt.Sprintf("a value of %s, then %s", p, c.name), func(r *trial) {
			value := m.table.config(p, p.value)
			r.up(value, value)
			r.up(m.table.config(p, c.plan), m.table.config(p, c.applied))
			r.up(value, value)
		})
	}
}

// inWorld runs something with a service and a provider of its own, and destroys what it has made.
func (m *matrix) inWorld(t *testing.T, told answers, what string, do func(*trial)) {
	synctest.Test(t, func(t *testing.T) {
		world := m.of.Begin(m.schemas, map[string]bool{"knows-keys": true}, told.spoil(m.of))
		defer world.End()
		ctx := world.Context(t.Context())
		p, configured := world.Provider(ctx, nil)
		if configured.Failed() {
			t.Fatal(configured)
		}
		r := &trial{t: t, ctx: ctx, matrix: m, world: world, provider: p, what: what}
		do(r)
		r.down()
	})
}

// trial is one object on its way through a cell.
type trial struct {
	*matrix
	t        *testing.T
	ctx      context.Context //nolint:containedctx // of the bubble
	world    *subject.World
	provider *core.Provider
	what     string
	object   *core.Object
}

// up applies, and sees that nothing is left to do then, or that a readable error says why not.
func (r *trial) up(atPlan, atApply map[string]any) {
	out := r.provider.Up(r.ctx, r.of.Name, r.object, atPlan, atApply)
	r.object = out.Object
	r.judge(out)
	if out.Failed() {
		r.count(&r.refused)
		return
	}
	r.count(&r.applied)
	again := r.provider.Preview(r.ctx, r.of.Name, r.object, atApply)
	r.judge(again)
	switch {
	case len(again.Errors()) > 0 && out.Change.Action == core.NoOp: // nothing was applied, so nobody looked at what became known
	case again.Failed():
		r.t.Errorf("%s: the next plan fails: %s", r.what, again)
	case again.Change == nil || again.Object == nil:
		r.t.Errorf("%s: the object is gone", r.what)
	case again.Change.Action != core.NoOp:
		r.t.Errorf("%s: the next plan wants to %s because of %v\nbefore %v\nafter  %v", r.what, again.Change.Action, again.Change.Because,
			core.Plain(again.Change.Before), core.Plain(again.Change.After))
	default:
		r.object = again.Object
	}
}

func (r *trial) down() {
	if r.object != nil {
		out := r.provider.Down(r.ctx, r.object)
		r.judge(out)
		if out.Failed() {
			r.t.Errorf("%s: the destroy fails: %s", r.what, out)
		}
	}
	if left := r.world.Service.Standing(); len(left) > 0 {
		r.t.Errorf("%s: %v is left", r.what, left)
	}
}

func (r *trial) judge(out core.Outcome) {
	for _, fault := range out.Faults {
		r.t.Errorf("%s: %s", r.what, fault)
	}
	for _, d := range out.Errors() {
		if strings.Contains(d.Summary+d.Detail, "crashed") || d.Summary == "" || d.Detail == "" {
			r.t.Errorf("%s: %s: %s", r.what, d.Summary, d.Detail)
		}
	}
}

func (m *matrix) count(n *int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	*n++
}
