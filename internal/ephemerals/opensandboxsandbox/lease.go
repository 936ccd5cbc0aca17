package opensandboxsandbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/agentenv/terraform-provider-gpuvm/internal/apiclient"
	"github.com/agentenv/terraform-provider-gpuvm/internal/connection"
	"github.com/agentenv/terraform-provider-gpuvm/internal/diagnose"
	lifecycle "github.com/agentenv/terraform-provider-gpuvm/internal/lifecycle/opensandbox"
)

// note is what Terraform keeps of an open sandbox, for Renew and Close.
type note struct {
	ID      string        `json:"id"`
	TTL     time.Duration `json:"ttl"`
	Expires time.Time     `json:"expires"` // when it surely stands until
}

// lease is the time that a sandbox is held for. It is renewed at half, by Terraform once Open has answered and before that
// by itself: a setup may take longer than the time to live.
type lease struct {
	provider *connection.OpenSandbox
	service  *lifecycle.Lifecycle
	ttl      time.Duration
	id       string    // "" where there is no sandbox
	expires  time.Time // reckoned from before the request, so that the server's idea of it is later
	failed   bool      // the last renewal did

	stop    context.CancelFunc // of the renewals while Open works
	stopped chan struct{}
}

func newLease(provider *connection.OpenSandbox, service *lifecycle.Lifecycle, ttl time.Duration) *lease {
	return &lease{provider: provider, service: service, ttl: ttl, expires: provider.Clock.Now().Add(ttl)}
}

// begin takes a sandbox for the one that is held, from the first moment that its id is known: what ends the program then
// ends the sandbox. A later attempt of the same create takes another's place.
func (l *lease) begin(ctx context.Context, id string) {
	l.rest()
	if l.id != "" {
		l.provider.Ephemerals.Closed(l.id)
	}
	l.id, l.failed = id, false
	l.provider.Ephemerals.Opened(id, func(ctx context.Context) error {
		if err := l.service.API.DeleteSandbox(ctx, id); !apiclient.IsGone(err) {
			return err
		}
		return nil
	})
	ctx, l.stop = context.WithCancel(ctx)
	l.stopped = make(chan struct{})
	go func() {
		defer close(l.stopped)
		defer func() { _ = recover() }() // a crash here would end the program, and with it Open's clean-up
		for l.provider.Clock.Sleep(ctx, l.renewAt().Sub(l.provider.Clock.Now())) == nil {
			_ = l.renew(ctx) // a failed one is tried again soon; that the sandbox is gone is for Open to find out
		}
	}()
}

// rest ends the renewals of Open and waits until they have ended.
func (l *lease) rest() {
	if l.stop != nil {
		l.stop()
		<-l.stopped
		l.stop = nil
	}
}

func (l *lease) renew(ctx context.Context) error {
	start := l.provider.Clock.Now()
	_, err := l.service.Renew(ctx, l.id, l.ttl)
	if err == nil {
		l.expires = start.Add(l.ttl)
	}
	l.failed = err != nil && ctx.Err() == nil
	return err
}

// renewAt is half way to the expiry, and soon after a renewal that failed.
func (l *lease) renewAt() time.Time {
	if l.failed {
		return l.provider.Clock.Now().Add(l.ttl / 16)
	}
	return l.expires.Add(-l.ttl / 2)
}

// lasts says whether there is time left.
func (l *lease) lasts() bool { return l.provider.Clock.Now().Before(l.expires) }

func (l *lease) note() note { return note{ID: l.id, TTL: l.ttl, Expires: l.expires} }

// settle notes what a failed create has made of its sandbox: one that could not be deleted stays open, to be ended with the
// program.
func (l *lease) settle(err error) {
	failure, ok := errors.AsType[*lifecycle.CreateError](err)
	if ok && !failure.Stands() && l.id != "" {
		l.provider.Ephemerals.Closed(l.id)
	}
	l.id = ""
}

// abandon deletes the sandbox of an Open that fails after it was made.
func (l *lease) abandon(ctx context.Context, diags *diag.Diagnostics) {
	if l.id == "" {
		return
	}
	if err := l.end(ctx); err != nil {
		diagnose.OpenSandbox.Error(diags, "Ephemeral sandbox "+l.id+" was not deleted",
			fmt.Errorf("%w\n\nThe server ends it by itself at most %s after it was made", err, l.ttl))
	}
}

// end deletes the sandbox, whatever has been interrupted meanwhile.
func (l *lease) end(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
	defer cancel()
	if err := l.service.Delete(ctx, l.id); err != nil {
		return err
	}
	l.provider.Ephemerals.Closed(l.id)
	return nil
}
