package gpuvm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/apiclient"
	api "github.com/agentenv/terraform-provider-gpuvm/internal/apiclient/gpuvm"
	"github.com/agentenv/terraform-provider-gpuvm/internal/crash"
	"github.com/agentenv/terraform-provider-gpuvm/internal/redact"
	"github.com/agentenv/terraform-provider-gpuvm/internal/uuid"
)

// File is what is put into a new VM.
type File struct {
	Path string
	Data []byte
}

// Spec is the VM that is wanted, and what has to be true of it before it counts as made.
type Spec struct {
	Request          api.CreateRequest
	BootTimeout      time.Duration // 0: only the context bounds the boot
	ReadinessCommand []string
	Files            []File // uploaded in this order
	SetupScript      string
	Secrets          []string        // contents of Files that no message may show, whoever repeats them
	KeepFailed       bool            // leave a machine that failed, for debugging
	Noted            func(id string) // hears the id before anything else can fail
}

// Create makes exactly one VM and sees it through to usable. On any failure, interrupt or panic the error is a
// *CreateError, which says what became of the machine.
func (l *Lifecycle) Create(ctx context.Context, spec Spec) (vm api.VM, err error) {
	// A service may repeat the script, too, which its own output may: it is what the user has to correct.
	ctx = redact.Within(ctx, append(slices.Clone(spec.Secrets), spec.SetupScript)...)
	failure := &CreateError{Key: uuid.New(), Labels: spec.Request.Labels, secrets: spec.Secrets}
	defer func() {
		if value := recover(); value != nil {
			err = failure.at(failure.Stage, crash.Recovered(value))
		}
		if err != nil {
			// What came of an answer that can't be read isn't what was asked for: there is nothing to debug in it.
			unreadable := failure.Stage == StageCreate && isMalformed(err)
			l.settle(ctx, failure, spec.KeepFailed && !unreadable)
			err = failure
		}
	}()

	failure.Stage = StageCreate
	vm, err = l.createOnce(ctx, failure, spec.Request)
	if err != nil {
		return vm, failure.at(StageCreate, err)
	}
	if spec.Noted != nil {
		spec.Noted(vm.ID)
	}
	born := vm.Answered
	l.progress(ctx, "the service has accepted the machine", map[string]any{"id": vm.ID, "status": vm.Status})

	failure.Stage = StageBoot
	if vm, err = l.waitRunning(ctx, vm, spec.Request.Image, spec.BootTimeout); err != nil {
		return vm, failure.at(StageBoot, err)
	}
	failure.Stage = StagePorts
	if err := requirePorts(vm, spec.Request.Ports); err != nil {
		return vm, failure.at(StagePorts, err)
	}
	failure.Stage = StageReadiness
	if err := l.waitReady(ctx, vm.ID, spec.ReadinessCommand); err != nil {
		return vm, failure.at(StageReadiness, err)
	}
	failure.Stage = StageFiles
	if err := l.upload(ctx, vm.ID, spec.Files); err != nil {
		return vm, failure.at(StageFiles, err)
	}
	failure.Stage = StageSetup
	if err := l.setUp(ctx, vm.ID, spec.SetupScript); err != nil {
		return vm, failure.at(StageSetup, err)
	}
	vm.Answered = born
	// Where Terraform is gone, nobody would hear of the machine.
	if cause := context.Cause(ctx); cause != nil {
		return vm, failure.at(failure.Stage, cause)
	}
	l.progress(ctx, "the machine is ready", map[string]any{"id": vm.ID, "elapsed": shown(l.now().Sub(failure.Made))})
	return vm, nil
}

// createOnce sends the create and, while its outcome is open, sends the same key again until the service says what
// became of the first. A service that doesn't know keys makes a second VM then, which is deleted at once.
func (l *Lifecycle) createOnce(ctx context.Context, failure *CreateError, body api.CreateRequest) (api.VM, error) {
	if cause := context.Cause(ctx); cause != nil {
		return api.VM{}, cause
	}
	// Cutting the request would lose the id of a machine that is being made.
	post, done := outlive(ctx, postGrace)
	defer done()

	var open error
	for attempt := 0; ; attempt++ {
		vm, replay, err := l.API.Create(post, failure.Key, body)
		failure.ID, failure.Made = vm.ID, l.now()
		switch {
		case err == nil && open != nil && replay == api.ReplayUnknown:
			failure.FirstUnknown = true
			return vm, fmt.Errorf("the service doesn't honour Idempotency-Key, so whether an earlier attempt made a VM can't be known; the attempt that was answered made %s. The earlier attempt: %w", vm.ID, open)
		case err == nil:
			return vm, context.Cause(ctx)
		case vm.ID != "": // an answer of another shape, with the id of what it made
			failure.FirstUnknown = open != nil && replay == api.ReplayUnknown
			return vm, err
		case !outcomeOpen(err):
			failure.FirstUnknown = open != nil
			return vm, errors.Join(err, open, endedBeside(ctx, err))
		}
		open = err
		if attempt >= l.Retries || ctx.Err() != nil && attempt > 0 {
			failure.FirstUnknown = true
			return vm, err
		}
		if err := l.Clock.Sleep(post, l.Backoff(attempt)); err != nil {
			failure.FirstUnknown = true
			return vm, open
		}
	}
}

// endedBeside is why ctx ended, where err doesn't say that it did.
func endedBeside(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); !errors.Is(err, cause) {
		return cause
	}
	return nil
}

// outcomeOpen says whether the service may have made a VM although no usable answer came.
func outcomeOpen(err error) bool {
	var failed *apiclient.Error
	return isMalformed(err) || errors.As(err, &failed) && failed.Open()
}

func isMalformed(err error) bool {
	var malformed *api.MalformedError
	return errors.As(err, &malformed)
}

// requirePorts sees that the service tells a URL for each port that was asked for.
func requirePorts(vm api.VM, ports []int64) error {
	var missing []int64
	for _, port := range ports {
		if vm.Ports[fmt.Sprint(port)] == "" {
			missing = append(missing, port)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("the service gave no URL for exposed port %v of %s; it told %d port(s)", missing, vm.ID, len(vm.Ports))
	}
	return nil
}

func (l *Lifecycle) upload(ctx context.Context, id string, files []File) error {
	if len(files) > 0 {
		l.progress(ctx, "uploading files", map[string]any{"id": id, "files": len(files)})
	}
	for _, file := range files {
		if err := l.API.WriteFile(ctx, id, file.Path, file.Data); err != nil {
			return fmt.Errorf("uploading %s: %w", file.Path, err)
		}
	}
	return nil
}
