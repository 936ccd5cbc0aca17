package opensandbox

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/machine"
)

// phase is where a sandbox stands, for both runtimes.
type phase string

const (
	pending    phase = "Pending"
	allocated  phase = "Allocated" // Kubernetes; not in the specification
	running    phase = "Running"
	pausing    phase = "Pausing"
	paused     phase = "Paused"
	resuming   phase = "Resuming"
	terminated phase = "Terminated" // exited with 0
	failed     phase = "Failed"
)

// change is a phase that comes by itself at a time.
type change struct {
	at      time.Time
	to      phase
	code    int    // exit code, of terminated and failed
	message string // of failed, where there is more to say than the code
}

// sandbox is one sandbox. Service.mu guards all of it but the machine and what has a lock of its own.
type sandbox struct {
	id       string
	sequence uint64
	request  CreateRequest

	// labels are those of the container or of the workload: the user's metadata, the image's, the server's own. With Docker they
	// can't be changed, so a PATCH is kept in override, which is why a deleted key comes back.
	labels   map[string]string
	override map[string]string

	image      string // what GET shows
	entrypoint []string
	requested  time.Time // createdAt of the create's answer
	created    time.Time // createdAt of GET
	changed    time.Time // of the last transition that the runtime notes
	listed     time.Time // from when on lists show it
	deadline   time.Time // when it is removed; zero = never
	vanishes   time.Time // Kubernetes: when a deletion shows; zero = not deleted

	phase    phase
	exit     int
	message  string
	odd      *Status // a state set from outside
	coming   []change
	removing bool // Docker: a DELETE is at work
	oom      bool

	pod    *pod
	frozen chan struct{} // Docker, while paused: closed on resume
	egress *sidecar

	noShell     bool
	secureToken string
	closed      map[int]bool
	lookedUp    map[int]bool // ports whose endpoint was asked for

	base        *machine.Machine // of a snapshot, until the machine is needed
	makeMachine sync.Once
	inside      *machine.Machine

	history *history // has a lock of its own
}

// pod is what a sandbox runs in: a container, or a pod that pause and resume replace.
type pod struct {
	generation int
	life       context.Context
	end        context.CancelCauseFunc
	listens    time.Time // from when on execd answers
	noExecd    bool
	commands   commands
}

var errStopped = errors.New("the sandbox stopped")

func newPod(parent context.Context, generation int, listens time.Time) *pod {
	life, end := context.WithCancelCause(parent)
	return &pod{generation: generation, life: life, end: end, listens: listens}
}

// stopped reports whether the pod is gone, and all that ran in it.
func (p *pod) stopped() bool { return errors.Is(context.Cause(p.life), errStopped) }

// machineOf makes the sandbox's machine when it is first needed: thousands of sandboxes are only looked at.
func (s *Service) machineOf(sb *sandbox) *machine.Machine {
	sb.makeMachine.Do(func() {
		name := sb.hostname()
		if sb.base != nil {
			sb.inside = sb.base.Clone()
			sb.inside.SetHostname(name)
			return
		}
		sb.inside = machine.New(name, nil, machine.WithClock(s.clock))
		if sb.request.Image == nil {
			return
		}
		for path, content := range s.options.Images[sb.request.Image.URI].Files {
			_ = sb.inside.WriteFile(path, machine.File{Data: []byte(content), Mode: 0o755}) // a path that can't be is the test's mistake
		}
	})
	return sb.inside
}

// hostname is what the container calls itself: the first twelve digits of an id, as with Docker.
func (sb *sandbox) hostname() string { return strings.ReplaceAll(sb.id, "-", "")[:12] }

// settle lets what was due by now happen; false means that the sandbox is gone. The caller holds the lock.
func (s *Service) settle(sb *sandbox, now time.Time) bool {
	for len(sb.coming) > 0 && !sb.coming[0].at.After(now) {
		next := sb.coming[0]
		sb.coming = sb.coming[1:]
		s.enter(sb, next)
	}
	expired := !sb.deadline.IsZero() && !sb.deadline.After(now)
	vanished := !sb.vanishes.IsZero() && !sb.vanishes.After(now)
	if expired || vanished {
		s.forget(sb)
	}
	return !expired && !vanished
}

func (s *Service) enter(sb *sandbox, c change) {
	before := sb.phase
	sb.phase, sb.exit, sb.message = c.to, c.code, c.message
	switch c.to {
	case terminated, failed:
		sb.changed, sb.coming = c.at, nil
		sb.pod.end(errStopped)
		sb.thaw()
	case paused: // only Kubernetes comes to it by a change: the pod is gone, and with it all that ran
		sb.pod.end(errStopped)
	case running:
		listens := c.at.Add(s.options.ExecdDelay)
		switch {
		case before == pending:
			sb.pod.listens = listens
		case sb.pod.life.Err() != nil:
			sb.pod = newPod(s.life, sb.pod.generation+1, listens)
		}
	default: // the phase is all that changes
	}
}

// schedule adds a change that comes later; those before it stay.
func (sb *sandbox) schedule(c change) {
	sb.coming = append(sb.coming, c)
	slices.SortStableFunc(sb.coming, func(a, b change) int { return a.at.Compare(b.at) })
}

// thaw wakes what waits for a frozen container.
func (sb *sandbox) thaw() {
	if sb.frozen != nil {
		close(sb.frozen)
		sb.frozen = nil
	}
}

// forget removes the sandbox. The caller holds the lock; the machine is closed apart from it, since that waits for its commands.
func (s *Service) forget(sb *sandbox) {
	if s.sandboxes[sb.id] != sb {
		return
	}
	delete(s.sandboxes, sb.id)
	if i, found := slices.BinarySearchFunc(s.order, sb, func(a, b *sandbox) int { return cmp.Compare(a.sequence, b.sequence) }); found {
		s.order = slices.Delete(s.order, i, i+1)
	}
	for _, volume := range sb.request.Volumes {
		if volume.PVC != nil && volume.PVC.DeleteOnSandboxTermination && s.madeVolumes[volume.PVC.Name] && !s.options.Kubernetes {
			delete(s.volumes, volume.PVC.Name)
			delete(s.madeVolumes, volume.PVC.Name)
		}
	}
	sb.pod.end(errStopped)
	sb.thaw()
	s.background.Go(func() {
		sb.makeMachine.Do(func() {}) // none is made from here on, and one in the making is finished
		if sb.inside != nil {
			sb.inside.Close()
		}
	})
}

// find gives a live sandbox by its id. The caller holds the lock.
func (s *Service) find(id string) *sandbox {
	sb := s.sandboxes[id]
	if sb == nil || !s.settle(sb, s.clock.Now()) {
		return nil
	}
	return sb
}

// lookUp is find for handlers: not found is their answer.
func (s *Service) lookUp(id string) (*sandbox, *failure) {
	if sb := s.find(id); sb != nil {
		return sb, nil
	}
	if s.options.Kubernetes {
		return nil, fail(404, "KUBERNETES::SANDBOX_NOT_FOUND", "Sandbox '%s' not found", id)
	}
	return nil, fail(404, "DOCKER::SANDBOX_NOT_FOUND", "Sandbox %s not found.", id)
}

// live gives all sandboxes, oldest first, once each has been brought up to now. The caller holds the lock.
func (s *Service) live() []*sandbox {
	now := s.clock.Now()
	for _, sb := range slices.Clone(s.order) {
		s.settle(sb, now)
	}
	return s.order
}
