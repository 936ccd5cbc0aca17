package poll

import (
	"context"
	"testing"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/clock"
)

// boot polls a machine that takes length to boot and tells how late that was noticed, by how many requests.
func boot(t *testing.T, o Options, length time.Duration) (late time.Duration, requests int) {
	t.Helper()
	c := clock.NewInstant(time.Unix(0, 0))
	o.Clock = c
	end := c.Now().Add(length)
	err := Until(t.Context(), o, func(context.Context) (State, error) {
		requests++
		return State{Done: !c.Now().Before(end), Status: "booting"}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, slept := range c.Slept() {
		if limit := 2 * time.Second; slept > limit && o.Memory == nil {
			t.Errorf("slept %s, more than %s", slept, limit)
		}
	}
	return c.Now().Sub(end), requests
}

func fixedPoll(length time.Duration) int { return int((length+2*time.Second-1)/(2*time.Second)) + 1 }

func TestBootIsNoticedInTime(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		length   time.Duration
		requests int // at most, the first time: promptness costs this much (see schedule.go)
	}{
		{0, 1}, {200 * time.Millisecond, 4}, {time.Second, 8}, {5 * time.Second, 25}, {20 * time.Second, 57}, {60 * time.Second, 85}, {300 * time.Second, 212},
	} {
		bound := max(300*time.Millisecond, c.length/20)
		memory := &Memory{}
		for run := range 200 { // jitter: each run is another
			late, requests := boot(t, Options{}, c.length)
			if late > bound || requests > c.requests {
				t.Errorf("boot of %s, unknown: noticed %s late by %d requests; want <= %s, <= %d", c.length, late, requests, bound, c.requests)
			}
			late, requests = boot(t, Options{Memory: memory, Kind: "image"}, c.length)
			if late > bound {
				t.Errorf("boot of %s, remembered: noticed %s late, want <= %s", c.length, late, bound)
			}
			if fixed := fixedPoll(c.length); run > 0 && c.length >= 20*time.Second && requests > fixed {
				t.Errorf("boot of %s, remembered: %d requests; a poll each 2 s makes %d", c.length, requests, fixed)
			}
		}
	}
}

// The bound holds for any length, not only for round ones, and for boots that differ by a tenth.
func TestBootOfAnyLengthIsNoticedInTime(t *testing.T) {
	t.Parallel()
	memory := &Memory{}
	for length := 50 * time.Millisecond; length < 400*time.Second; length += length / 17 {
		bound := max(300*time.Millisecond, length/20)
		if late, _ := boot(t, Options{}, length); late > bound {
			t.Errorf("boot of %s noticed %s late", length, late)
		}
		kind := length.String()
		memory.note(kind, length)
		for _, actual := range []time.Duration{length - length/10, length, length + length/10} {
			bound := max(300*time.Millisecond, actual/20)
			if late, _ := boot(t, Options{Memory: memory, Kind: kind}, actual); late > bound {
				t.Errorf("boot of %s, remembered as %s, noticed %s late", actual, length, late)
			}
		}
	}
}

func TestSurprisinglyShortBootIsNoticedWithinThreeSeconds(t *testing.T) {
	t.Parallel()
	memory := &Memory{}
	memory.note("", 5*time.Minute)
	if late, _ := boot(t, Options{Memory: memory}, 4*time.Second); late > 3*time.Second {
		t.Errorf("noticed %s late", late)
	}
}

func TestMemoryKeepsKindsApartAndForgets(t *testing.T) {
	t.Parallel()
	memory := &Memory{}
	memory.note("small", 12*time.Second)
	memory.note("large", 90*time.Second)
	if got := memory.shortest("large"); got != 90*time.Second {
		t.Errorf("large: %s", got)
	}
	for range remembered {
		memory.note("small", 40*time.Second)
	}
	if got := memory.shortest("small"); got != 40*time.Second {
		t.Errorf("small: %s, the slow ones since then are all that is remembered", got)
	}
	if got := memory.shortest("unheard of"); got != 0 {
		t.Errorf("unknown kind: %s", got)
	}
}

// Slow answers don't add to the delay, and a service that is slower than the delay still gets a pause.
func TestTimeOfTheCheckCounts(t *testing.T) {
	t.Parallel()
	w := &wait{Options: Options{}.withDefaults(), start: time.Unix(0, 0)}
	asked := w.start.Add(100 * time.Second)
	for range 100 {
		if got := w.pause(asked, asked.Add(time.Second), false); got < 800*time.Millisecond || got > time.Second {
			t.Fatalf("pause of %s after a check of 1 s", got)
		}
		if got := w.pause(asked, asked.Add(time.Minute), false); got != 100*time.Millisecond {
			t.Fatalf("pause of %s after a check of a minute", got)
		}
	}
	if got := w.pause(asked, asked.Add(10*time.Second), true); got != 0 {
		t.Errorf("pause of %s after an answer that was held", got)
	}
	if got := w.pause(asked, asked, true); got != 100*time.Millisecond {
		t.Errorf("pause of %s after an answer that only claims to have been held", got)
	}
}
