package gpuvm

import (
	"context"
	"time"

	api "github.com/agentenv/terraform-provider-gpuvm/internal/apiclient/gpuvm"
	"github.com/agentenv/terraform-provider-gpuvm/internal/clock"
	"github.com/agentenv/terraform-provider-gpuvm/internal/poll"
)

// youth is how long after its create a service may still not know a VM: a 404 proves nothing before.
const youth = 10 * time.Second

// Find reads a VM that a create made at a time; the zero time is long ago.
func (l *Lifecycle) Find(ctx context.Context, id string, made time.Time) (vm api.VM, err error) {
	err = l.whileYoung(ctx, id, made, func(ctx context.Context) (err error) {
		vm, err = l.API.Get(ctx, id)
		return err
	})
	return vm, err
}

// whileYoung asks a service that doesn't know a VM again, until the VM isn't young any more.
func (l *Lifecycle) whileYoung(ctx context.Context, id string, made time.Time, ask func(context.Context) error) error {
	left := made.Add(youth).Sub(l.now())
	if left <= 0 {
		return ask(ctx)
	}
	options := l.pollOptions("the service to know " + id)
	options.EarlyGone, options.Transient = left, -1
	return poll.Until(ctx, options, func(ctx context.Context) (poll.State, error) {
		return poll.State{Done: true}, ask(ctx)
	})
}

func (l *Lifecycle) now() time.Time {
	if l.Clock == nil {
		return clock.System().Now()
	}
	return l.Clock.Now()
}
