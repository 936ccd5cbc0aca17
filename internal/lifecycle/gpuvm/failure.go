package gpuvm

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/redact"
)

// Stage is how far a create had come when it failed.
type Stage int

// The stages of a create, in order.
const (
	StageCreate Stage = iota
	StageBoot
	StagePorts
	StageReadiness
	StageFiles
	StageSetup
)

// Fate is what became of the machine of a failed create.
type Fate int

// The fates of a machine.
const (
	FateNeverMade Fate = iota // the service refused, or was never reached
	FateDeleted               // it was made, and is gone again
	FateKept                  // on_create_failure = "keep"
	FateUndeleted             // it should have been deleted, and that failed
	FateUnknown               // the service may have made it and told no id
)

// CreateError is a create that failed.
type CreateError struct {
	Stage        Stage
	ID           string // "" where none is known
	Made         time.Time
	Key          string // the Idempotency-Key
	Labels       map[string]string
	FirstUnknown bool // an attempt whose answer was lost may have made a machine beside ID
	Fate         Fate
	Err          error
	DeleteErr    error
	secrets      []string // no part of the message shows them
}

func (e *CreateError) at(stage Stage, err error) error {
	e.Stage, e.Err = stage, err
	return e
}

func (e *CreateError) Unwrap() error { return e.Err }

// Stands says whether a machine may be left that a state should know.
func (e *CreateError) Stands() bool { return e.Fate == FateKept || e.Fate == FateUndeleted }

func (e *CreateError) Error() string {
	text := redact.Quotations(e.Err.Error(), e.secrets...) + "\n\n" + e.Outcome()
	if e.FirstUnknown {
		text += "\n\n" + e.lost()
	}
	return text
}

// Outcome says what became of the machine.
func (e *CreateError) Outcome() string {
	switch e.Fate {
	case FateDeleted:
		return fmt.Sprintf("What became of it: %s was deleted again, and the service confirms that it is gone. Set on_create_failure = \"keep\" to look into such a machine.", e.ID)
	case FateKept:
		return fmt.Sprintf("What became of it: %s is kept for debugging, as on_create_failure = \"keep\" asks. It is in the state, tainted: the next apply replaces it, a destroy ends it. It costs until then.", e.ID)
	case FateUndeleted:
		return fmt.Sprintf("What became of it: %s could NOT be deleted (%v). It is in the state, tainted: the next apply or a destroy deletes it. It costs until then.", e.ID, e.DeleteErr)
	case FateUnknown:
		return "What became of it: unknown. The service may have made a machine, and no answer told its id."
	default:
		return "What became of it: no machine was made."
	}
}

// lost says how to find a machine that an unanswered request may have made.
func (e *CreateError) lost() string {
	labels := "no labels"
	if len(e.Labels) > 0 {
		var pairs []string
		for _, key := range slices.Sorted(maps.Keys(e.Labels)) {
			pairs = append(pairs, key+"="+e.Labels[key])
		}
		labels = "the labels " + strings.Join(pairs, ", ")
	}
	return fmt.Sprintf("Check with the VM service whether a machine stands that an unanswered request made. It would carry %s; the request carried Idempotency-Key %s. Such a machine ends with its ttl_seconds.", labels, e.Key)
}
