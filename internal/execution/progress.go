package execution

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/action"

	"github.com/agentenv/terraform-provider-gpuvm/internal/clock"
	"github.com/agentenv/terraform-provider-gpuvm/internal/transcript"
)

const (
	// heartbeat is how long an action is silent before it says that it still waits.
	heartbeat = 10 * time.Second
	// backlog is how many lines wait for a Terraform that is slow to take them, before the command is slowed down.
	backlog = 256
)

// Progress tells Terraform what an action does. It is safe for concurrent use until Close.
type Progress struct {
	ctx    context.Context
	lines  chan string
	told   chan struct{}
	count  atomic.Int64
	beats  sync.WaitGroup
	ending context.CancelFunc
	beat   context.Context
}

// StartProgress tells what comes through send, until Close.
func StartProgress(ctx context.Context, send func(action.InvokeProgressEvent)) *Progress {
	p := &Progress{ctx: ctx, lines: make(chan string, backlog), told: make(chan struct{})}
	p.beat, p.ending = context.WithCancel(ctx)
	go func() {
		defer close(p.told)
		for line := range p.lines {
			// A Terraform that has hung up takes no more: the send would wait for ever.
			if ctx.Err() == nil {
				send(action.InvokeProgressEvent{Message: line})
			}
		}
	}()
	return p
}

// Line tells one line, without what would move the cursor of the terminal that it ends on. It waits where Terraform is
// slow; a line that comes after the end of ctx is dropped.
func (p *Progress) Line(text string) {
	p.count.Add(1)
	select {
	case p.lines <- transcript.Clean(text):
	case <-p.ctx.Done():
	}
}

// Printed tells what a command has printed, where it comes all at once after the end.
func (p *Progress) Printed(e Ended) {
	for _, output := range []transcript.Output{e.Stdout, e.Stderr} {
		if output.Truncated {
			p.Line(fmt.Sprintf("… (only the last %d KiB were kept)", transcript.MaxKept>>10))
		}
		for line := range transcript.Lines(output.Text) {
			p.Line(line)
		}
	}
}

// Beat says after each silence of 10 seconds that what is still going on, until Close.
func (p *Progress) Beat(c clock.Clock, what string) {
	p.beats.Go(func() {
		start, seen := c.Now(), p.count.Load()
		for c.Sleep(p.beat, heartbeat) == nil {
			if now := p.count.Load(); now != seen {
				seen = now
				continue
			}
			p.Line(fmt.Sprintf("%s, %s so far", what, c.Now().Sub(start).Round(time.Second)))
			seen = p.count.Load()
		}
	})
}

// Close waits until Terraform has been told everything, or is gone.
func (p *Progress) Close() {
	p.ending()
	p.beats.Wait()
	close(p.lines)
	select {
	case <-p.told:
	case <-p.ctx.Done():
	}
}
