package history

import (
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/faults"
	"github.com/agentenv/terraform-provider-gpuvm/internal/subject"
	core "github.com/agentenv/terraform-provider-gpuvm/internal/terraformcore"
)

// Generate makes the history of a seed: the same seed makes the same one.
func Generate(t *subject.Type, schemas *core.Schemas, seed uint64) History {
	g := &generator{rand: rand.New(rand.NewPCG(seed, 0)), of: t, schemas: schemas} // repetition, not secrecy
	h := History{Type: t, Seed: seed, Settings: map[string]any{}}
	for _, temper := range t.Tempers {
		if g.chance(30) {
			h.Temper = append(h.Temper, temper)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(t.Settings)) {
		if g.chance(25) {
			h.Settings[name] = g.pick(t.Settings[name])
		}
	}
	calm := g.chance(15) // a history without faults shows what ought to work
	config := g.config()
	for range 2 + g.rand.IntN(6) {
		step := g.step(&config)
		if !calm {
			g.strike(&step)
		}
		h.Steps = append(h.Steps, step)
	}
	return h
}

type generator struct {
	rand    *rand.Rand
	of      *subject.Type
	schemas *core.Schemas
}

func (g *generator) chance(percent int) bool { return g.rand.IntN(100) < percent }

func (g *generator) pick(from []any) any { return from[g.rand.IntN(len(from))] }

// config chooses a value for some of the attributes and blocks that can be configured.
func (g *generator) config() map[string]any {
	config := maps.Clone(g.of.Smallest)
	for _, name := range g.configurable() {
		if _, needed := g.of.Smallest[name]; g.chance(18) || needed && g.chance(40) {
			g.set(config, name)
		}
	}
	if len(g.of.Bundles) > 0 && g.chance(12) {
		for name, value := range g.of.Bundles[g.rand.IntN(len(g.of.Bundles))] {
			if config[name] = value; value == nil {
				delete(config, name)
			}
		}
	}
	return config
}

func (g *generator) set(config map[string]any, name string) {
	if value := g.pick(g.values(name)); value == nil {
		delete(config, name)
	} else {
		config[name] = value
	}
	maps.Copy(config, g.of.Requires[name])
}

// configurable are the names of the attributes and blocks that a user may write.
func (g *generator) configurable() []string {
	block := g.schemas.ResourceSchemas[g.of.Name].Block
	var names []string
	for _, a := range block.Attributes {
		if a.Optional || a.Required {
			names = append(names, a.Name)
		}
	}
	for _, b := range block.BlockTypes {
		names = append(names, b.TypeName)
	}
	slices.Sort(names)
	return names
}

// values are those of the table, else some of the attribute's type.
func (g *generator) values(name string) []any {
	if values, ok := g.of.Values[name]; ok {
		return values
	}
	for _, a := range g.schemas.ResourceSchemas[g.of.Name].Block.Attributes {
		if a.Name == name {
			return []any{exampleOf(a)}
		}
	}
	return []any{nil}
}

// exampleOf is a value for an attribute that nobody has told anything of yet.
func exampleOf(a *tfprotov6.SchemaAttribute) any {
	switch t := a.ValueType(); {
	case t.Is(tftypes.String):
		return "x"
	case t.Is(tftypes.Number):
		return 1
	case t.Is(tftypes.Bool):
		return true
	case t.Is(tftypes.Map{}):
		return map[string]any{}
	case t.Is(tftypes.List{}), t.Is(tftypes.Set{}):
		return []any{}
	}
	return nil
}

// step chooses what happens next; config is the user's, and changes with time.
func (g *generator) step(config *map[string]any) Step {
	switch n := g.rand.IntN(100); {
	case n < 52:
		if g.chance(55) {
			g.edit(config)
		}
		return g.late(Step{Kind: Apply, Config: maps.Clone(*config)})
	case n < 60:
		return g.late(Step{Kind: Plan, Config: maps.Clone(*config)})
	case n < 68:
		return Step{Kind: Refresh}
	case n < 76:
		return Step{Kind: Destroy}
	case n < 84:
		return Step{Kind: Import}
	case n < 93:
		return Step{Kind: Others, Act: g.of.Disturbances[g.rand.IntN(len(g.of.Disturbances))]}
	case n < 97:
		return Step{Kind: Wait, Pass: time.Duration(1+g.rand.IntN(90)) * time.Minute}
	default:
		return Step{Kind: Wait}
	}
}

// edit is a user at the configuration: one or two attributes change, come or go; at times it is written anew.
func (g *generator) edit(config *map[string]any) {
	if g.chance(20) {
		*config = g.config()
		return
	}
	names := g.configurable()
	*config = maps.Clone(*config)
	for range 1 + g.rand.IntN(2) {
		name := names[g.rand.IntN(len(names))]
		if smallest, needed := g.of.Smallest[name]; g.chance(35) && !needed {
			delete(*config, name)
		} else if needed && g.chance(50) {
			(*config)[name] = smallest
		} else {
			g.set(*config, name)
		}
	}
}

// late makes some of a configuration known only at apply.
func (g *generator) late(s Step) Step {
	if g.chance(80) {
		return s
	}
	for _, name := range slices.Sorted(maps.Keys(s.Config)) {
		if !g.isBlock(name) && g.chance(40) {
			s.Late = append(s.Late, name)
		}
	}
	return s
}

func (g *generator) isBlock(name string) bool {
	for _, b := range g.schemas.ResourceSchemas[g.of.Name].Block.BlockTypes {
		if b.TypeName == name {
			return true
		}
	}
	return false
}

// strike adds faults, several at times, and an interrupt now and then.
func (g *generator) strike(s *Step) {
	if s.Kind == Others || s.Kind == Wait {
		return
	}
	for n := g.rand.IntN(100); n < 55; n += 20 + g.rand.IntN(40) {
		s.Faults = append(s.Faults, g.fault())
	}
	if g.chance(15) {
		s.Interrupt = 1 + g.rand.IntN(7)
	}
}

var kinds = []faults.Kind{
	faults.Status, faults.Status, faults.Status, faults.StatusAfter, faults.StatusAfter, faults.ResetBefore, faults.ResetBefore, faults.ResetAfter,
	faults.ResetAfter, faults.Cut, faults.Cut, faults.Garbage, faults.Empty, faults.Delay, faults.Hang, faults.Redirect, faults.HTML, faults.Slow,
}

var (
	statuses    = []int{400, 401, 403, 404, 408, 409, 410, 422, 425, 429, 429, 500, 500, 502, 503, 503, 504, 200, 201, 204, 303}
	retryAfters = []string{"", "", "0", "1", "7", "600", "Sat, 01 Jan 2000 00:10:00 GMT", "soon", "-1"}
	bodies      = []string{"", "", "", `{"error":"not today"}`, "plain text", `{"detail":[{"loc":["body","x"],"msg":"bad","input":"x"}]}`, "[1,2", "null", `"x"`, "<html>"}
)

func (g *generator) fault() faults.Fault {
	f := faults.Fault{Kind: kinds[g.rand.IntN(len(kinds))], Skip: max(0, g.rand.IntN(6)-3)}
	if g.chance(60) {
		request := g.of.Requests[g.rand.IntN(len(g.of.Requests))]
		f.Method, f.Path = request.Method, request.Path
	}
	switch {
	case g.chance(25):
		f.Times = 2 + g.rand.IntN(5)
	case g.chance(6):
		f.Times = -1
	}
	if g.chance(2) {
		f.Kind = faults.Endless
	}
	switch f.Kind { //nolint:exhaustive // the other kinds need nothing more
	case faults.Status, faults.StatusAfter:
		f.Status = statuses[g.rand.IntN(len(statuses))]
		f.RetryAfter = retryAfters[g.rand.IntN(len(retryAfters))]
		if f.Kind == faults.StatusAfter { // any other status after the fact would be a lie: not a fault, but a false answer
			f.Status, f.RetryAfter = []int{500, 502, 503, 504}[g.rand.IntN(4)], ""
		}
		if done := f.Status < 300 && f.Method != http.MethodGet && f.Method != http.MethodPost; done {
			f.Status = 500 // so does one that says it has done what it hasn't
		}
		if isGone := f.Status == 404 || f.Status == 410; isGone && f.Method != http.MethodPost && f.Method != http.MethodPut {
			f.Status = 500 // a service that says so of what stands lies, and must be believed
		}
		f.Body = bodies[g.rand.IntN(len(bodies))]
	case faults.Delay:
		f.Delay = time.Duration(1+g.rand.IntN(50)) * time.Second
	case faults.Endless: // without a pause it would never let the time of the bubble pass
		f.Delay = 3 * time.Second
	case faults.Hang:
		f.Before = g.chance(50)
	case faults.Redirect:
		f.Location = []string{"http://localhost:1/v1/vms", "https://elsewhere.example/", "/", ":"}[g.rand.IntN(4)]
		f.Status = []int{0, 301, 303, 308}[g.rand.IntN(4)]
	case faults.Garbage:
		f.Body = bodies[g.rand.IntN(len(bodies))]
	}
	return f
}
