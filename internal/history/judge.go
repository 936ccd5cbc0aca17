package history

import (
	"context"
	"regexp"
	"slices"
	"strings"

	core "github.com/agentenv/terraform-provider-gpuvm/internal/terraformcore"
)

// judge says whether a command kept what is promised.
func (r *runner) judge(s Step, out core.Outcome) error {
	if err := r.judgeReport(s, out); err != nil {
		return err
	}
	if err := r.agree(s, out); err != nil {
		return err
	}
	if s.Kind == Apply && !out.Failed() {
		return r.settled()
	}
	return nil
}

// judgeReport looks at what a command said.
func (r *runner) judgeReport(s Step, out core.Outcome) error {
	if len(out.Faults) > 0 {
		return r.fail("the provider broke the protocol: %s", out.Faults[0])
	}
	for _, d := range out.Diagnostics {
		if why := unreadable(d); why != "" {
			return r.fail("%s: %q", why, d.Summary+": "+d.Detail)
		}
	}
	if err := r.explained(s, out); err != nil {
		return err
	}
	for _, secret := range r.world.Service.Secrets() {
		r.tally.Canaries++
		for _, d := range out.Diagnostics {
			if strings.Contains(d.Summary+d.Detail, secret) {
				return r.fail("a message shows the secret %s", secret)
			}
		}
		for _, kept := range out.Kept {
			if strings.Contains(kept.Text, secret) {
				return r.fail("%s holds the secret %s: %s", kept.Where, secret, kept.Text)
			}
		}
	}
	return nil
}

// unfit is what no user should read: Go's own way of printing things, and crashes.
var unfit = regexp.MustCompile(`%!|<nil>|0xc0|&\{|map\[|\[\]string|runtime error|nil pointer|goroutine|The provider crashed|[[:cntrl:]&&[^\n\t]]`)

func unreadable(d core.Diagnostic) string {
	text := d.Summary + "\n" + d.Detail
	switch {
	case strings.TrimSpace(d.Summary) == "" || strings.TrimSpace(d.Detail) == "":
		return "a message without summary or detail"
	case len(d.Summary) > 120 || strings.ContainsAny(d.Summary, "\n\r"):
		return "a summary that is none"
	case len(d.Detail) > 12_000:
		return "a message that nobody reads"
	case unfit.MatchString(text):
		return "a message that users can't read (" + unfit.FindString(text) + ")"
	}
	return ""
}

// whatToDo is how a message tells the next step.
var whatToDo = regexp.MustCompile(`What to do|What became of it|apply again|destroy again|plan again|import it again|[Cc]heck |[Ss]et |[Cc]orrect `)

// explained: who reads an error knows what became of the object, and what to do.
func (r *runner) explained(s Step, out core.Outcome) error {
	requests := r.world.Service.Faults().Requests()
	if len(requests) == 0 { // it ended with the configuration, which the message is about
		return nil
	}
	posted := false
	for _, record := range requests {
		first := r.history.Type.Requests[0]
		posted = posted || record.Method == first.Method && record.Path == first.Path
	}
	told := false
	for _, d := range out.Errors() {
		told = told || strings.Contains(d.Detail, "What became of it:")
	}
	if s.Kind == Apply && posted && !r.history.Type.Named && len(out.Errors()) > 0 && !told {
		return r.fail("the error of a create doesn't say what became of the object")
	}
	if s.Kind == Destroy && len(out.Errors()) > 0 && out.Change != nil && !strings.Contains(out.Errors()[0].Detail, "in the state") {
		return r.fail("the error of a destroy doesn't say that the object is still in the state")
	}
	for _, d := range out.Errors() {
		if d.Attribute == "" && !d.Terraforms && !whatToDo.MatchString(d.Detail) {
			return r.fail("the error doesn't say what to do: %s", d.Detail)
		}
	}
	return nil
}

// agree holds the service against the state: every object that stands is in the state, or an error of this command says
// that it may stand and how to find it.
func (r *runner) agree(s Step, out core.Outcome) error {
	service := r.world.Service
	for _, id := range service.Standing() {
		if r.object != nil && r.object.ID() == id {
			continue
		}
		named := slices.ContainsFunc(out.Diagnostics, func(d core.Diagnostic) bool { return service.InDoubt(d.Detail, id) })
		if !named {
			r.tally.Lost++
			return r.fail("%s stands, and the state doesn't know it (the state holds %s)", id, r.inState())
		}
		r.tally.InDoubt++
		service.Disturb("delete", id) // whoever read the error found it
	}
	if r.object == nil || r.history.Type.Inside {
		return nil
	}
	if r.object.ID() == "" {
		return r.fail("the state holds an object without an id")
	}
	if s.Kind == Refresh && len(s.Faults) == 0 && s.Interrupt == 0 && !out.Failed() && !slices.Contains(service.Standing(), r.object.ID()) {
		return r.fail("%s is gone, and a refresh left it in the state", r.object.ID())
	}
	return nil
}

func (r *runner) inState() string {
	switch {
	case r.object == nil:
		return "nothing"
	case r.object.Tainted:
		return r.object.ID() + ", tainted"
	}
	return r.object.ID()
}

// settled: after an apply that succeeded there is nothing left to do, and the state is as the object is.
func (r *runner) settled() error {
	applied, said := r.object, r.said
	out, err := r.command(Step{Kind: Plan}, func(ctx context.Context, p *core.Provider) core.Outcome {
		return p.Preview(ctx, r.history.Type.Name, applied, r.config)
	})
	if err != nil {
		return err
	}
	if out.Failed() {
		return r.fail("a plan right after an apply fails: %s", out)
	}
	if out.Object == nil { // it has expired while the apply went on
		r.object = nil
		return nil
	}
	if out.Change.Action != core.NoOp && !r.mayStayOpen(out.Change) {
		return r.fail("a plan right after an apply wants to %s because of %v:\nbefore %s\nafter  %s", out.Change.Action, out.Change.Because,
			encoded(core.Plain(out.Change.Before)), encoded(core.Plain(out.Change.After)))
	}
	if found := r.world.Service.Differences(out.Object, r.imported); len(found) > 0 {
		return r.fail("the state isn't as the object is: %s", strings.Join(found, "; "))
	}
	r.object, r.said = out.Object, said
	return nil
}

// mayStayOpen says whether a plan wants nothing but what time alone brings about.
func (r *runner) mayStayOpen(change *core.Change) bool {
	if change.Action != core.Update {
		return false
	}
	before, _ := core.Plain(change.Before).(map[string]any)
	after, _ := core.Plain(change.After).(map[string]any)
	for name, is := range after {
		if !slices.Contains(r.history.Type.Passing, name) && encoded(is) != encoded(before[name]) {
			return false
		}
	}
	return true
}

// end: without faults, one apply of the simplest configuration and one destroy leave nothing.
func (r *runner) end() error {
	r.world.Service.Heal()
	calm := Step{Kind: Apply, Config: cloneMap(r.history.Type.Smallest)}
	for _, step := range []Step{calm, calm, {Kind: Destroy}} {
		if err := r.step(step); err != nil {
			return err
		}
		r.world.Service.Heal()
		if r.said != "" && strings.Contains(r.said, "Error: ") {
			return r.fail("%s fails without a fault", step.Kind)
		}
	}
	if r.object != nil {
		return r.fail("%s is left in the state", r.inState())
	}
	if left := r.world.Service.Standing(); len(left) > 0 {
		return r.fail("%s is left", strings.Join(left, ", "))
	}
	return nil
}
