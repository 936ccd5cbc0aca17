// Command reattach starts every provider in debug mode and prints one TF_REATTACH_PROVIDERS for all of them, so that
// one terraform run uses the programs that a debugger is attached to. `make debug` runs it.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/catalog"
	"github.com/agentenv/terraform-provider-gpuvm/internal/terraformcli"
)

const (
	startLimit = 30 * time.Second
	stopGrace  = 10 * time.Second
)

func main() {
	programs := flag.String("bin", ".bin/debug", "folder with the providers' programs")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *programs, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run ends with ctx, and the programs with it.
func run(ctx context.Context, programs string, out io.Writer) error {
	attached := reattach{}
	var running sync.WaitGroup
	defer running.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for _, p := range catalog.Providers() {
		one, err := start(ctx, filepath.Join(programs, p.Program()), &running)
		if err != nil {
			return fmt.Errorf("%s: %w", p.Program(), err)
		}
		maps.Copy(attached, one)
		for address, server := range one {
			fmt.Fprintf(out, "%s is process %d\n", address, server.Pid)
		}
	}
	merged, err := json.Marshal(attached)
	if err != nil {
		return fmt.Errorf("merging: %w", err)
	}
	fmt.Fprintf(out, "\nAttach a debugger to a process above, and in another terminal:\n\n  export TF_REATTACH_PROVIDERS='%s'\n  terraform plan\n\nCtrl-C ends the providers.\n", merged)
	<-ctx.Done()
	return nil
}

// reattach is the value of TF_REATTACH_PROVIDERS, by provider address
// (https://developer.hashicorp.com/terraform/plugin/debugging).
type reattach map[string]server

type server struct {
	Protocol        string
	ProtocolVersion int
	Pid             int
	Test            bool
	Addr            struct{ Network, String string }
}

// announced is the line for a Unix shell among those that a provider in debug mode prints.
var announced = regexp.MustCompile(`TF_REATTACH_PROVIDERS='(\{.*\})'`)

func start(ctx context.Context, program string, running *sync.WaitGroup) (reattach, error) {
	cmd := exec.CommandContext(ctx, program, "-debug")
	terraformcli.InOwnGroup(cmd)
	// The programs ignore SIGTERM; in debug mode an interrupt ends them.
	cmd.Cancel = func() error {
		if runtime.GOOS == "windows" {
			return cmd.Process.Kill()
		}
		return cmd.Process.Signal(os.Interrupt)
	}
	cmd.WaitDelay = stopGrace
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("starting: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting: %w", err)
	}
	found := make(chan string, 1)
	running.Go(func() {
		scan(stdout, found)
		_ = cmd.Wait() // an interrupted program has nothing more to tell
	})
	select {
	case text, ok := <-found:
		if !ok {
			return nil, errors.New("it ended without saying where it listens")
		}
		var one reattach
		if err := json.Unmarshal([]byte(text), &one); err != nil {
			return nil, fmt.Errorf("reading where it listens: %w", err)
		}
		return one, nil
	case <-time.After(startLimit):
		return nil, fmt.Errorf("it did not say within %s where it listens", startLimit)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// scan hands over where the program listens, and reads on to the end so that it never blocks on a full pipe.
func scan(stdout io.Reader, found chan<- string) {
	defer close(found)
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		if match := announced.FindStringSubmatch(lines.Text()); match != nil {
			found <- match[1]
			break
		}
	}
	_, _ = io.Copy(io.Discard, stdout)
}
