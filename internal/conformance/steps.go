package conformance

import (
	"context"
	"fmt"
	"slices"
)

// step is one check.
type step struct {
	name, contract string
	// ready says why it can't be checked, "" where it can; nil is always.
	ready func(*run) string
	do    func(context.Context, *run) outcome
}

// outcome is what a step came to.
type outcome struct {
	verdict Verdict
	by      *exchange // what shows it; nil where nothing single does
	text    string
}

func pass(by *exchange) outcome { return outcome{OK, by, ""} }

func fail(by *exchange, format string, values ...any) outcome {
	return outcome{Fail, by, fmt.Sprintf(format, values...)}
}

func notOffered(text string) outcome { return outcome{NotOffered, nil, text} }

func notChecked(text string) outcome { return outcome{NotChecked, nil, text} }

// steps are all checks in their order: those that cost nothing first, those that look back at everything last.
func steps() []step {
	return slices.Concat(refusals(), creation(), idempotency(), boot(), shapes(), execution(), uploads(), deletion(), onDemand(), looks())
}

// after lets a step wait for others that have to be right first: what they show, it would only show again.
func after(names ...string) func(*run) string {
	return func(r *run) string {
		for _, name := range names {
			if v, taken := r.verdicts[name]; !taken || v != OK {
				return "see " + name
			}
		}
		return ""
	}
}
