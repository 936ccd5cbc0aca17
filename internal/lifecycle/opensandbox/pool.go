package opensandbox

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/agentenv/terraform-provider-gpuvm/internal/apiclient"
	api "github.com/agentenv/terraform-provider-gpuvm/internal/apiclient/opensandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/poll"
)

// PoolExistsError is a create of a pool whose name is taken.
type PoolExistsError struct{ Name string }

func (e *PoolExistsError) Error() string {
	return fmt.Sprintf("a pool with the name %s exists already: import it, or choose another name", e.Name)
}

// CreatePool makes a pool. Its name is its identity: one of that name before the request is somebody else's, and after an
// answer that leaves the outcome open it is the one that was made. An *UnseenError is one of which even that isn't known.
func (l *Lifecycle) CreatePool(ctx context.Context, name string, template json.RawMessage, capacity api.Capacity) (api.Pool, error) {
	if _, err := l.API.Pool(ctx, name); err == nil {
		return api.Pool{}, &PoolExistsError{Name: name}
	} else if !apiclient.IsGone(err) {
		return api.Pool{}, err
	}
	// Interrupted, it waits for the answer all the same: a pool that is made is a pool to tell of.
	longer, done := l.outlive(ctx, postGrace)
	defer done()
	retry := l.settings.Operations.Retry
	var unseen error
	for n, doubtful := 1, false; ; n++ {
		pool, err := l.API.CreatePool(longer, name, template, capacity)
		if err == nil {
			return pool, nil
		}
		doubtful = doubtful || open(err)
		if doubtful && (open(err) || isTaken(err)) {
			made, lookErr := l.API.Pool(context.WithoutCancel(ctx), name)
			if lookErr == nil {
				return made, nil
			}
			unseen = nil
			if !apiclient.IsGone(lookErr) {
				unseen = &UnseenError{Lost: err, Err: lookErr}
			}
		}
		if n > retry.Times || !tolerable(err) || l.backOff(ctx, l.API, n, err) != nil {
			return api.Pool{}, cmp.Or(unseen, err)
		}
	}
}

func isTaken(err error) bool {
	failed, ok := errors.AsType[*apiclient.Error](err)
	return ok && failed.Status == http.StatusConflict
}

// DeletePool ends a pool and waits until the server no longer knows it. One that is gone already is a success.
func (l *Lifecycle) DeletePool(ctx context.Context, name string) error {
	if err := l.API.DeletePool(ctx, name); apiclient.IsGone(err) {
		return nil
	} else if err != nil {
		return err
	}
	return l.wait(ctx, "pool "+name+" to be gone", longest, untilGone, func(ctx context.Context) (poll.State, error) {
		_, err := l.API.Pool(ctx, name)
		if apiclient.IsGone(err) {
			return poll.State{Done: true}, nil
		}
		return poll.State{Status: "still there"}, err
	})
}
