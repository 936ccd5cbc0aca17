package gpuvm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/apiclient"
	api "github.com/agentenv/terraform-provider-gpuvm/internal/apiclient/gpuvm"
	"github.com/agentenv/terraform-provider-gpuvm/internal/clock"
	"github.com/agentenv/terraform-provider-gpuvm/internal/poll"
)

// FailedError is a VM that ended in status failed.
type FailedError struct{ VM api.VM }

func (e *FailedError) Error() string {
	if e.VM.Error == "" {
		return fmt.Sprintf("%s failed, and the service gives no reason", e.VM.ID)
	}
	return fmt.Sprintf("%s failed: %s", e.VM.ID, e.VM.Error)
}

// maxHold is how long a service is asked to hold the answer about a booting VM.
const maxHold = 25 * time.Second

// waitRunning follows a VM until it runs. failed is final; a status it doesn't know isn't. image is what was asked for:
// machines of one image take about as long to boot.
func (l *Lifecycle) waitRunning(ctx context.Context, vm api.VM, image string, timeout time.Duration) (api.VM, error) {
	if done, err := judge(vm); done {
		return vm, err
	}
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	options := l.pollOptions(vm.ID + " to run")
	options.Memory, options.Kind = &l.boots, image
	start := l.now()
	err := poll.Until(ctx, options, func(ctx context.Context) (poll.State, error) {
		latest, held, err := l.getHeld(ctx, vm.ID, start)
		if err != nil {
			return poll.State{Status: vm.Status}, err
		}
		vm = latest
		done, err := judge(vm)
		return poll.State{Done: done, Status: vm.Status, Again: held}, err
	})
	var late *poll.TimeoutError
	if errors.As(err, &late) && late.Last == "" {
		late.Last = vm.Status
	}
	return vm, err
}

// getHeld reads a VM that boots since start, and lets the service hold the answer; meanwhile the wait still tells of itself.
func (l *Lifecycle) getHeld(ctx context.Context, id string, start time.Time) (vm api.VM, held bool, err error) {
	waiting := func(ctx context.Context, _ time.Duration) {
		l.progress(ctx, "waiting for "+id+" to run", map[string]any{"elapsed": shown(l.now().Sub(start))})
	}
	err = poll.While(ctx, clock.System(), waiting, func() (err error) {
		hold := hold(ctx)
		vm, held, err = l.API.GetWait(ctx, id, hold, hold+l.RequestTimeout)
		return err
	})
	return vm, held, err
}

// hold is how long the service may hold an answer, so that the last one still comes before the deadline.
func hold(ctx context.Context) time.Duration {
	deadline, bounded := ctx.Deadline()
	if !bounded {
		return maxHold
	}
	return max(0, min(maxHold, (time.Until(deadline)-time.Second).Truncate(time.Second)))
}

func judge(vm api.VM) (done bool, err error) {
	switch vm.Status {
	case api.StatusRunning:
		return true, nil
	case api.StatusFailed:
		return true, &FailedError{VM: vm}
	}
	return false, nil
}

// waitReady runs the readiness command until it succeeds. The VM may answer 5xx while its agent starts; a 4xx is final.
func (l *Lifecycle) waitReady(ctx context.Context, id string, argv []string) error {
	if len(argv) == 0 {
		return nil
	}
	options := l.pollOptions("the readiness command in " + id + " to succeed")
	options.Transient = math.MaxInt
	return poll.Until(ctx, options, func(ctx context.Context) (poll.State, error) {
		result, err := l.Exec(ctx, id, argv)
		if err != nil {
			return poll.State{}, err
		}
		last := fmt.Sprintf("exit code %d", result.ExitCode)
		if output := Tail(result); output != "" {
			last += ", its output ends:\n" + l.API.Redact(output)
		}
		return poll.State{Done: result.ExitCode == 0, Status: last}, nil
	})
}

func (l *Lifecycle) pollOptions(what string) poll.Options {
	return poll.Options{
		Clock:    l.Clock,
		What:     what,
		Tolerate: apiclient.IsTransient,
		Gone:     apiclient.IsGone,
		Progress: func(ctx context.Context, elapsed time.Duration, last string) {
			l.progress(ctx, "waiting for "+what, map[string]any{"elapsed": shown(elapsed), "last": last})
		},
	}
}
