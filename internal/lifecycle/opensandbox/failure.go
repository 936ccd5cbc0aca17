package opensandbox

import (
	"fmt"
	"slices"
	"strings"

	api "github.com/agentenv/terraform-provider-gpuvm/internal/apiclient/opensandbox"
)

// Stage is how far a create had come when it failed.
type Stage string

// The stages of a create, in order.
const (
	StagePool     Stage = "Looking for the pool"
	StageCreate   Stage = "Creating the sandbox"
	StageBoot     Stage = "Starting the sandbox"
	StageHealth   Stage = "Waiting for the sandbox's agent"
	StageProbe    Stage = "Probing the sandbox"
	StageFiles    Stage = "Uploading the files"
	StageSetup    Stage = "Running the setup script"
	StagePorts    Stage = "Looking up the ports"
	StagePause    Stage = "Pausing the sandbox"
	StageSnapshot Stage = "Taking the snapshot"
)

// Fate is what became of the sandbox or snapshot of a failed create.
type Fate string

// The fates.
const (
	FateNeverMade Fate = "never made" // the server refused, or was never reached
	FateDeleted   Fate = "deleted"    // it was made, and is gone again
	FateKept      Fate = "kept"       // on_create_failure = "keep"
	FateUndeleted Fate = "undeleted"  // it should have been deleted, and that failed
	FateUnknown   Fate = "unknown"    // the server may have made it and told no id
)

// CreateError is a create that failed.
type CreateError struct {
	Object       string // "sandbox" or "snapshot"
	Stage        Stage
	ID           string // "" where none is known
	CreateID     string // the value of the metadata CreateIDKey; "" for a snapshot
	Fate         Fate
	Doubt        bool // an attempt whose answer was lost may have made another one, beside ID
	Err          error
	DeleteErr    error
	Diagnostics  string              // the end of the sandbox's log and events
	ScriptOutput string              // the end of what the setup script printed
	URL          string              // what was tried inside the sandbox, last
	Hint         string              // what to do about it
	redact       func(string) string // takes out what the request held and no message may show; nil = nothing
}

func (e *CreateError) Unwrap() error { return e.Err }

// Stands says whether an object may be left that a state should know by ID.
func (e *CreateError) Stands() bool { return e.Fate == FateKept || e.Fate == FateUndeleted }

// Error is the whole story, in paragraphs.
func (e *CreateError) Error() string {
	paragraphs := []string{fmt.Sprintf("%s failed: %v", e.Stage, e.Err)}
	if e.URL != "" {
		paragraphs = append(paragraphs, "It was tried at "+e.URL+".")
	}
	if e.Diagnostics != "" {
		paragraphs = append(paragraphs, "What the server tells about the sandbox ends:\n"+e.Diagnostics)
	}
	paragraphs = append(paragraphs, e.Outcome())
	if e.Hint != "" {
		paragraphs = append(paragraphs, "Hint: "+e.Hint)
	}
	text := strings.Join(paragraphs, "\n\n")
	if e.redact != nil {
		text = e.redact(text) // servers repeat what they refuse
	}
	return text
}

// Outcome says what became of the object.
func (e *CreateError) Outcome() string {
	text := "What became of it: " + e.fate()
	if e.Doubt && e.CreateID != "" {
		text += fmt.Sprintf(" An attempt without an answer may have made a %s that isn't known here: it would carry the metadata %s = %s, by which the server's list finds it.",
			e.Object, CreateIDKey, e.CreateID)
	}
	return text
}

func (e *CreateError) fate() string {
	switch e.Fate {
	case FateDeleted:
		return fmt.Sprintf("the %s %s was deleted again, and the server confirms that it is gone.", e.Object, e.ID)
	case FateKept:
		return fmt.Sprintf("the %s %s is kept for debugging. It costs until it is deleted or expires.", e.Object, e.ID)
	case FateUndeleted:
		return fmt.Sprintf("the %s %s could NOT be deleted (%v). It costs until it is deleted or expires.", e.Object, e.ID, e.DeleteErr)
	case FateUnknown:
		text := fmt.Sprintf("unknown. The server may have made a %s, and no answer told its id.", e.Object)
		if e.DeleteErr != nil {
			text += fmt.Sprintf(" Looking for it failed: %v.", e.DeleteErr)
		}
		return text
	case FateNeverMade:
	}
	return fmt.Sprintf("no %s was made.", e.Object)
}

// StateError is a sandbox or snapshot in a state that it won't leave for the wanted one.
type StateError struct {
	ID     string
	Status api.Status
}

func (e *StateError) Error() string { return fmt.Sprintf("%s is %s", e.ID, e.Status) }

// finalState is a *StateError where a sandbox can't run any more. States that aren't known aren't final.
func finalState(s api.Sandbox) error {
	switch s.Status.State {
	case api.StateFailed, api.StateTerminated:
		return &StateError{ID: s.ID, Status: s.Status}
	}
	return nil
}

// ScriptError is a script that ended with another exit code than 0.
type ScriptError struct {
	ExitCode int
	Output   string // the end of what it printed, and why it has no exit code of its own where ExitCode is api.CodeUnknown
}

func (e *ScriptError) Error() string {
	text := fmt.Sprintf("Script failed (exit %d)", e.ExitCode)
	if e.ExitCode < 0 {
		text = fmt.Sprintf("Script failed (exit %d: killed by a signal, as one out of memory is)", e.ExitCode)
	}
	if e.Output == "" {
		return text + ", and printed nothing"
	}
	return text + ". Its output ends:\n" + e.Output
}

// PanicError is a fault of this program in the middle of a create, told after the clean-up.
type PanicError struct {
	Value any
	Stack string
}

func (e *PanicError) Error() string { return fmt.Sprintf("the provider crashed: %v", e.Value) }

// UnreachableError is a service inside a sandbox that can't answer, with what the server says of the sandbox.
type UnreachableError struct {
	ID     string
	Status api.Status // State is "" where the sandbox is gone
	Err    error      // nil where it wasn't even asked
	gone   error      // the server's 404, where it answered so
}

func (e *UnreachableError) Error() string {
	text := fmt.Sprintf("sandbox %s is %s", e.ID, e.Status)
	switch {
	case e.Status.State == "":
		text = fmt.Sprintf("sandbox %s is gone: it expired or was deleted", e.ID)
	case outOfMemory(e.Status):
		text = fmt.Sprintf("sandbox %s ran out of memory: it is %s", e.ID, e.Status)
	}
	if e.Err != nil {
		text += fmt.Sprintf(" (%v)", e.Err)
	}
	return text
}

// Unwrap puts the server's own word first, so that apiclient.IsGone goes by it.
func (e *UnreachableError) Unwrap() []error {
	return slices.DeleteFunc([]error{e.gone, e.Err}, func(err error) bool { return err == nil })
}

func outOfMemory(s api.Status) bool {
	text := strings.ToLower(s.Reason + " " + s.Message)
	return strings.Contains(text, "oom") || strings.Contains(text, "out of memory") || strings.Contains(text, "code 137")
}
