//go:build unix

package main

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestProcess runs the built program as a user does: it gets ready, serves, and ends with a signal, leaving nothing behind.
func TestProcess(t *testing.T) {
	t.Parallel()
	binary := filepath.Join(t.TempDir(), "fakeservices")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	for _, signal := range []os.Signal{syscall.SIGTERM, os.Interrupt} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			var stderr bytes.Buffer
			cmd := exec.CommandContext(t.Context(), binary, "-boot-delay", "1h", "-only", "gpuvm")
			cmd.Stderr = &stderr
			cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			stdout, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewReader(stdout)
			line, err := lines.ReadString('\n')
			if err != nil {
				t.Fatalf("no ready line: %v %s", err, &stderr)
			}
			p := &program{environment: parseReady(t, line)}
			held := p.hold(t)

			if err := cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			rest, err := io.ReadAll(lines)
			if err != nil || len(rest) > 0 {
				t.Errorf("more on standard output: %q %v", rest, err)
			}
			if err := cmd.Wait(); err != nil || stderr.Len() > 0 {
				t.Errorf("it ended with %v: %s", err, &stderr)
			}
			<-held
			if conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(p.environment["GPU_VM_URL"], "http://")); err == nil {
				_ = conn.Close() // the test has failed already
				t.Error("its port is still open")
			}
			if err := syscall.Kill(-cmd.Process.Pid, 0); err == nil {
				t.Error("a process of its group is left")
			}
		})
	}
}

// hold makes a machine that boots for an hour and has a request wait for it; the channel is closed once that has ended.
func (p *program) hold(t *testing.T) <-chan struct{} {
	t.Helper()
	status, text, err := p.create(t)
	if err != nil || status != 201 {
		t.Fatalf("create: %d %s %v", status, text, err)
	}
	id := strings.Split(text, `"`)[3]
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.environment["GPU_VM_URL"]+"/v1/vms/"+id, nil)
		if err != nil {
			t.Error(err)
			return
		}
		r.Header.Set("Authorization", "Bearer "+p.environment["GPU_VM_TOKEN"])
		r.Header.Set("Prefer", "wait=3600")
		if resp, err := http.DefaultClient.Do(r); err == nil {
			_ = resp.Body.Close() // an answer or a cut: both are an end
		}
	}()
	for {
		_, log, err := call(t, "GET", p.environment["GPU_VM_URL"]+"/_fake/requests?limit=1", "")
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(log, `"method":"GET"`) {
			return ended
		}
	}
}
