package execution

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/agentenv/terraform-provider-gpuvm/internal/apiclient"
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

// Running says what is under way.
func (j Job) Running() string { return "running the " + j.noun() + " in " + j.In }

// Ended is how a command ended.
type Ended struct {
	ExitCode int
	Reason   string // the machine's words where the command has no exit code of its own
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
		text += " The machine says: " + strings.TrimSpace(transcript.Clean(e.Ended.Reason))
	}
	if output := transcript.Tail(e.Ended.Stdout, e.Ended.Stderr); output != "" {
		return text + "\n\nIts output ends:\n" + output
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

// unanswered makes of an error of a command's call what a user has to know: above all whether the command may have run.
// after says what becomes of one that is given up while it runs.
func (j Job) unanswered(ctx context.Context, err error, after string) error {
	cause := ctx.Err()
	switch {
	case errors.Is(cause, context.DeadlineExceeded):
		return &UnfinishedError{cause: cause, text: fmt.Sprintf("In %s the %s did not end within %s, which %s allows. %s\n\nThe last answer: %v", j.In, j.noun(), j.Limit, j.LimitedBy, after, err)}
	case cause != nil:
		return &UnfinishedError{cause: cause, text: fmt.Sprintf("Terraform was interrupted before the %s ended in %s. %s", j.noun(), j.In, after)}
	case outcomeOpen(err):
		return fmt.Errorf("%w\n\nWhether the %s ran in %s, and whether it still runs, is unknown. It was not sent a second time, because that could run it twice", err, j.noun(), j.In)
	}
	return err
}

func outcomeOpen(err error) bool {
	var failed *apiclient.Error
	return errors.As(err, &failed) && failed.Open()
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
