// Package poll asks a service again and again until something has come about.
package poll

import (
	"context"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/clock"
)

// Options say what is waited for and how. The zero value of each has a default.
type Options struct {
	Clock clock.Clock // default: the system's
	What  string      // completes "waiting for ...": "instance vm-1 to be running"
	// The delay between two checks; defaults 100 ms and 2 s.
	MinDelay, MaxDelay time.Duration
	// Transient is how many errors in a row that Tolerate accepts are put up with; default 5, negative: none.
	Transient int
	Tolerate  func(error) bool
	// EarlyGone is how long after the start an error that Gone accepts is put up with, as a service may know an object a moment late;
	// default 10 s, negative: not at all.
	EarlyGone time.Duration
	Gone      func(error) bool
	// Progress is told what is waited for, when the status changes and every 10 s.
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
	Last    string // the last status seen
	LastErr error  // the last tolerated error, where it came after Last
	Polls   int
	cause   error
}

func (e *TimeoutError) Error() string { return e.What }

func (e *TimeoutError) Unwrap() error { return e.cause }

// Until calls check until it is done, fails with an error that isn't put up with, or the context ends: its deadline gives a *TimeoutError,
// anything else context.Cause, wrapped.
func Until(ctx context.Context, o Options, check func(ctx context.Context) (State, error)) error {
	return context.Cause(ctx)
}
