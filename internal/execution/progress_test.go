package execution

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/agentenv/terraform-provider-gpuvm/internal/clock"
	"github.com/agentenv/terraform-provider-gpuvm/internal/transcript"
	"github.com/agentenv/terraform-provider-gpuvm/internal/wholenumber"
)

// heard is a Terraform that notes what it is told.
type heard struct {
	mu    sync.Mutex
	lines []string
	each  chan string // unless nil: gets each line too
}

func (h *heard) take(event action.InvokeProgressEvent) {
	h.mu.Lock()
	h.lines = append(h.lines, event.Message)
	h.mu.Unlock()
	if h.each != nil {
		h.each <- event.Message
	}
}

func TestProgressTellsEachLineInOrderAndClean(t *testing.T) {
	t.Parallel()
	var terraform heard
	progress := StartProgress(t.Context(), terraform.take)
	progress.Line("running \x1b[1mit\x1b[0m")
	progress.Printed(Ended{
		Stdout: transcript.Output{Text: "one\r\n\ntwo", Truncated: true},
		Stderr: transcript.Output{Text: "oops\a\n"},
	})
	progress.Close()
	want := []string{"running it", "… (only the last 64 KiB were kept)", "one", "", "two", "oops"}
	if !slices.Equal(terraform.lines, want) {
		t.Errorf("told %q, want %q", terraform.lines, want)
	}
}

func TestProgressDoesntWaitForATerraformThatHasGone(t *testing.T) {
	t.Parallel()
	ctx, hangUp := context.WithCancel(t.Context())
	stuck := make(chan struct{})
	taken := make(chan struct{})
	progress := StartProgress(ctx, func(action.InvokeProgressEvent) { close(taken); <-stuck })
	progress.Line("the first, which is never taken")
	<-taken
	hangUp()
	for i := range 2 * backlog {
		progress.Line(fmt.Sprint("line ", i))
	}
	progress.Close()
	close(stuck)
}

func TestBeatSpeaksOnlyInSilence(t *testing.T) {
	t.Parallel()
	terraform := heard{each: make(chan string)}
	steps := newStepped()
	progress := StartProgress(t.Context(), terraform.take)
	progress.Beat(steps, "running the script in vm-1")
	steps.step() // 10 s of silence
	if got := <-terraform.each; got != "running the script in vm-1, 10s so far" {
		t.Errorf("after 10 s: %q", got)
	}
	steps.await()
	progress.Line("a line")
	<-terraform.each
	steps.step() // 10 s with a line in them
	steps.await()
	steps.step() // 10 s of silence
	if got := <-terraform.each; got != "running the script in vm-1, 30s so far" {
		t.Errorf("after 30 s: %q", got)
	}
	progress.Close()
}

// stepped is a clock on which each Sleep waits for the test to let it pass.
type stepped struct {
	*clock.Fake
	asleep, pass chan struct{}
}

func newStepped() *stepped {
	s := &stepped{Fake: clock.NewInstant(time.Unix(0, 0)), asleep: make(chan struct{}, 1), pass: make(chan struct{})}
	return s
}

func (s *stepped) Sleep(ctx context.Context, d time.Duration) error {
	s.asleep <- struct{}{}
	select {
	case <-s.pass:
		return s.Fake.Sleep(ctx, d)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// await waits until somebody sleeps.
func (s *stepped) await() { <-s.asleep; s.asleep <- struct{}{} }

// step lets the sleeper go on.
func (s *stepped) step() { <-s.asleep; s.pass <- struct{}{} }

func TestLimit(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		seconds wholenumber.Value
		want    time.Duration
		refused bool
	}{
		"absent":    {wholenumber.Null(), time.Hour, false},
		"given":     {wholenumber.Of(90), 90 * time.Second, false},
		"zero":      {wholenumber.Of(0), time.Hour, true},
		"negative":  {wholenumber.Of(-1), time.Hour, true},
		"gigantic":  {wholenumber.Of(1 << 62), longest, false},
		"not known": {wholenumber.Unknown(), time.Hour, false},
	} {
		var diags diag.Diagnostics
		if got := Limit(test.seconds, &diags); got != test.want || diags.HasError() != test.refused {
			t.Errorf("%s: %s, %v", name, got, diags)
		}
	}
}
