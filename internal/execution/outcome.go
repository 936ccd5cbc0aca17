package execution

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/agentenv/terraform-provider-gpuvm/internal/apiclient"
	"github.com/agentenv/terraform-provider-gpuvm/internal/apiclient/opensandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/diagnose"
	"github.com/agentenv/terraform-provider-gpuvm/internal/transcript"
)

// Job is a command with the machine that it is for.
type Job struct {
	Command
	In        string        // the machine's id
	Limit     time.Duration // after which it is given up
	LimitedBy string        // the attribute that sets the limit
}

// Ended is how a command ended.
type Ended struct {
	ExitCode int
	Reason   string // a sentence on why the command has no exit code of its own, where it has none
	Stdout   transcript.Output
	Stderr   transcript.Output
}

// ExitError is a command that ended with an exit code which isn't expected.
type ExitError struct {
	Noun     string // "script" or "command"
	In       string // the machine's id
	Ended    Ended
	Expected []int64
}

// Summary says what failed, in the words of the original client of these services.
func (e *ExitError) Summary() string {
	return fmt.Sprintf("%s failed (exit %d)", capitalised(e.Noun), e.Ended.ExitCode)
}

func (e *ExitError) Error() string {
	text := fmt.Sprintf("In %s the %s ended with exit code %d; expected: %s.", e.In, e.Noun, e.Ended.ExitCode, list(e.Expected))
	if e.Ended.Reason != "" {
		text += " " + transcript.Clean(e.Ended.Reason)
	}
	if output := e.Ended.tail(); output != "" {
		return text + output
	}
	return text + "\n\nIt printed nothing."
}

// UnfinishedError is a command that was given up before its end, for want of time or because Terraform was interrupted.
type UnfinishedError struct {
	text  string
	cause error // context.DeadlineExceeded or context.Canceled
}

func (e *UnfinishedError) Error() string { return e.text }

func (e *UnfinishedError) Unwrap() error { return e.cause }

// surroundings are what differs between the machines of the two services when a command's call fails.
type surroundings struct {
	abandoned string // what becomes of a command that is given up while it runs
	repeated  string // whether one with an open outcome was sent again
}

// unanswered makes of an error of a command's call what a user has to know: above all whether the command may have run.
// so far is what is known of it.
func (j Job) unanswered(ctx context.Context, err error, soFar Ended, where surroundings) error {
	cause := ctx.Err()
	switch {
	case errors.Is(cause, context.DeadlineExceeded):
		return &UnfinishedError{cause: cause, text: fmt.Sprintf("In %s the %s did not end within %s, which %s allows. %s\n\nThe last answer: %v%s",
			j.In, j.noun(), j.Limit, j.LimitedBy, where.abandoned, err, soFar.tail())}
	case cause != nil:
		return &UnfinishedError{cause: cause, text: fmt.Sprintf("Terraform was interrupted before the %s ended in %s. %s%s", j.noun(), j.In, where.abandoned, soFar.tail())}
	case outcomeOpen(err):
		return fmt.Errorf("%w\n\nWhether the %s ran in %s, and whether it still runs, is unknown. %s%s", err, j.noun(), j.In, where.repeated, soFar.tail())
	}
	return err
}

// tail is the end of the output as the last paragraph of a message; "" where there is none.
func (e Ended) tail() string {
	output := transcript.Tail(e.Stdout, e.Stderr)
	if output == "" {
		return ""
	}
	return "\n\nIts output ends:\n" + output
}

func outcomeOpen(err error) bool {
	if _, ok := errors.AsType[*opensandbox.InterruptedError](err); ok {
		return true
	}
	failed, ok := errors.AsType[*apiclient.Error](err)
	return ok && failed.Method == http.MethodPost && failed.Open() // what is only looked up on the way runs nothing
}

// Report adds the error of a job under the attribute that holds its command. consequence says what it means for the
// user's state, and what to do.
func (j Job) Report(diags *diag.Diagnostics, service diagnose.Service, err error, consequence string) {
	var exit *ExitError
	if errors.As(err, &exit) {
		diags.AddAttributeError(j.at(), exit.Summary(), exit.Error()+"\n\n"+consequence)
		return
	}
	summary := capitalised(j.noun()) + " was not run to its end in " + j.In
	diags.AddAttributeError(j.at(), summary, service.Detail(err)+"\n\n"+consequence)
}

// What a failure means for the user, as Report wants it.
const (
	ResourceFailed = "What to do: correct what failed and apply. The object is not kept in the state, so the next apply runs it again."
	ActionFailed   = "What to do: correct what failed and invoke the action again. The run ends here; the action itself changed nothing in the state and taints nothing."
)
