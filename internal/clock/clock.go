// Package clock is the time that waits, deadlines and expiries are measured by, so that a test can hold it.
package clock

import (
	"context"
	"sync"
	"time"
)

// Clock tells the time and waits.
type Clock interface {
	Now() time.Time
	// Sleep waits for d, or until ctx ends, whose cause it then returns. A d of zero or less returns at once.
	Sleep(ctx context.Context, d time.Duration) error
}

// System is the machine's own clock.
func System() Clock { return system{} }

type system struct{}

func (system) Now() time.Time { return time.Now() }

func (system) Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return context.Cause(ctx)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Fake is a clock that only a test moves. It is safe for concurrent use.
type Fake struct {
	mu      sync.Mutex
	now     time.Time
	instant bool
	slept   []time.Duration
	changed chan struct{}
}

// NewManual gives a clock that stands still until Advance: a Sleep blocks until then.
func NewManual(start time.Time) *Fake {
	return &Fake{now: start, changed: make(chan struct{})}
}

// NewInstant gives a clock on which every Sleep returns at once, having moved the time on by what it was asked to wait.
func NewInstant(start time.Time) *Fake {
	return &Fake{now: start, instant: true, changed: make(chan struct{})}
}

// Now is the time that the test has set.
func (f *Fake) Now() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now
}

// Advance moves the time on and wakes whoever slept until then.
func (f *Fake) Advance(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.advance(d)
}

// Slept lists how long each Sleep was asked to wait, oldest first.
func (f *Fake) Slept() []time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]time.Duration(nil), f.slept...)
}

// Sleep waits as Clock says, by the time of the test.
func (f *Fake) Sleep(ctx context.Context, d time.Duration) error {
	if err := context.Cause(ctx); err != nil || d <= 0 {
		return err
	}
	f.mu.Lock()
	f.slept = append(f.slept, d)
	until := f.now.Add(d)
	if f.instant {
		f.advance(d)
	}
	for f.now.Before(until) {
		changed := f.changed
		f.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		f.mu.Lock()
	}
	f.mu.Unlock()
	return nil
}

func (f *Fake) advance(d time.Duration) {
	f.now = f.now.Add(d)
	close(f.changed)
	f.changed = make(chan struct{})
}
