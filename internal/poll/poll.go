// Package poll asks a service again and again until something has come about.
package poll

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/clock"
)

// progressEvery is how often Progress is told of a wait in which nothing changes.
const progressEvery = 10 * time.Second

// Options say what is waited for and how. The zero value of each has a default.
type Options struct {
	Clock clock.Clock // default: the system's
	What  string      // completes "waiting for ...": "instance vm-1 to be running"
	// The delay from one check to the next; defaults 100 ms and 2 s.
	MinDelay, MaxDelay time.Duration
	// Memory, shared by waits of the same Kind, spares most checks of those that others have shown to take long; nil: none.
	Memory *Memory
	Kind   string
	// Transient is how many errors in a row that Tolerate accepts are put up with; default 5, negative: none.
	Transient int
	Tolerate  func(error) bool
	// EarlyGone is how long after the start an error that Gone accepts is put up with, as a service may know an object a moment late;
	// default 10 s, negative: not at all.
	EarlyGone time.Duration
	Gone      func(error) bool
	// Progress is told how long the wait has taken and the last status: when that changes, and every 10 s.
	Progress func(ctx context.Context, elapsed time.Duration, last string)
}

// State is what a check saw.
type State struct {
	Done   bool
	Status string // shown when the time is up
	Again  bool   // ask again at once: the service held the answer back (Prefer: wait)
}

// TimeoutError says that the context's deadline came first.
type TimeoutError struct {
	What    string
	Waited  time.Duration
	Last    string // the last status seen; "" where none was
	LastErr error  // what the last check failed with; nil where it didn't
	Polls   int    // how often the service was asked
	cause   error
}

func (e *TimeoutError) Error() string {
	text := fmt.Sprintf("waiting for %s: not so after %s and %s", e.What, e.Waited.Round(time.Millisecond), checks(e.Polls))
	if e.Last != "" {
		text += "; last status: " + e.Last
	}
	if e.LastErr != nil {
		text += "; last error: " + e.LastErr.Error()
	}
	return text
}

// Unwrap gives the context's cause, by default context.DeadlineExceeded.
func (e *TimeoutError) Unwrap() error { return e.cause }

// wait is one Until.
type wait struct {
	Options
	start    time.Time
	polls    int
	failures int // in a row
	last     string
	lastErr  error
	told     time.Time // when Progress was last called
	toldOf   string
}

// Until calls check, at once and then with growing delays, until it is done, fails with an error that isn't put up with, or the context ends:
// its deadline gives a *TimeoutError, anything else context.Cause, wrapped.
func Until(ctx context.Context, o Options, check func(ctx context.Context) (State, error)) error {
	w := &wait{Options: o.withDefaults()}
	w.start = w.Clock.Now()
	for {
		if ctx.Err() != nil {
			return w.ended(ctx)
		}
		asked := w.Clock.Now()
		state, err := check(ctx)
		w.polls++
		now := w.Clock.Now()
		switch {
		case err == nil && state.Done:
			w.Memory.note(w.Kind, now.Sub(w.start))
			return nil
		case err == nil:
			w.failures, w.last, w.lastErr = 0, state.Status, nil
		case ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx))):
			return w.ended(ctx) // the error only says that the check was cut short
		case w.tolerates(err, asked):
			w.lastErr = err
		default:
			return err
		}
		w.report(ctx, now)
		if w.Clock.Sleep(ctx, w.pause(asked, now, state.Again && err == nil)) != nil {
			return w.ended(ctx)
		}
	}
}

func (o Options) withDefaults() Options {
	if o.Clock == nil {
		o.Clock = clock.System()
	}
	orDefault(&o.MinDelay, 100*time.Millisecond)
	orDefault(&o.MaxDelay, 2*time.Second)
	orDefault(&o.Transient, 5)
	orDefault(&o.EarlyGone, 10*time.Second)
	return o
}

func orDefault[T int | time.Duration](value *T, otherwise T) {
	if *value == 0 {
		*value = otherwise
	}
}

func (w *wait) tolerates(err error, asked time.Time) bool {
	if w.Gone != nil && w.Gone(err) && asked.Sub(w.start) < w.EarlyGone {
		return true
	}
	w.failures++
	return w.Tolerate != nil && w.Tolerate(err) && w.failures <= w.Transient
}

func (w *wait) report(ctx context.Context, now time.Time) {
	if w.Progress == nil || w.last == w.toldOf && now.Sub(w.told) < progressEvery {
		return
	}
	w.told, w.toldOf = now, w.last
	w.Progress(ctx, now.Sub(w.start), w.last)
}

func (w *wait) ended(ctx context.Context) error {
	cause := context.Cause(ctx)
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("waiting for %s: %w", w.What, cause)
	}
	return &TimeoutError{What: w.What, Waited: w.Clock.Now().Sub(w.start), Last: w.last, LastErr: w.lastErr, Polls: w.polls, cause: cause}
}

func checks(n int) string {
	if n == 1 {
		return "1 check"
	}
	return fmt.Sprintf("%d checks", n)
}
