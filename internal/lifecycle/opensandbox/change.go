package opensandbox

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/apiclient"
	api "github.com/agentenv/terraform-provider-gpuvm/internal/apiclient/opensandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/poll"
)

// NeverExpiresError is a renewal of a sandbox that was made without a time to live. That can't be changed afterwards.
type NeverExpiresError struct {
	ID  string
	Err error
}

func (e *NeverExpiresError) Error() string {
	return fmt.Sprintf("sandbox %s was made without ttl_seconds, so that it never expires and can't be renewed (%v)", e.ID, e.Err)
}

func (e *NeverExpiresError) Unwrap() error { return e.Err }

// Renew lets a sandbox expire ttl from now, in whole seconds; that may be sooner than before. It reads back what the server
// made of it: one that was restarted has forgotten renewals.
func (l *Lifecycle) Renew(ctx context.Context, id string, ttl time.Duration) (api.Sandbox, error) {
	defer l.listing.changed(id)
	expiry := l.clock.Now().UTC().Add(ttl).Truncate(time.Second)
	err := l.repeat(ctx, func() error {
		_, err := l.API.Renew(ctx, id, expiry)
		return err
	})
	if failed, ok := errors.AsType[*apiclient.Error](err); ok && failed.Status == http.StatusConflict {
		return api.Sandbox{}, &NeverExpiresError{ID: id, Err: err}
	}
	if err != nil {
		return api.Sandbox{}, err
	}
	sandbox, err := l.API.Sandbox(ctx, id)
	if err != nil {
		return api.Sandbox{}, fmt.Errorf("reading the renewed sandbox back: %w", err)
	}
	// Another writer may have renewed it for longer meanwhile.
	if sandbox.ExpiresAt.Before(expiry.Add(-time.Second)) {
		return sandbox, fmt.Errorf("sandbox %s was renewed until %s, and the server still says that it expires at %s",
			id, expiry.Format(time.RFC3339), sandbox.ExpiresAt.Format(time.RFC3339))
	}
	l.progress(ctx, "the sandbox is renewed", map[string]any{"id": id, "expires_at": sandbox.ExpiresAt.Format(time.RFC3339)})
	return sandbox, nil
}

// PatchMetadata sets and removes single keys and leaves all others alone. removed has to name every key that was ever set and
// is to stay away: one that was set at create comes back with the next change that doesn't name it.
func (l *Lifecycle) PatchMetadata(ctx context.Context, id string, set map[string]string, removed []string) (api.Sandbox, error) {
	defer l.listing.changed(id)
	patch := make(map[string]*string, len(set)+len(removed))
	for _, key := range removed {
		patch[key] = nil
	}
	for key, value := range set {
		patch[key] = &value
	}
	var sandbox api.Sandbox
	err := l.repeat(ctx, func() (err error) {
		sandbox, err = l.API.PatchMetadata(ctx, id, patch)
		return err
	})
	return sandbox, err
}

// Pause pauses a running sandbox and waits until it is. One that is paused already is a success.
func (l *Lifecycle) Pause(ctx context.Context, id string) (api.Sandbox, error) {
	return l.move(ctx, id, l.API.Pause, api.StatePausing, api.StatePaused)
}

// Resumption is what a sandbox needs again once it runs on.
type Resumption struct {
	Policy  *api.NetworkPolicy // a sidecar forgets what it was told since the create; nil = the sandbox has none
	Ports   []int64            // whose endpoints may have moved
	VNCPort int64
}

// Resume lets a paused sandbox run on, applies its network policy again, and looks up its endpoints. One that runs already is
// a success. On Kubernetes its processes were lost with the pause, so nothing says that it is usable at once.
func (l *Lifecycle) Resume(ctx context.Context, id string, again Resumption) (*Usable, error) {
	sandbox, err := l.move(ctx, id, l.API.Resume, api.StateResuming, api.StateRunning)
	if err != nil {
		return nil, err
	}
	if again.Policy != nil {
		if err := l.applyPolicy(ctx, id, *again.Policy); err != nil {
			return nil, fmt.Errorf("sandbox %s runs again, but its network policy could not be applied, so that it may reach what the policy denies: %w", id, err)
		}
	}
	ports, vnc, err := l.Reach(ctx, id, again.Ports, again.VNCPort)
	if err != nil {
		return nil, err
	}
	return &Usable{Sandbox: sandbox, Ports: ports, VNCURL: vnc}, nil
}

// move asks for a change of state and waits for it. Servers refuse what is so already in several ways, even with a 500, so that
// a refusal is judged by the state.
func (l *Lifecycle) move(ctx context.Context, id string, ask func(context.Context, string) error, passing, wanted string) (api.Sandbox, error) {
	defer l.listing.changed(id)
	var sandbox api.Sandbox
	refused, asked := ask(ctx, id), 1
	if apiclient.IsGone(refused) || apiclient.IsUnauthorized(refused) {
		return sandbox, refused
	}
	err := l.wait(ctx, "sandbox "+id+" to be "+wanted, longest, untilGone, func(ctx context.Context) (poll.State, error) {
		latest, err := l.API.Sandbox(ctx, id)
		if err != nil {
			return poll.State{}, err
		}
		sandbox = latest
		state := poll.State{Done: latest.Status.State == wanted, Status: latest.Status.String()}
		if state.Done || refused == nil || latest.Status.State == passing {
			return state, finalState(latest)
		}
		if !tolerable(refused) || asked > l.settings.Operations.Retry.Times || finalState(latest) != nil {
			return state, &RefusedError{ID: id, Wanted: wanted, Status: latest.Status, Err: refused}
		}
		asked++
		refused = ask(ctx, id)
		return state, nil
	})
	if err == nil {
		l.progress(ctx, "the sandbox is "+wanted, map[string]any{"id": id})
	}
	return sandbox, err
}

// RefusedError is a change of state that the server refused, with the state in which it did.
type RefusedError struct {
	ID, Wanted string
	Status     api.Status
	Err        error
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("sandbox %s is %s and can't become %s: %v", e.ID, e.Status, e.Wanted, e.Err)
}

func (e *RefusedError) Unwrap() error { return e.Err }
