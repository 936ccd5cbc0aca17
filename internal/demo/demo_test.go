package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/agentenv/terraform-provider-gpuvm/internal/acctest"
)

const root = "../.."

// built gives settings whose programs are compiled from this checkout.
func built(t *testing.T) settings {
	t.Helper()
	programs := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-o", programs+string(os.PathSeparator), ".", "./cmd/...")
	build.Dir = root
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	return settings{terraform: acctest.CLI(), programs: programs, configuration: root + "/examples/demo"}
}

// interrupter is a terminal whose person presses Ctrl-C at some word.
type interrupter struct {
	bytes.Buffer
	at     string
	cancel context.CancelFunc
}

func (i *interrupter) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte(i.at)) {
		i.cancel()
	}
	return i.Buffer.Write(p)
}

func TestAccDemo(t *testing.T) {
	t.Parallel()
	s := built(t)

	t.Run("to its end", func(t *testing.T) {
		t.Parallel()
		s := s
		s.hold = strings.NewReader("\n")
		var out bytes.Buffer
		if err := run(t.Context(), s, &out); err != nil {
			t.Fatalf("%v\n%s", err, out.String())
		}
		for _, want := range []string{"vm_ports", "vm_vnc_url", "no changes", "is the same", "Look around", "the services hold nothing", "All as promised"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("it doesn't say %q:\n%s", want, out.String())
			}
		}
	})

	for _, at := range []string{"Apply", "created in", "Plan again", "Reconnect", "Destroy"} {
		t.Run("interrupted at "+at, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			out := &interrupter{at: at, cancel: cancel}
			err := run(ctx, s, out)
			if !errors.Is(err, errInterrupted) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v", err)
			}
			// Whatever the interrupt met, the clean-up's own look at the services found nothing left.
			if !strings.Contains(out.String(), "the services hold nothing") {
				t.Errorf("something may be left (%v):\n%s", err, out.String())
			}
		})
	}
}
