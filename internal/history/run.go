package history

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/faults"
	"github.com/agentenv/terraform-provider-gpuvm/internal/subject"
	core "github.com/agentenv/terraform-provider-gpuvm/internal/terraformcore"
)

// patience is longer than the deadlines of all that one command does (a destroy and a create of the slowest), by the time of the bubble.
const patience = 2 * time.Hour

// PromiseError is a promise that was broken.
type PromiseError struct {
	Step int // from 1; 0 is the end
	Text string
	Last string // what the last command said
}

func (f *PromiseError) Error() string {
	where := "at the end"
	if f.Step > 0 {
		where = fmt.Sprintf("in step %d", f.Step)
	}
	return where + ": " + f.Text + "\n\nThe last command said:\n" + or(f.Last, "(nothing)")
}

// Run runs a history in a bubble of time of its own, and counts what it does. The error is a *PromiseError.
func Run(t *testing.T, h History, schemas *core.Schemas) (tally Tally, err error) {
	t.Helper()
	defer func() {
		// A goroutine that nothing can wake any more is a hang that has no end; the bubble says so in a panic.
		if crash := recover(); crash != nil {
			err = &PromiseError{Text: fmt.Sprint("panic: ", crash)}
		}
	}()
	synctest.Test(t, func(t *testing.T) {
		r := &runner{history: h, world: h.Type.Begin(schemas, h.temper())}
		defer r.world.End()
		r.ctx = r.world.Context(t.Context())
		err = r.run()
		tally = r.tally
	})
	return tally, err
}

// runner is one history under way.
type runner struct {
	history History
	world   *subject.World
	ctx     context.Context //nolint:containedctx // of the bubble, and of nothing else
	tally   Tally
	now     int // the step

	object   *core.Object // in the state
	imported bool         // and not known by its create
	config   map[string]any
	said     string
}

func (r *runner) run() error {
	r.tally.Histories = 1
	for i, step := range r.history.Steps {
		r.now = i + 1
		r.tally.Steps++
		if err := r.step(step); err != nil {
			return err
		}
	}
	r.now = 0
	return r.end()
}

func (r *runner) fail(format string, values ...any) error {
	return &PromiseError{Step: r.now, Text: fmt.Sprintf(format, values...), Last: r.said}
}

func (r *runner) step(s Step) error {
	service := r.world.Service
	switch s.Kind { //nolint:exhaustive // the rest are commands, below
	case Others:
		if r.object != nil && service.Disturb(s.Act, r.object.ID()) {
			r.tally.ActsOfOthers++
		}
		return nil
	case Wait:
		pass := s.Pass
		if pass == 0 && r.object != nil {
			pass = time.Duration(service.TTL(r.object.ID())+1) * time.Second
		}
		<-time.After(pass)
		return nil
	case Import:
		return r.importStep(s)
	case Apply, Plan:
		r.config = s.Config
	}
	if s.Kind == Destroy && r.object == nil || s.Kind == Refresh && r.object == nil {
		return nil
	}
	before := r.object
	out, err := r.command(s, func(ctx context.Context, p *core.Provider) core.Outcome { return r.terraform(ctx, p, s) })
	if err != nil {
		return err
	}
	r.note(before, out)
	return r.judge(s, out)
}

// terraform runs the step's command.
func (r *runner) terraform(ctx context.Context, p *core.Provider, s Step) core.Outcome {
	switch s.Kind {
	case Apply:
		return p.Up(ctx, r.history.Type.Name, r.object, atPlan(s), s.Config)
	case Plan:
		return p.Preview(ctx, r.history.Type.Name, r.object, atPlan(s))
	case Destroy:
		return p.Down(ctx, r.object)
	default:
		return p.Reread(ctx, r.object)
	}
}

func atPlan(s Step) map[string]any {
	config := cloneMap(s.Config)
	for _, name := range s.Late {
		if _, ok := config[name]; ok {
			config[name] = core.Unknown
		}
	}
	return config
}

// note keeps what the state holds now. A plan's refresh is kept as well: it is what the next command would find.
func (r *runner) note(before *core.Object, out core.Outcome) {
	r.object = out.Object
	if r.object == nil || before == nil || r.object.ID() != before.ID() {
		r.imported = false
	}
}

// command runs a Terraform command with the faults and the interrupt of a step: it starts a provider, uses it and ends it.
func (r *runner) command(s Step, do func(context.Context, *core.Provider) core.Outcome) (core.Outcome, error) {
	service := r.world.Service
	p, configured := r.world.Provider(r.ctx, r.history.Settings)
	if configured.Failed() {
		return core.Outcome{}, r.fail("the provider can't be configured: %s", configured)
	}
	service.Faults().Reset()
	service.Faults().Order(s.Faults...)
	var requests, interrupted atomic.Int64
	forget := service.Faults().OnRequest(func(faults.Record) {
		if requests.Add(1) == int64(s.Interrupt) {
			interrupted.Add(1)
			_ = p.Interrupt(r.ctx) // it never fails
		}
	})
	defer forget()

	done := make(chan core.Outcome, 1)
	go func() { done <- do(r.ctx, p) }()
	var out core.Outcome
	select {
	case out = <-done:
	case <-time.After(patience):
		return core.Outcome{}, r.fail("%s has not ended after %s", s.Kind, patience)
	}
	r.said = out.String()
	for _, record := range service.Faults().Requests() {
		if record.Fault != "" {
			r.tally.fault(record.Fault)
		}
	}
	if out.Failed() { // a deletion may have been cut short
		service.Settle()
	}
	r.tally.Requests += int(requests.Load())
	r.tally.Interrupts += int(interrupted.Load())
	service.Faults().Clear()
	return out, nil
}

// importStep takes over an object that the state doesn't know: its own, after a "terraform state rm", or one of others.
func (r *runner) importStep(s Step) error {
	if r.history.Type.Inside {
		return nil
	}
	var id string
	switch {
	case r.object == nil:
		id, r.config = r.world.Service.Make()
	case !r.object.Tainted && slices.Contains(r.world.Service.Standing(), r.object.ID()):
		id = r.object.ID()
	default:
		return nil
	}
	r.object, r.imported = nil, true
	for try := range 2 {
		if try == 1 { // whatever went wrong, the user tries again, and nothing is in the way now
			s.Faults, s.Interrupt = nil, 0
		}
		out, err := r.command(s, func(ctx context.Context, p *core.Provider) core.Outcome {
			object, report := p.Import(ctx, r.history.Type.Name, id)
			return core.Outcome{Report: report, Object: object}
		})
		if err != nil {
			return err
		}
		r.object = out.Object
		if err := r.judgeReport(s, out); err != nil {
			return err
		}
		if !out.Failed() {
			return r.agree(s, out)
		}
	}
	if r.refusesImport(id) {
		r.world.Service.Disturb("delete", id)
		return nil
	}
	return r.fail("importing %s failed without a fault", id)
}

// refusesImport: what isn't usable may be refused, for example what has failed or still boots.
func (r *runner) refusesImport(id string) bool {
	return slices.Contains(r.world.Service.Standing(), id) && r.said != ""
}
