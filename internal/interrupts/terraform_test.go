//go:build unix

package interrupts_test

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

// programs is the folder of the built providers.
var programs string

func TestMain(m *testing.M) { os.Exit(withPrograms(m)) }

func withPrograms(m *testing.M) int {
	dir, err := os.MkdirTemp("", "interrupts")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	programs = dir
	build := exec.Command("go", "build", "-o", dir+"/", "../..", "../../cmd/...")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "building the providers:", err)
		return 1
	}
	return m.Run()
}

// workspace is a folder with a configuration and its state.
type workspace struct {
	dir string
	env []string
}

func newWorkspace(t *testing.T, config string, state []byte, env ...string) *workspace {
	t.Helper()
	dir := t.TempDir()
	write := func(name string, data []byte) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	write("main.tf", []byte(config))
	if state != nil {
		write("terraform.tfstate", state)
	}
	cli := write("cli.tfrc", []byte(terraformcli.DevOverrides(programs, "registry.terraform.io/agentenv/gpuvm", "registry.terraform.io/agentenv/opensandbox")))
	return &workspace{dir: dir, env: terraformcli.Environment(cli, env...)}
}

// object is what a state file holds of one.
type object struct {
	ID      string
	Tainted bool
}

// state reads the objects of the state file; a file that isn't there holds none.
func (w *workspace) state(t *testing.T) []object {
	t.Helper()
	data := w.stateFile(t)
	if len(data) == 0 { // Terraform makes an empty one to lock it
		return nil
	}
	var file struct {
		Resources []struct {
			Instances []struct {
				Status     string
				Attributes struct{ ID string }
			}
		}
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatalf("the state file: %v", err)
	}
	var all []object
	for _, resource := range file.Resources {
		for _, instance := range resource.Instances {
			all = append(all, object{instance.Attributes.ID, instance.Status == "tainted"})
		}
	}
	return all
}

func (w *workspace) stateFile(t *testing.T) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(w.dir, "terraform.tfstate"))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// run is a Terraform command under way, in a process group of its own.
type run struct {
	cmd    *exec.Cmd
	output *output
	ended  chan error    // what the command ended with
	gone   chan struct{} // closed once the command and everything that it has started are gone
}

func (w *workspace) start(t *testing.T, args ...string) *run {
	t.Helper()
	r := &run{output: &output{}, ended: make(chan error, 1), gone: make(chan struct{})}
	r.cmd = exec.Command(acctest.CLI(), args...)
	r.cmd.Dir, r.cmd.Env = w.dir, w.env
	r.cmd.Stdout, r.cmd.Stderr = r.output, r.output
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
	held.Close()
	go func() { r.ended <- r.cmd.Wait() }()
	go func() {
		_, _ = io.Copy(io.Discard, alive) // however it ends, nobody holds the other end
		alive.Close()
		close(r.gone)
	}()
	t.Cleanup(func() {
		_ = syscall.Kill(-r.cmd.Process.Pid, syscall.SIGKILL) // of a test that has failed half-way
		<-r.gone
	})
	return r
}

// finish waits for the command and all that it has started to end, and gives the command's error.
func (r *run) finish(ctx context.Context) error {
	select {
	case <-r.gone:
		return <-r.ended
	case <-ctx.Done():
		return fmt.Errorf("it didn't end: %w; so far it said:\n%s", ctx.Err(), r.output)
	}
}

// do runs a command to its end.
func (w *workspace) do(ctx context.Context, t *testing.T, args ...string) {
	t.Helper()
	r := w.start(t, args...)
	if err := r.finish(ctx); err != nil {
		t.Fatalf("terraform %s: %v\n%s", strings.Join(args, " "), err, r.output)
	}
}

// provider finds the process of the provider among the command's children.
func (r *run) provider() (int, error) {
	list, err := exec.Command("ps", "-A", "-o", "pid=,ppid=,args=").Output()
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(list)) {
		var pid, parent int
		var program string
		if _, err := fmt.Sscan(line, &pid, &parent, &program); err == nil &&
			parent == r.cmd.Process.Pid && strings.HasPrefix(filepath.Base(program), "terraform-provider-") {
			return pid, nil
		}
	}
	return 0, errors.New("Terraform has no provider running")
}

// output keeps what was printed, and tells when a text was.
type output struct {
	mu      sync.Mutex
	text    bytes.Buffer
	waiting map[string]chan struct{}
}

func (o *output) Write(data []byte) (int, error) {
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

// said gives a channel that is closed once a text has been printed.
func (o *output) said(text string) <-chan struct{} {
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

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}
