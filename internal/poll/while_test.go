package poll

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/clock"
)

func TestWhileTellsUntilItIsDone(t *testing.T) {
	t.Parallel()
	told := make(chan time.Duration, 3)
	tell := func(_ context.Context, elapsed time.Duration) {
		select {
		case told <- elapsed:
		default: // the time runs away on a clock that no sleep holds up
		}
	}
	failed := errors.New("the script failed")
	err := While(t.Context(), clock.NewInstant(time.Unix(0, 0)), tell, func() error {
		for _, want := range []time.Duration{10 * time.Second, 20 * time.Second, 30 * time.Second} {
			if got := <-told; got != want {
				t.Errorf("told %s, want %s", got, want)
			}
		}
		return failed
	})
	if !errors.Is(err, failed) {
		t.Errorf("got %v", err)
	}
}

func TestWhileTellsNothingOfWhatIsQuick(t *testing.T) {
	t.Parallel()
	still := clock.NewManual(time.Unix(0, 0))
	tell := func(context.Context, time.Duration) { t.Error("something was told") }
	if err := While(t.Context(), still, tell, func() error { return nil }); err != nil {
		t.Error(err)
	}
	func() {
		defer func() { _ = recover() }()
		_ = While(t.Context(), still, tell, func() error { panic("a fault of the caller's") })
		t.Error("the panic was swallowed")
	}()
}
