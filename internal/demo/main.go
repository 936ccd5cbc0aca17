// Command demo shows the providers at work: it starts the fake services, applies a real configuration to them, looks
// at what came out, reconnects from a second configuration and destroys everything again. `make demo` runs it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/catalog"
	"github.com/agentenv/terraform-provider-gpuvm/internal/terraformcli"
)

// cleanUpLimit bounds the destroy that follows a failure or a Ctrl-C.
const cleanUpLimit = 2 * time.Minute

var errInterrupted = errors.New("interrupted")

func main() {
	var s settings
	flag.StringVar(&s.terraform, "terraform", "terraform", "Terraform or OpenTofu program")
	flag.StringVar(&s.programs, "bin", ".bin", "folder with the built providers and fakeservices")
	flag.StringVar(&s.configuration, "configuration", "examples/demo", "configuration to apply")
	hold := flag.Bool("hold", false, "wait for Enter before everything is destroyed")
	flag.Parse()
	if *hold {
		s.hold = os.Stdin
	}

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, s, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "\nThe demo failed: %v\n", err)
		os.Exit(1)
	}
}

type settings struct {
	terraform     string // program, found on PATH or by its path
	programs      string // folder
	configuration string // folder, with the second configuration in its subfolder reconnect
	hold          io.Reader
}

// run stops what it started however it ends.
func run(ctx context.Context, s settings, out io.Writer) (err error) {
	began := time.Now()
	programs, err := filepath.Abs(s.programs)
	if err != nil {
		return fmt.Errorf("folder of the programs: %w", err)
	}
	services, err := startServices(ctx, filepath.Join(programs, "fakeservices"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, services.stop()) }()

	work, err := os.MkdirTemp("", "demo-*")
	if err != nil {
		return fmt.Errorf("making a folder to work in: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	// A copy, so that no state is left beside the examples.
	if err := os.CopyFS(filepath.Join(work, "demo"), os.DirFS(s.configuration)); err != nil {
		return fmt.Errorf("copying the configuration: %w", err)
	}
	rc := filepath.Join(work, "cli.tfrc")
	if err := os.WriteFile(rc, []byte(terraformcli.DevOverrides(programs, catalog.Addresses()...)), 0o600); err != nil {
		return fmt.Errorf("writing the CLI configuration: %w", err)
	}

	first := terraformcli.CLI{Path: s.terraform, Dir: filepath.Join(work, "demo"), Env: terraformcli.Environment(rc, services.environment...)}
	version, err := first.Version(ctx)
	if err != nil {
		return fmt.Errorf("asking for Terraform's version: %w", err)
	}
	fmt.Fprintf(out, "%s, providers built from this checkout, fake services on loopback\n", version)
	show := &story{out: out, services: services, first: first, hold: s.hold}
	if err := show.tell(ctx); err != nil {
		if ctx.Err() != nil {
			err = errInterrupted // whatever Terraform says of it
		}
		return errors.Join(err, show.cleanUp(ctx))
	}
	fmt.Fprintf(out, "\nAll as promised, and everything that was started is stopped again (%.1fs).\n", time.Since(began).Seconds())
	return nil
}
