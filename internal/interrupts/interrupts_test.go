//go:build unix

package interrupts_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/faults"
	"github.com/agentenv/terraform-provider-gpuvm/internal/figures"
	"github.com/agentenv/terraform-provider-gpuvm/internal/workspace"
)

func TestMain(m *testing.M) { os.Exit(workspace.Main(m)) }

// Nobody waits longer for one command and what it leaves: the clean-up's own deadline is two minutes.
const patience = 150 * time.Second

// side is one provider with its service.
type side struct {
	name string
	// start gives a service with the same ids each time.
	start func(t *testing.T) service
	// config is the resource, named "it" and labelled so that whoever looks finds it; address is its address.
	config, address string
	operations      []operation
}

// service is a fake under one run.
type service interface {
	Faults() *faults.Set
	// Env leads a provider there.
	Env() []string
	// Standing lists the ids of what stands, Labelled those that carry the label of the configuration.
	Standing() []string
	Labelled() []string
	// Make makes what the configuration would, by other hands.
	Make(t *testing.T) (id string)
	// Created counts the creates that were asked for.
	Created() int
}

// operation is what is interrupted, and at which requests.
type operation struct {
	name    string
	config  string // where it isn't the side's
	args    []string
	again   []string // what the user runs next
	state   func(ctx context.Context, t *testing.T, s side) []byte
	moments []moment
}

// moment is a request that is held while the interrupt comes: before the service has done it, or after, while it holds back
// the answer.
type moment struct {
	name         string
	method, path string
	skip         int
	before       bool
}

// cut is a way to cut a run short.
type cut struct {
	name string
	env  []string
	send func(*workspace.Run) error
	// heard says that Terraform tells of it, and lets what is under way end.
	heard bool
	// loses says that no provider can prevent a loss: it is killed, too.
	loses bool
}

var cuts = []cut{
	{name: "Ctrl-C", heard: true, send: toGroup(syscall.SIGINT)},
	{name: "Ctrl-C twice", loses: true, send: func(r *workspace.Run) error {
		if err := toGroup(syscall.SIGINT)(r); err != nil {
			return err
		}
		<-r.Output.Said(interrupted)
		return toGroup(syscall.SIGINT)(r)
	}},
	{name: "SIGTERM to terraform", heard: true, send: toTerraform(syscall.SIGTERM)},
	{name: "SIGTERM to the process group", heard: true, send: toGroup(syscall.SIGTERM)},
	// The provider's log is lost with Terraform; a line of it must not end the provider.
	{name: "SIGKILL of terraform", env: []string{"TF_LOG=TRACE", "TF_LOG_PATH=" + os.DevNull}, send: func(r *workspace.Run) error {
		if err := toTerraform(syscall.SIGKILL)(r); err != nil {
			return err
		}
		<-r.Done()
		return nil
	}},
	{name: "SIGKILL of the provider", loses: true, send: func(r *workspace.Run) error {
		pid, err := r.Provider()
		if err != nil {
			return err
		}
		return syscall.Kill(pid, syscall.SIGKILL)
	}},
}

// interrupted is what Terraform and OpenTofu print when they have heard.
const interrupted = "Interrupt received"

func toGroup(s syscall.Signal) func(*workspace.Run) error {
	return func(r *workspace.Run) error { return r.SignalGroup(s) }
}

func toTerraform(s syscall.Signal) func(*workspace.Run) error {
	return func(r *workspace.Run) error { return r.Signal(s) }
}

// tally counts what was tried, for a line of figures.
type tally struct {
	mu         sync.Mutex
	runs, left int
}

// full is whether each moment meets each cut, instead of every other.
var full = os.Getenv("INTERRUPTS") == "full"

func testInterrupts(t *testing.T, s side) {
	var count tally
	t.Run("at", func(t *testing.T) {
		for _, op := range s.operations {
			state := sync.OnceValue(func() []byte { return op.state(t.Context(), t, s) })
			for i, at := range op.moments {
				for j, by := range cuts {
					if !full && (i+j)%2 == 1 {
						continue
					}
					t.Run(op.name+"/"+at.name+"/"+by.name, func(t *testing.T) {
						t.Parallel()
						count.add(interrupt(t, s, op, at, by, state()))
					})
				}
			}
		}
	})
	figures.Tell(t, "interrupts-"+s.name, fmt.Sprintf("%s: %d interrupts of the real programs; lost though promised: 0; left by a second Ctrl-C or a SIGKILL of the provider, as documented: %d",
		s.name, count.runs, count.left))
}

func (c *tally) add(left int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.runs++
	c.left += left
}

// interrupt cuts one run short, judges what is left, and does what the user would do next. It gives how many objects no
// state knows.
func interrupt(t *testing.T, s side, op operation, at moment, by cut, state []byte) int {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	service := s.start(t)
	if state != nil {
		service.Make(t)
	}
	before := service.Standing()
	config := s.config
	if op.config != "" {
		config = op.config
	}
	w := workspace.New(t, config, state, append(service.Env(), by.env...)...)
	service.Faults().Order(faults.Fault{Method: at.method, Path: at.path, Skip: at.skip, Kind: faults.Hang, Before: at.before})
	defer service.Faults().Clear()
	arrived := arrival(service.Faults(), at)

	r := w.Start(t, op.args...)
	select {
	case <-arrived:
	case <-r.Gone():
		t.Fatalf("it ended before %s came:\n%s", at.name, r.Output)
	case <-ctx.Done():
		t.Fatalf("%s never came:\n%s", at.name, r.Output)
	}
	if err := by.send(r); err != nil {
		t.Fatal(err)
	}
	if by.heard {
		select {
		case <-r.Output.Said(interrupted):
		case <-ctx.Done():
			t.Fatalf("Terraform didn't hear it:\n%s", r.Output)
		}
	}
	service.Faults().Clear()
	err := r.Finish(ctx)
	var exit *exec.ExitError
	ended := err == nil && op.name == "destroy" // the interrupt came too late
	if !ended && !errors.As(err, &exit) {
		t.Fatalf("terraform %s ended with %v, want a failure:\n%s", op.name, err, r.Output)
	}
	if strings.Contains(r.Output.String(), "The provider crashed") {
		t.Errorf("it crashed:\n%s", r.Output)
	}
	left := judge(t, op, by, service, w, before)
	if t.Failed() {
		t.Logf("it said:\n%s", r.Output)
		return left
	}
	next(ctx, t, op, service, w, left)
	return left
}

// arrival gives a channel that is closed when the request of the moment comes.
func arrival(set *faults.Set, at moment) <-chan struct{} {
	arrived := make(chan struct{})
	wanted := &faults.Fault{Method: at.method, Path: at.path}
	var mu sync.Mutex
	count := 0
	set.OnRequest(func(record faults.Record) {
		mu.Lock()
		defer mu.Unlock()
		if wanted.Matches(record.Method, record.Path) {
			if count++; count == at.skip+1 {
				close(arrived)
			}
		}
	})
	return arrived
}

// judge holds what is left against what is promised.
func judge(t *testing.T, op operation, by cut, service service, w *workspace.Workspace, before []string) int {
	t.Helper()
	var known []string
	for _, object := range w.State(t) {
		known = append(known, object.ID)
		if object.Tainted && op.name != "create" {
			t.Errorf("%s is tainted by an interrupted %s", object.ID, op.name)
		}
	}
	var unknown []string
	for _, id := range service.Standing() {
		if !slices.Contains(known, id) {
			unknown = append(unknown, id)
		}
	}
	switch {
	case len(unknown) > 0 && !by.loses:
		t.Errorf("%v stand, and the state knows only %v", unknown, known)
	case len(unknown) > 1:
		t.Errorf("%v stand, of one create", unknown)
	}
	for _, id := range unknown {
		if !slices.Contains(service.Labelled(), id) {
			t.Errorf("%s is left without the label to find it by", id)
		}
	}
	if op.name == "update" && !slices.Equal(known, before) {
		t.Errorf("the state knows %v after an interrupted %s of %v", known, op.name, before)
	}
	if op.name == "update" && !slices.Equal(service.Standing(), before) {
		t.Errorf("%v stand after an interrupted update of %v", service.Standing(), before)
	}
	return len(unknown)
}

// next runs what the user runs next, and sees that it puts everything right.
func next(ctx context.Context, t *testing.T, op operation, service service, w *workspace.Workspace, left int) {
	t.Helper()
	created := service.Created()
	w.Do(ctx, t, op.again...)
	state := w.State(t)
	switch op.name {
	case "destroy":
		if len(state) > 0 || len(service.Standing()) > left {
			t.Errorf("the next destroy leaves %v in the state, %v at the service", state, service.Standing())
		}
	case "create":
		if len(state) != 1 || state[0].Tainted || !slices.Contains(service.Standing(), state[0].ID) || len(service.Standing()) != 1+left {
			t.Errorf("after the next apply the state holds %v, the service %v", state, service.Standing())
		}
	case "update":
		if len(state) != 1 || state[0].Tainted || service.Created() != created {
			t.Errorf("after the next apply the state holds %v; %d creates were asked for", state, service.Created()-created)
		}
	}
}
