// Package gpuvm is the life of a GPU VM, from the request that makes it to the answer that it is gone. It knows nothing
// of Terraform.
package gpuvm

import (
	"context"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/apiclient"
	api "github.com/agentenv/terraform-provider-gpuvm/internal/apiclient/gpuvm"
	"github.com/agentenv/terraform-provider-gpuvm/internal/clock"
	"github.com/agentenv/terraform-provider-gpuvm/internal/poll"
)

// Lifecycle makes, watches and ends the VMs of one service. The zero values of its settings are usable.
type Lifecycle struct {
	API     *api.Client
	Clock   clock.Clock
	Retries int // how often a create whose outcome is open is asked for again
	Backoff func(attempt int) time.Duration

	// RequestTimeout bounds one attempt of a request; a held GET gets it on top of its hold.
	RequestTimeout time.Duration
	// Progress hears what is done, and every 10 s what is waited for and for how long.
	Progress func(ctx context.Context, message string, fields map[string]any)

	boots poll.Memory // how long the boots of each image took
}

const (
	// postGrace is how long an interrupt waits for the answer of a create under way: cutting it would lose the id.
	postGrace = 60 * time.Second
	// cleanUpTimeout bounds the deletion of a machine that nobody is to keep.
	cleanUpTimeout = 2 * time.Minute
)

func (l *Lifecycle) progress(ctx context.Context, message string, fields map[string]any) {
	if l.Progress != nil {
		l.Progress(ctx, message, fields)
	}
}

// Exec runs a command in a VM and waits for its end, however long that takes. The time is the system's: a test's would stand
// still, or run away, while the answer is awaited.
func (l *Lifecycle) Exec(ctx context.Context, id string, argv []string) (result api.ExecResult, err error) {
	running := func(ctx context.Context, elapsed time.Duration) {
		l.progress(ctx, "waiting for a command in "+id+" to end", map[string]any{"elapsed": shown(elapsed)})
	}
	err = poll.While(ctx, clock.System(), running, func() (err error) {
		result, err = l.API.Exec(ctx, id, argv)
		return err
	})
	return result, err
}

// shown is a time as messages have it.
func shown(d time.Duration) string { return d.Round(time.Second).String() }

// outlive gives a context that ends grace after ctx does, not with it; no request pauses for longer than ctx, though.
func outlive(ctx context.Context, grace time.Duration) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		timer := time.AfterFunc(grace, func() { cancel(context.Cause(ctx)) })
		context.AfterFunc(longer, func() { timer.Stop() })
	})
	return apiclient.PauseWithin(longer, ctx), func() { stop(); cancel(context.Canceled) }
}
