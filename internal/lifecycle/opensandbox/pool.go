package opensandbox

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/agentenv/terraform-provider-gpuvm/internal/apiclient"
	api "github.com/agentenv/terraform-provider-gpuvm/internal/apiclient/opensandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/poll"
)

// CreatePool makes a pool. Its name is its identity: after an answer that leaves the outcome open, a pool of that name is the
// one that was made; before one, it is somebody else's.
func (l *Lifecycle) CreatePool(ctx context.Context, name string, template json.RawMessage, capacity api.Capacity) (api.Pool, error) {
	// Interrupted, it waits for the answer all the same: a pool that is made is a pool to tell of.
	longer, done := l.outlive(ctx, postGrace)
	defer done()
	retry := l.settings.Operations.Retry
	doubtful := false
	for n := 1; ; n++ {
		pool, err := l.API.CreatePool(longer, name, template, capacity)
		if err == nil {
			return pool, nil
		}
		failed, isAnswer := errors.AsType[*apiclient.Error](err)
		taken := isAnswer && failed.Status == http.StatusConflict
		doubtful = doubtful || open(err)
		if doubtful && (open(err) || taken) {
			if pool, lookErr := l.API.Pool(context.WithoutCancel(ctx), name); lookErr == nil {
				return pool, nil
			}
		}
		if n > retry.Times || !tolerable(err) || l.backOff(ctx, l.API, n, err) != nil {
			return api.Pool{}, err
		}
	}
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
