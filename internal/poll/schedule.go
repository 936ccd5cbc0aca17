package poll

import (
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// The schedule. Whoever is to notice an end, whenever it comes, at most max(0.3 s, 5 % of the time waited) late can't let more than that pass
// between two checks: 20 checks in the first 6 s and 25 more up to 20 s, where a poll each 2 s makes 11. So a wait of which nothing is known
// pays for its promptness. One whose kind is known to take long needs few checks before the end is due: that is what Memory is for. (One that
// then ends sooner than nine tenths of the shortest remembered is noticed up to 3 s late, once: it is the shortest from then on.)
const (
	promptness = 20 // the delay is a 20th of the time waited: 5 %
	promptEnd  = 300 * time.Millisecond
	jitter     = 10 // a delay is shortened by up to a 10th of it, never lengthened

	// longWait is what a kind must have taken for its waits to be spared checks: below, they make little more than a poll each 2 s.
	longWait = 10 * time.Second
	// remembered waits of a kind: enough to know its shortest, few enough to forget a slow day.
	remembered = 8
)

// pause is how long to sleep after a check that was started at asked and came back at now.
func (w *wait) pause(asked, now time.Time, again bool) time.Duration {
	took := now.Sub(asked)
	if again {
		return max(0, w.MinDelay-took) // at once, unless the service doesn't really hold its answers
	}
	delay := w.delay(asked.Sub(w.start), w.Memory.shortest(w.Kind))
	return max(w.MinDelay, delay-time.Duration(rand.Int64N(int64(delay)/jitter+1))-took)
}

// delay from a check to the next, at most, when elapsed has been waited and the shortest wait remembered took usual (0: none is).
func (o Options) delay(elapsed, usual time.Duration) time.Duration {
	delay := min(promptEnd, o.MinDelay+elapsed/4) // the very first are closer together: something that is nearly there costs little
	delay = min(o.MaxDelay, max(o.MinDelay, delay, elapsed/promptness))
	due := usual - usual/10
	if usual >= longWait && elapsed < due {
		delay = max(delay, min(due-elapsed, o.MaxDelay+o.MaxDelay/2)) // a failure is still noticed soon
	}
	return delay
}

// Memory keeps how long the last waits of each kind took. It is safe for concurrent use; a nil one, like the zero value, knows nothing.
type Memory struct {
	mu   sync.Mutex
	took map[string][]time.Duration
}

func (m *Memory) note(kind string, took time.Duration) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.took == nil {
		m.took = map[string][]time.Duration{}
	}
	m.took[kind] = append(m.took[kind], took)
	m.took[kind] = m.took[kind][max(0, len(m.took[kind])-remembered):]
}

// shortest is 0 where no wait of the kind is remembered.
func (m *Memory) shortest(kind string) time.Duration {
	if m == nil {
		return 0
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.took[kind]) == 0 {
		return 0
	}
	return slices.Min(m.took[kind])
}
