package poll

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/clock"
)

var (
	errBusy  = errors.New("HTTP 503")
	errGone  = errors.New("HTTP 404")
	errFinal = errors.New("the boot failed: no such image")
)

func testOptions(c clock.Clock) Options {
	return Options{
		Clock: c, What: "instance vm-1 to be running",
		Tolerate: func(err error) bool { return errors.Is(err, errBusy) },
		Gone:     func(err error) bool { return errors.Is(err, errGone) },
	}
}

// script is a check that gives one outcome after the other: a status, "done" or an error.
func script(t *testing.T, outcomes ...any) func(context.Context) (State, error) {
	t.Helper()
	return func(context.Context) (State, error) {
		if len(outcomes) == 0 {
			t.Fatal("asked once more than there are outcomes")
		}
		next := outcomes[0]
		outcomes = outcomes[1:]
		switch next := next.(type) {
		case error:
			return State{}, next
		case string:
			return State{Done: next == "done", Status: next}, nil
		}
		t.Fatalf("%v is no outcome", next)
		return State{}, nil
	}
}

func repeat(outcome any, n int) []any { return slices.Repeat([]any{outcome}, n) }

func TestErrors(t *testing.T) {
	t.Parallel()
	pastEarlyGone := repeat("booting", 45) // which take more than 13 s
	for name, c := range map[string]struct {
		outcomes []any
		want     error
	}{
		"done at once":                     {[]any{"done"}, nil},
		"a final state ends it":            {[]any{"booting", errFinal}, errFinal},
		"five in a row":                    {append(repeat(errBusy, 5), "done"), nil},
		"six in a row":                     {repeat(errBusy, 6), errBusy},
		"six, but not in a row":            {slices.Concat(repeat(errBusy, 5), []any{"booting"}, repeat(errBusy, 5), []any{"done"}), nil},
		"not known yet":                    {append(repeat(errGone, 7), "done"), nil},
		"known, then gone after a while":   {append(slices.Clone(pastEarlyGone), errGone), errGone},
		"gone early doesn't use up others": {slices.Concat(repeat(errGone, 7), repeat(errBusy, 5), []any{"done"}), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := Until(t.Context(), testOptions(clock.NewInstant(time.Unix(0, 0))), script(t, c.outcomes...))
			if !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}

func TestToleranceCanBeTurnedOff(t *testing.T) {
	t.Parallel()
	o := testOptions(clock.NewInstant(time.Unix(0, 0)))
	o.Transient, o.EarlyGone = -1, -1
	for _, want := range []error{errBusy, errGone} {
		if err := Until(t.Context(), o, script(t, want)); !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
	}
}

func TestDeadlineSaysWhatWasLastSeen(t *testing.T) {
	t.Parallel()
	cause := errors.New("create timeout of 10m")
	ctx, cancel := context.WithDeadlineCause(t.Context(), time.Now(), cause)
	defer cancel()
	// The deadline is in the past already; a context that ends during a check is another test.
	err := Until(ctx, testOptions(clock.NewInstant(time.Unix(0, 0))), script(t))
	var timeout *TimeoutError
	if !errors.As(err, &timeout) || !errors.Is(err, cause) || timeout.Polls != 0 {
		t.Fatalf("got %v", err)
	}
}

func TestDeadlineDuringACheck(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	fake := clock.NewInstant(time.Unix(0, 0))
	outcomes := script(t, "pulling", "booting", errBusy)
	calls := 0
	err := Until(ctx, testOptions(fake), func(ctx context.Context) (State, error) {
		if calls++; calls <= 3 {
			return outcomes(ctx)
		}
		fake.Advance(time.Minute)
		<-ctx.Done()
		return State{}, fmt.Errorf("GET /v1/vms/vm-1: no answer: %w", context.Cause(ctx))
	})
	var timeout *TimeoutError
	if !errors.As(err, &timeout) || !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("got %v", err)
	}
	if timeout.Last != "booting" || !errors.Is(timeout.LastErr, errBusy) || timeout.Polls != 4 || timeout.Waited < time.Minute {
		t.Errorf("got %+v", timeout)
	}
	for _, want := range []string{"instance vm-1 to be running", "booting", "503", "1m0", "4 checks"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q doesn't say %q", err, want)
		}
	}
}

func TestDeadlineDuringASleep(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	err := Until(ctx, testOptions(clock.NewManual(time.Unix(0, 0))), script(t, "booting"))
	var timeout *TimeoutError
	if !errors.As(err, &timeout) || timeout.Last != "booting" {
		t.Fatalf("got %v", err)
	}
}

func TestInterruptIsNoTimeout(t *testing.T) {
	t.Parallel()
	cause := errors.New("interrupted by the user")
	for name, check := range map[string]func(context.CancelCauseFunc) (State, error){
		"during a check": func(cancel context.CancelCauseFunc) (State, error) {
			cancel(cause)
			return State{}, context.Canceled
		},
		"before a sleep": func(cancel context.CancelCauseFunc) (State, error) {
			cancel(cause)
			return State{Status: "booting"}, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			err := Until(ctx, testOptions(clock.NewManual(time.Unix(0, 0))), func(context.Context) (State, error) { return check(cancel) })
			var timeout *TimeoutError
			if !errors.Is(err, cause) || errors.As(err, &timeout) || !strings.Contains(err.Error(), "vm-1") {
				t.Errorf("got %v", err)
			}
		})
	}
}

// What a check found out counts, even when the context ended meanwhile.
func TestOutcomeBeatsTheEndOfTheContext(t *testing.T) {
	t.Parallel()
	for _, want := range []error{nil, errFinal} {
		ctx, cancel := context.WithCancel(t.Context())
		err := Until(ctx, testOptions(clock.NewInstant(time.Unix(0, 0))), func(context.Context) (State, error) {
			cancel()
			return State{Done: true}, want
		})
		if !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
	}
}

func TestHeldAnswersAreAskedForAtOnce(t *testing.T) {
	t.Parallel()
	fake := clock.NewInstant(time.Unix(0, 0))
	calls := 0
	err := Until(t.Context(), testOptions(fake), func(context.Context) (State, error) {
		calls++
		fake.Advance(20 * time.Second)
		return State{Done: calls == 5, Status: "booting", Again: true}, nil
	})
	if err != nil || len(fake.Slept()) != 0 || calls != 5 {
		t.Errorf("%d calls, slept %v: %v", calls, fake.Slept(), err)
	}
}

func TestProgress(t *testing.T) {
	t.Parallel()
	var told []string
	o := testOptions(clock.NewInstant(time.Unix(0, 0)))
	o.Progress = func(_ context.Context, elapsed time.Duration, last string) {
		told = append(told, fmt.Sprintf("%s at %d", last, elapsed/(10*time.Second)))
	}
	outcomes := slices.Concat(repeat("pulling", 1), repeat("booting", 40), []any{"done"}) // which take between 11 and 15 s
	if err := Until(t.Context(), o, script(t, outcomes...)); err != nil {
		t.Fatal(err)
	}
	if want := []string{"pulling at 0", "booting at 0", "booting at 1"}; !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
}
