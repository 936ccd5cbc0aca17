package opensandbox

import (
	"context"
	"fmt"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/apiclient"
	api "github.com/agentenv/terraform-provider-gpuvm/internal/apiclient/opensandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/poll"
)

const (
	// lingering is how long an ended sandbox may still be shown after its deletion: one back end never forgets it sooner.
	lingering = 30 * time.Second
	// patience is how long a deletion that was accepted may show no effect before it is asked for again.
	patience = 10 * time.Second
)

// Delete ends a sandbox and waits until the server no longer knows it. One that is gone already is a success.
func (l *Lifecycle) Delete(ctx context.Context, id string) error {
	return l.delete(ctx, id, longest)
}

func (l *Lifecycle) delete(ctx context.Context, id string, limit time.Duration) error {
	l.listing.changed(id)
	l.progress(ctx, "deleting the sandbox", map[string]any{"id": id})
	var accepted, asked time.Time
	var refused error
	return l.wait(ctx, "sandbox "+id+" to be gone", limit, untilGone, func(ctx context.Context) (poll.State, error) {
		// A refusal may only mean that somebody else deletes it too, and an accepted deletion can be forgotten.
		if asked.IsZero() || refused != nil || l.since(asked) >= patience {
			asked = l.clock.Now()
			refused = l.API.DeleteSandbox(ctx, id)
			switch {
			case apiclient.IsGone(refused):
				return poll.State{Done: true}, nil
			case refused != nil && !tolerable(refused):
				return poll.State{}, refused
			case refused == nil && accepted.IsZero():
				accepted = asked
			}
		}
		sandbox, err := l.API.Sandbox(ctx, id)
		switch {
		case apiclient.IsGone(err):
			return poll.State{Done: true}, nil
		case err != nil:
			return poll.State{}, err
		case sandbox.Status.State == api.StateTerminated && !accepted.IsZero() && l.since(accepted) >= lingering:
			return poll.State{Done: true}, nil
		}
		return poll.State{Status: sandbox.Status.String() + whyRefused(refused)}, nil
	})
}

func whyRefused(err error) string {
	if err == nil {
		return ""
	}
	return "; the last answer to its deletion: " + err.Error()
}

func (l *Lifecycle) since(t time.Time) time.Duration { return l.clock.Now().Sub(t) }

// RemoveFile deletes a file in a sandbox. A file, or a sandbox, that is gone already is a success.
func (l *Lifecycle) RemoveFile(ctx context.Context, id, path string) error {
	agent, err := l.reachAgent(ctx, id)
	if apiclient.IsGone(err) {
		return nil
	}
	if err != nil {
		return err
	}
	err = l.explain(ctx, id, l.repeat(ctx, func() error { return agent.DeleteFile(ctx, path) }))
	if err == nil || apiclient.IsGone(err) {
		return nil
	}
	return fmt.Errorf("deleting %s: %w", path, err)
}
