package poll

import (
	"context"
	"sync"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/clock"
)

// While does something that tells nothing before its end, such as a request whose answer takes as long as a script does. Every
// 10 s tell hears how long it has taken so far. While returns once do has, and nothing is told after that.
func While(ctx context.Context, c clock.Clock, tell func(ctx context.Context, elapsed time.Duration), do func() error) error {
	beat, end := context.WithCancel(ctx)
	var telling sync.WaitGroup
	defer telling.Wait()
	defer end()
	start := c.Now()
	telling.Go(func() {
		for c.Sleep(beat, progressEvery) == nil {
			tell(ctx, c.Now().Sub(start))
		}
	})
	return do()
}
