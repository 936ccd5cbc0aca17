package gpuvm

import (
	"context"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/apiclient"
	api "github.com/agentenv/terraform-provider-gpuvm/internal/apiclient/gpuvm"
	"github.com/agentenv/terraform-provider-gpuvm/internal/poll"
)

// Made is a Lifecycle for a VM that was made at a time: a service that doesn't know a young one is asked again. The zero time is
// long ago.
type Made struct {
	*Lifecycle
	At time.Time
}

// Delete ends the VM and waits until the service no longer knows it. One that is gone already is a success.
func (m Made) Delete(ctx context.Context, id string) error { return m.remove(ctx, id, m.At) }

// remove ends a VM that was made at a time.
func (l *Lifecycle) remove(ctx context.Context, id string, made time.Time) error {
	err := l.whileYoung(ctx, id, made, func(ctx context.Context) error { return l.API.Delete(ctx, id) })
	if apiclient.IsGone(err) {
		return nil
	} else if err != nil {
		return err
	}
	options := l.pollOptions(id + " to be gone")
	options.Gone = nil // a 404 is the end of this wait, not an early answer to sit out
	return poll.Until(ctx, options, func(ctx context.Context) (poll.State, error) {
		vm, err := l.API.Get(ctx, id)
		if apiclient.IsGone(err) {
			return poll.State{Done: true}, nil
		}
		return poll.State{Status: vm.Status}, err
	})
}

// Teardown runs the script that a VM is to run before its end. skipped says why it couldn't run: a machine that isn't
// running has nothing left to save.
func (l *Lifecycle) Teardown(ctx context.Context, id, script string) (skipped string, err error) {
	if script == "" {
		return "", nil
	}
	vm, err := l.API.Get(ctx, id)
	if apiclient.IsGone(err) {
		return "it is gone already", nil
	}
	if err != nil {
		return "", err
	}
	if vm.Status != api.StatusRunning {
		return "its status is " + vm.Status, nil
	}
	l.progress(ctx, "running the teardown script", map[string]any{"id": id})
	return "", l.RunScript(ctx, id, script)
}

// settle decides what becomes of the machine of a failed create, in a context of its own: the caller's may have ended.
func (l *Lifecycle) settle(ctx context.Context, failure *CreateError, keep bool) {
	switch {
	case failure.ID == "" && failure.FirstUnknown:
		failure.Fate = FateUnknown
		return
	case failure.ID == "":
		failure.Fate = FateNeverMade
		return
	case keep && !failure.FirstUnknown:
		failure.Fate = FateKept
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUpTimeout)
	defer cancel()
	l.progress(ctx, "deleting the machine whose create failed", map[string]any{"id": failure.ID})
	if failure.DeleteErr = l.remove(ctx, failure.ID, failure.Made); failure.DeleteErr != nil {
		failure.Fate = FateUndeleted
		return
	}
	failure.Fate = FateDeleted
}
