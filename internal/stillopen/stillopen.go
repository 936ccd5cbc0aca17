// Package stillopen keeps account of the ephemeral objects that are open. Terraform doesn't close an object whose user
// fails, so whatever is left when the program ends is ended then.
package stillopen

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/agentenv/terraform-provider-gpuvm/internal/crash"
)

// atOnce bounds how many objects are ended at the same time: the program has about two seconds left then, and a server's
// own limit on requests is not to be hit.
const atOnce = 16

// Objects are the open ones of a provider, by their id. Its zero value has none; it is safe for concurrent use.
type Objects struct {
	mu   sync.Mutex
	ends map[string]func(context.Context) error
}

// Opened notes an object, and how it is ended without waiting for more than the service's answer.
func (o *Objects) Opened(id string, end func(context.Context) error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ends == nil {
		o.ends = map[string]func(context.Context) error{}
	}
	o.ends[id] = end
}

// Closed forgets an object, which is gone.
func (o *Objects) Closed(id string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.ends, id)
}

// CloseAll ends all that is open, as far as ctx allows. The error names what it could not end.
func (o *Objects) CloseAll(ctx context.Context) error {
	o.mu.Lock()
	left := o.ends
	o.ends = nil
	o.mu.Unlock()

	ids := slices.Sorted(maps.Keys(left))
	errs := make([]error, len(ids))
	room := make(chan struct{}, atOnce)
	var ending sync.WaitGroup
	for i, id := range ids {
		ending.Go(func() {
			room <- struct{}{}
			defer func() { <-room }()
			if err := try(ctx, left[id]); err != nil {
				errs[i] = fmt.Errorf("ending %s: %w", id, err)
			}
		})
	}
	ending.Wait()
	return errors.Join(errs...)
}

// try makes a crash an error: it isn't to keep the others from being ended.
func try(ctx context.Context, end func(context.Context) error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = crash.Recovered(value)
		}
	}()
	return end(ctx)
}
