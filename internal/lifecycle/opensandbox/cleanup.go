package opensandbox

import (
	"context"
	"errors"
	"slices"
	"time"

	api "github.com/agentenv/terraform-provider-gpuvm/internal/apiclient/opensandbox"
)

const (
	diagnosticsTimeout = 10 * time.Second
	diagnosticsTail    = 4 << 10
	logLines           = 300 // most of which an agent may have written about itself
)

// giveUp ends a create that failed: it deletes what it made, or keeps it where that is wanted, in a context of its own, as
// the caller's may have ended. Nothing may be left that the error doesn't tell of.
func (c *creation) giveUp(ctx context.Context, err error) *CreateError {
	interrupted := ctx.Err() != nil
	ctx = context.WithoutCancel(ctx)
	c.describe(err)
	var found []api.Sandbox
	var lookErr error
	if c.lost > 0 {
		found, lookErr = c.lookForAll(ctx)
		c.failure.Doubt = lookErr != nil || !c.caughtUp(found)
	}
	if c.failure.ID == "" && len(found) > 0 {
		c.note(ctx, found[0])
	}
	if !interrupted {
		c.failure.Diagnostics = c.diagnostics(ctx)
	}
	strayErr := c.deleteEach(ctx, c.strays(found))

	failure := c.failure
	switch {
	case failure.ID == "" && c.lost > 0:
		failure.Fate, failure.DeleteErr = FateUnknown, lookErr
	case failure.ID == "" && c.forgotten != "":
		failure.ID, failure.Fate = c.forgotten, FateDeleted
	case failure.ID == "":
		failure.Fate = FateNeverMade
	case c.spec.KeepFailed:
		failure.Fate = FateKept
	default:
		failure.Fate = FateDeleted
		if failure.DeleteErr = c.delete(ctx, failure.ID, c.settings.Operations.CloseTimeout); failure.DeleteErr != nil {
			failure.Fate = FateUndeleted
		}
	}
	if undeleted, ok := errors.AsType[*undeletedError](strayErr); ok {
		c.tellStray(undeleted, strayErr)
	}
	c.progress(ctx, "the create failed", map[string]any{"id": failure.ID, "stage": string(failure.Stage), "outcome": string(failure.Fate)})
	return failure
}

// tellStray gives the state the id of a stray that stays, if there is room for it.
func (c *creation) tellStray(undeleted *undeletedError, err error) {
	if c.failure.Fate == FateDeleted {
		c.failure.ID, c.failure.Fate, c.failure.DeleteErr = undeleted.id, FateUndeleted, err
		if c.spec.Noted != nil {
			c.spec.Noted(undeleted.id)
		}
		return
	}
	c.failure.DeleteErr = errors.Join(c.failure.DeleteErr, err)
}

// diagnostics asks the server what happened inside, before the sandbox is deleted. It is an extra: no failure of it counts.
func (c *creation) diagnostics(ctx context.Context) string {
	if c.failure.ID == "" || !c.ailing() {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, diagnosticsTimeout)
	defer cancel()
	var text string
	if events, err := c.API.Events(ctx, c.failure.ID, 20); err == nil && events != "" {
		text += "events:\n" + tailOf(events, diagnosticsTail/2) + "\n"
	}
	if log, err := c.API.Logs(ctx, c.failure.ID, logLines); err == nil {
		if log = tailOf(withoutChatter(log), diagnosticsTail/2); log != "" {
			text += "log:\n" + log
		}
	}
	return c.redact(tailOf(text, diagnosticsTail))
}

// ailing says whether it is the sandbox itself that failed, and not what was done in it.
func (c *creation) ailing() bool {
	if slices.Contains([]Stage{StageBoot, StageHealth, StageProbe}, c.failure.Stage) {
		return true
	}
	_, unreachable := errors.AsType[*UnreachableError](c.failure.Err)
	return unreachable
}

// undeletedError is a sandbox that should be gone and isn't.
type undeletedError struct {
	id  string
	err error
}

func (e *undeletedError) Error() string { return "deleting " + e.id + ": " + e.err.Error() }

func (e *undeletedError) Unwrap() error { return e.err }

func (c *creation) deleteEach(ctx context.Context, sandboxes []api.Sandbox) error {
	var errs []error
	for _, sandbox := range sandboxes {
		c.progress(ctx, "deleting a second sandbox of the same create", map[string]any{"id": sandbox.ID})
		if err := c.delete(ctx, sandbox.ID, c.settings.Operations.CloseTimeout); err != nil {
			errs = append(errs, &undeletedError{id: sandbox.ID, err: err})
		}
	}
	return errors.Join(errs...)
}

// forget deletes the sandbox of an attempt that failed, so that the next one starts from nothing.
func (c *creation) forget(ctx context.Context) error {
	if c.failure.ID == "" {
		return nil
	}
	if err := c.delete(ctx, c.failure.ID, c.settings.Operations.CloseTimeout); err != nil {
		return err
	}
	c.failure.ID, c.forgotten = "", c.failure.ID
	return nil
}
