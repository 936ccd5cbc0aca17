package history

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/faults"
)

// Tally counts what histories have tried, and what was lost.
type Tally struct {
	Histories, Steps, Requests, Interrupts, ActsOfOthers int
	Canaries                                             int // searches for a secret
	Faults                                               map[faults.Kind]int
	InDoubt                                              int // objects that no answer told of, each named by an error with how to find it
	Lost                                                 int // objects that no state and no error knows
}

func (t *Tally) fault(kind faults.Kind) {
	if t.Faults == nil {
		t.Faults = map[faults.Kind]int{}
	}
	t.Faults[kind]++
}

// Add adds another tally.
func (t *Tally) Add(other Tally) {
	t.Histories += other.Histories
	t.Steps += other.Steps
	t.Requests += other.Requests
	t.Interrupts += other.Interrupts
	t.ActsOfOthers += other.ActsOfOthers
	t.Canaries += other.Canaries
	t.InDoubt += other.InDoubt
	t.Lost += other.Lost
	for kind, count := range other.Faults {
		if t.Faults == nil {
			t.Faults = map[faults.Kind]int{}
		}
		t.Faults[kind] += count
	}
}

// String is one line, and one more for the kinds of faults.
func (t *Tally) String() string {
	struck := 0
	var each []string
	for _, kind := range slices.Sorted(maps.Keys(t.Faults)) {
		struck += t.Faults[kind]
		each = append(each, fmt.Sprintf("%s %d", kind, t.Faults[kind]))
	}
	return fmt.Sprintf("%d histories: %d steps, %d requests, %d faults, %d interrupts, %d acts of others, %d searches for a secret; lost: %d; in doubt and named: %d\n  faults: %s",
		t.Histories, t.Steps, t.Requests, struck, t.Interrupts, t.ActsOfOthers, t.Canaries, t.Lost, t.InDoubt, strings.Join(each, ", "))
}
