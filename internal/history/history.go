// Package history holds a provider to its first promise: whatever services and networks do, in whatever order users and
// others act, the service holds exactly what the state holds. It makes random histories of commands, faults, interrupts and
// acts of others, runs them against a fake service, judges after each step, and makes a failing history small.
package history

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/faults"
	"github.com/agentenv/terraform-provider-gpuvm/internal/subject"
)

// Kind is what happens in a step.
type Kind string

// The kinds of steps.
const (
	Apply   Kind = "terraform apply"
	Plan    Kind = "terraform plan"
	Refresh Kind = "terraform apply -refresh-only"
	Destroy Kind = "terraform destroy"
	Import  Kind = "terraform import"
	Others  Kind = "others" // change or delete the object
	Wait    Kind = "time passes"
)

// Step is one event of a history.
type Step struct {
	Kind   Kind
	Config map[string]any // of Apply and Plan; Import takes the one of what it imports where it is nil
	Late   []string       // attributes of Config that are known only at apply
	Faults []faults.Fault // that strike while it runs
	// Interrupt is the number of the request, from 1, during which Ctrl-C is pressed; 0 is never.
	Interrupt int
	Act       string        // of Others: one of the type's Disturbances
	Pass      time.Duration // of Wait; 0 is until the object has expired
}

// History is all that happens to one object.
type History struct {
	Type     *subject.Type
	Seed     uint64
	Temper   []string // of the service
	Settings map[string]any
	Steps    []Step
}

// String tells the history so that a reader can follow it.
func (h History) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "a service that %s; provider settings %s\n", or(strings.Join(h.Temper, ", "), "has no peculiarities"), encoded(h.Settings))
	for i, step := range h.Steps {
		fmt.Fprintf(&b, "%3d. %s\n", i+1, step)
	}
	return b.String()
}

func (s Step) String() string {
	text := string(s.Kind)
	if s.Config != nil {
		text += " of " + encoded(s.Config)
	}
	if len(s.Late) > 0 {
		text += ", known only at apply: " + strings.Join(s.Late, ", ")
	}
	if s.Act != "" {
		text += ": " + s.Act
	}
	if s.Kind == Wait {
		text += ": " + or(strings.TrimSuffix(s.Pass.String(), "0s"), "until it has expired")
	}
	if s.Interrupt > 0 {
		text += fmt.Sprintf("\n       Ctrl-C during request %d", s.Interrupt)
	}
	for _, fault := range s.Faults {
		text += "\n       fault: " + encoded(fault)
	}
	return text
}

func encoded(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// temper is the set of what is on.
func (h History) temper() map[string]bool {
	on := map[string]bool{}
	for _, name := range h.Temper {
		on[name] = true
	}
	return on
}

// clone copies what a shrinker changes.
func (h History) clone() History {
	h.Temper = slices.Clone(h.Temper)
	h.Settings = cloneMap(h.Settings)
	h.Steps = slices.Clone(h.Steps)
	for i := range h.Steps {
		h.Steps[i].Config = cloneMap(h.Steps[i].Config)
		h.Steps[i].Late = slices.Clone(h.Steps[i].Late)
		h.Steps[i].Faults = slices.Clone(h.Steps[i].Faults)
	}
	return h
}

func cloneMap(m map[string]any) map[string]any {
	if m == nil {
		return nil
	}
	copied := make(map[string]any, len(m))
	for key, value := range m {
		copied[key] = value
	}
	return copied
}
