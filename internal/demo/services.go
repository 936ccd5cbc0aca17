package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/terraformcli"
)

const (
	readyPrefix = "ready: export "
	startLimit  = 30 * time.Second
	stopGrace   = 10 * time.Second
)

// services is the running fakeservices program.
type services struct {
	environment []string // the settings by which providers find the services, as KEY=value
	process     *os.Process
	ended       chan error
	stderr      *strings.Builder // to be read once ended has spoken
}

// startServices waits until the program says that it is ready. It isn't bound to ctx: after a Ctrl-C the services
// must live until the machines on them are destroyed.
func startServices(ctx context.Context, program string) (*services, error) {
	s := &services{ended: make(chan error, 1), stderr: &strings.Builder{}}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), program)
	terraformcli.InOwnGroup(cmd)
	cmd.Stderr = s.stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("starting the fake services: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting the fake services: %w", err)
	}
	s.process = cmd.Process
	ready := make(chan []string, 1)
	go func() {
		readReady(stdout, ready)
		s.ended <- cmd.Wait()
	}()
	select {
	case s.environment = <-ready:
		return s, nil
	case err := <-s.ended:
		if err == nil {
			err = errors.New("no error") // ended by itself, and well
		}
		return nil, fmt.Errorf("the fake services ended before they were ready: %w: %s", err, strings.TrimSpace(s.stderr.String()))
	case <-time.After(startLimit):
		return nil, errors.Join(fmt.Errorf("the fake services were not ready within %s", startLimit), s.stop())
	case <-ctx.Done():
		return nil, errors.Join(context.Cause(ctx), s.stop())
	}
}

// readReady hands over the settings of the ready line, and reads on to the end: the program would block on a full pipe.
func readReady(stdout io.Reader, ready chan<- []string) {
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		if settings, found := strings.CutPrefix(lines.Text(), readyPrefix); found {
			ready <- strings.Fields(settings)
			break
		}
	}
	_, _ = io.Copy(io.Discard, stdout) // nothing more is asked of its output
}

// setting gives a variable of the ready line, "" where it isn't there.
func (s *services) setting(name string) string {
	for _, setting := range s.environment {
		if value, found := strings.CutPrefix(setting, name+"="); found {
			return strings.Trim(value, `"'`)
		}
	}
	return ""
}

// stop ends the services in good order, and by force where they don't end.
func (s *services) stop() error {
	var signal os.Signal = syscall.SIGTERM
	if runtime.GOOS == "windows" {
		signal = os.Kill // Windows knows no other
	}
	if err := s.process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stopping the fake services: %w", err)
	}
	select {
	case err := <-s.ended:
		if err != nil && runtime.GOOS != "windows" {
			return fmt.Errorf("the fake services: %w", err)
		}
		return nil
	case <-time.After(stopGrace):
		return errors.Join(fmt.Errorf("the fake services did not stop within %s", stopGrace), s.process.Kill())
	}
}
