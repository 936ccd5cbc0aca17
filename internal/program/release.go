package program

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

// The framework (1.19) keeps the context of each call until the program ends, and with it all that the connection holds for
// the call: some 100 kB for each object of a fleet. These calls are made with a context that lets go of that.

func (s *server) ValidateResourceConfig(ctx context.Context, req *tfprotov6.ValidateResourceConfigRequest) (*tfprotov6.ValidateResourceConfigResponse, error) {
	return released(ctx, req, s.Server.ValidateResourceConfig)
}

func (s *server) ApplyResourceChange(ctx context.Context, req *tfprotov6.ApplyResourceChangeRequest) (*tfprotov6.ApplyResourceChangeResponse, error) {
	return released(ctx, req, s.Server.ApplyResourceChange)
}

// released makes a call whose context ends with ctx and knows its values, and holds nothing of it afterwards.
func released[Request, Response any](ctx context.Context, req Request, call func(context.Context, Request) (Response, error)) (Response, error) {
	behind := &valuesOf{}
	behind.ctx.Store(&ctx)
	detached, cancel := context.WithCancelCause(behind)
	stop := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	defer func() { //nolint:contextcheck // what ends here has no context to pass
		stop()
		cancel(context.Canceled)
		behind.ctx.Store(nil)
	}()
	return call(detached, req) //nolint:contextcheck // that is the point of it
}

// valuesOf is a context that never ends, with the values of another for as long as that is there.
type valuesOf struct {
	ctx atomic.Pointer[context.Context]
}

func (*valuesOf) Deadline() (time.Time, bool) { return time.Time{}, false }

func (*valuesOf) Done() <-chan struct{} { return nil }

func (*valuesOf) Err() error { return nil }

func (v *valuesOf) Value(key any) any {
	if ctx := v.ctx.Load(); ctx != nil {
		return (*ctx).Value(key)
	}
	return nil
}
