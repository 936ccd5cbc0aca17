package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"text/tabwriter"
	"time"
)

// starts shows how long a provider takes from its start to its first answer, and what `terraform validate` takes with each provider,
// with one that does nothing, and with none.
func (b bench) starts(ctx context.Context) error {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "\nprogram\tstart, ms (median)")
	for _, name := range []string{"terraform-provider-gpuvm", "terraform-provider-opensandbox"} {
		var all []float64
		for range 10 {
			took, err := handshake(ctx, filepath.Join(b.programs, name))
			if err != nil {
				return err
			}
			all = append(all, float64(took.Microseconds())/1000)
		}
		_, _ = fmt.Fprintf(w, "%s\t%.1f\n", name, middle(all))
	}
	for _, of := range validated {
		var all []float64
		for range 10 {
			took, err := b.validate(ctx, of.configuration)
			if err != nil {
				return err
			}
			all = append(all, float64(took.Microseconds())/1000)
		}
		_, _ = fmt.Fprintf(w, "%s\t%.1f\n", of.title, middle(all))
	}
	return w.Flush()
}

// validated is what is validated: with the bare provider it takes what Terraform takes for any provider.
var validated = []struct{ title, configuration string }{
	{"validate, no provider", "output \"nothing\" {\n  value = 1\n}\n"},
	{"validate, a provider that does nothing", bareConfiguration(widths[0].name, 1)},
	{"validate, gpuvm", fmt.Sprintf(kinds[1].resource, 1)},
	{"validate, opensandbox", fmt.Sprintf(kinds[2].resource, 1)},
}

// handshake starts a provider as Terraform does, and waits for the line by which it says where it serves.
func handshake(ctx context.Context, program string) (time.Duration, error) {
	cmd := exec.CommandContext(ctx, program)
	cmd.Env = append(os.Environ(), magicCookie+"=d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2", "PLUGIN_PROTOCOL_VERSIONS=6")
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	_, readErr := bufio.NewReader(out).ReadString('\n')
	took := time.Since(began)
	_ = cmd.Process.Kill()
	_ = cmd.Wait() // it was killed, and says so
	if readErr != nil {
		return 0, fmt.Errorf("%s ended without a handshake: %w", program, readErr)
	}
	return took, nil
}

func (b bench) validate(ctx context.Context, configuration string) (time.Duration, error) {
	s, err := b.stage(ctx, options{}, configuration)
	if err != nil {
		return 0, err
	}
	defer s.end()
	m, err := s.command(ctx, "validate")
	return m.wall, err
}
