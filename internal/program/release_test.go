package program

import (
	"context"
	"errors"
	"testing"
)

type key struct{}

func TestACallKnowsItsContextsValuesAndEndAndLetsGoOfIt(t *testing.T) {
	t.Parallel()
	why := errors.New("interrupted")
	ctx, cancel := context.WithCancelCause(context.WithValue(t.Context(), key{}, "value"))
	var during context.Context
	_, err := released(ctx, 1, func(ctx context.Context, _ int) (int, error) {
		during = ctx //nolint:fatcontext // kept on purpose, as the framework does
		if ctx.Value(key{}) != "value" || ctx.Err() != nil {
			t.Errorf("value %v, error %v", ctx.Value(key{}), ctx.Err())
		}
		cancel(why)
		<-ctx.Done()
		return 0, context.Cause(ctx)
	})
	if !errors.Is(err, why) {
		t.Errorf("the call ended with %v", err)
	}
	if during.Value(key{}) != nil || during.Err() == nil {
		t.Errorf("after the call it still has %v, %v", during.Value(key{}), during.Err())
	}
}
