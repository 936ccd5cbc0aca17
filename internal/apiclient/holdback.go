package apiclient

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/clock"
)

// holdback keeps requests from a host that has asked one of them to wait, so that the others need not learn it one by one.
// The zero value holds nothing.
type holdback struct {
	mu    sync.Mutex
	until map[string]time.Time // by host and port
}

func (h *holdback) set(host string, until time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.until == nil {
		h.until = map[string]time.Time{}
	}
	if until.After(h.until[host]) {
		h.until[host] = until
	}
}

// wait returns once the host takes requests again, or with an error where the context ends before. Those who waited are let go one after
// the other within a tenth of the time, a second at most: all at once they would only run into the next limit.
func (h *holdback) wait(ctx context.Context, c clock.Clock, host string) error {
	for {
		h.mu.Lock()
		left := h.until[host].Sub(c.Now())
		h.mu.Unlock()
		if left <= 0 {
			return nil
		}
		if err := outlasts(ctx, left); err != nil {
			return err
		}
		spread := min(left/10, time.Second)
		if err := c.Sleep(ctx, left+time.Duration(rand.Int64N(int64(spread)+1))); err != nil {
			return err
		}
	}
}
