//go:build unix

package workspace

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/agentenv/terraform-provider-gpuvm/internal/acctest"
	"github.com/agentenv/terraform-provider-gpuvm/internal/terraformcli"
)

// programs is the folder of the built providers, for the whole test program.
var programs string

// Main builds the providers, runs a package's tests and gives the exit code: a TestMain hands it to os.Exit.
func Main(m *testing.M) int {
	dir, err := os.MkdirTemp("", "providers")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	programs = dir
	build := exec.Command("go", "build", "-o", dir+"/", "../..", "../../cmd/...") //nolint:noctx // go test's own deadline ends it
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "building the providers:", err)
		return 1
	}
	return m.Run()
}

// Workspace is a folder with a configuration and its state.
type Workspace struct {
	Dir string
	env []string
}

// New makes one. The configuration's file is main.tf, or main.tf.json where it is JSON; state is that of terraform.tfstate, nil
// for none. Terraform gets no variables of the test's environment that would lead it elsewhere, and env besides.
func New(t *testing.T, config string, state []byte, env ...string) *Workspace {
	t.Helper()
	w := &Workspace{Dir: t.TempDir()}
	name := "main.tf"
	if strings.HasPrefix(config, "{") {
		name = "main.tf.json"
	}
	w.Write(t, name, []byte(config))
	if state != nil {
		w.Write(t, "terraform.tfstate", state)
	}
	cli := w.Write(t, "cli.tfrc", []byte(terraformcli.DevOverrides(programs, "registry.terraform.io/agentenv/gpuvm", "registry.terraform.io/agentenv/opensandbox")))
	w.env = terraformcli.Environment(cli, env...)
	return w
}

// Env sets variables of the commands to come, as "NAME=value".
func (w *Workspace) Env(settings ...string) { w.env = append(w.env, settings...) }

// Write writes a file into the folder and gives its path.
func (w *Workspace) Write(t *testing.T, name string, data []byte) string {
	t.Helper()
	file := filepath.Join(w.Dir, name)
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// Object is what a state file holds of one.
type Object struct {
	ID      string
	Tainted bool
}

// State reads the objects of the state file; a file that isn't there holds none.
func (w *Workspace) State(t *testing.T) []Object {
	t.Helper()
	data := w.StateFile(t)
	if len(data) == 0 { // Terraform makes an empty one to lock it
		return nil
	}
	var file struct {
		Resources []struct {
			Instances []struct {
				Status     string `json:"status"`
				Attributes struct {
					ID string `json:"id"`
				} `json:"attributes"`
			} `json:"instances"`
		} `json:"resources"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatalf("the state file: %v", err)
	}
	var all []Object
	for _, resource := range file.Resources {
		for _, instance := range resource.Instances {
			all = append(all, Object{instance.Attributes.ID, instance.Status == "tainted"})
		}
	}
	return all
}

// StateFile is the state file; nil where there is none.
func (w *Workspace) StateFile(t *testing.T) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(w.Dir, "terraform.tfstate"))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Run is a Terraform command under way, in a process group of its own.
type Run struct {
	Output *Output

	cmd   *exec.Cmd
	done  chan struct{} // closed once the command has ended
	ended error         // what it ended with; read after done
	gone  chan struct{} // closed once the command and everything that it has started are gone
}

// Start starts a command. What it leaves behind is killed at the end of the test.
func (w *Workspace) Start(t *testing.T, args ...string) *Run {
	t.Helper()
	r := &Run{Output: &Output{}, done: make(chan struct{}), gone: make(chan struct{})}
	r.cmd = exec.Command(acctest.CLI(), args...) //nolint:noctx // Finish has the deadline, and the end of the test the last word
	r.cmd.Dir, r.cmd.Env = w.Dir, w.env
	r.cmd.Stdout, r.cmd.Stderr = r.Output, r.Output
	terraformcli.InOwnGroup(r.cmd)
	// Every process that is started inherits this pipe's end. Once none is left, the other end is at its end, too.
	alive, held, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.cmd.ExtraFiles = []*os.File{held}
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = held.Close() // the command has its own
	go func() {
		r.ended = r.cmd.Wait()
		close(r.done)
	}()
	go func() {
		_, _ = io.Copy(io.Discard, alive) // however it ends, nobody holds the other end
		_ = alive.Close()
		close(r.gone)
	}()
	t.Cleanup(func() {
		_ = r.SignalGroup(syscall.SIGKILL) // of a test that has failed half-way
		<-r.gone
	})
	return r
}

// Do runs a command to its end, and gives what it printed.
func (w *Workspace) Do(ctx context.Context, t *testing.T, args ...string) string {
	t.Helper()
	r := w.Start(t, args...)
	if err := r.Finish(ctx); err != nil {
		t.Fatalf("terraform %s: %v\n%s", strings.Join(args, " "), err, r.Output)
	}
	return r.Output.String()
}

// Finish waits for the command and all that it has started to end, and gives the command's error.
func (r *Run) Finish(ctx context.Context) error {
	select {
	case <-r.gone:
		<-r.done
		return r.ended
	case <-ctx.Done():
		return fmt.Errorf("it didn't end: %w; so far it said:\n%s", ctx.Err(), r.Output)
	}
}

// Done is closed once the command itself has ended, whatever it has left behind; Gone once that has ended, too.
func (r *Run) Done() <-chan struct{} { return r.done }

// Gone is closed once the command and all that it has started have ended.
func (r *Run) Gone() <-chan struct{} { return r.gone }

// Signal sends a signal to Terraform alone, SignalGroup to its whole process group, as a terminal does.
func (r *Run) Signal(s syscall.Signal) error { return r.cmd.Process.Signal(s) }

// SignalGroup sends a signal to Terraform and its providers.
func (r *Run) SignalGroup(s syscall.Signal) error { return syscall.Kill(-r.cmd.Process.Pid, s) }

// Provider finds the process of the provider among the command's children.
func (r *Run) Provider() (int, error) {
	list, err := exec.Command("ps", "-A", "-o", "pid=,ppid=,args=").Output() //nolint:noctx // it takes no time
	if err != nil {
		return 0, fmt.Errorf("listing processes: %w", err)
	}
	for line := range strings.Lines(string(list)) {
		var pid, parent int
		var program string
		if _, err := fmt.Sscan(line, &pid, &parent, &program); err == nil &&
			parent == r.cmd.Process.Pid && strings.HasPrefix(filepath.Base(program), "terraform-provider-") {
			return pid, nil
		}
	}
	return 0, errors.New("the command has no provider running")
}

// Output keeps what was printed, and tells when a text was.
type Output struct {
	mu      sync.Mutex
	text    bytes.Buffer
	waiting map[string]chan struct{}
}

// Write is for the command.
func (o *Output) Write(data []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text.Write(data)
	for text, told := range o.waiting {
		if bytes.Contains(o.text.Bytes(), []byte(text)) {
			close(told)
			delete(o.waiting, text)
		}
	}
	return len(data), nil
}

// Said gives a channel that is closed once a text has been printed.
func (o *Output) Said(text string) <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	told := make(chan struct{})
	if bytes.Contains(o.text.Bytes(), []byte(text)) {
		close(told)
		return told
	}
	if o.waiting == nil {
		o.waiting = map[string]chan struct{}{}
	}
	o.waiting[text] = told
	return told
}

// String is all of it.
func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}
