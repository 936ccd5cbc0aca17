// Package terraformcli runs a Terraform or OpenTofu program and reads its machine-readable output. It serves
// the developers' programs (make demo, make install, ...), never a provider.
package terraformcli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// interruptGrace bounds how long an interrupted program may take to stop what it does and write its state.
const interruptGrace = 2 * time.Minute

// CLI is one Terraform or OpenTofu program with a configuration to work on.
type CLI struct {
	Path string   // the program
	Dir  string   // the configuration's folder
	Env  []string // the whole environment, as Environment makes it
}

// Environment is the process's environment without what would lead Terraform elsewhere (TF_CLI_ARGS, TF_WORKSPACE,
// TF_LOG and the like), with configFile as the CLI configuration and extra settings such as "GPU_VM_URL=http://...".
func Environment(configFile string, extra ...string) []string {
	env := slices.DeleteFunc(os.Environ(), func(setting string) bool { return strings.HasPrefix(setting, "TF_") })
	// CHECKPOINT_DISABLE: no question to the vendor about newer versions.
	env = append(env, "TF_CLI_CONFIG_FILE="+configFile, "TF_IN_AUTOMATION=1", "CHECKPOINT_DISABLE=1")
	return append(env, extra...)
}

// DevOverrides is a CLI configuration that takes the given providers (as "host/namespace/type") from the programs in dir.
func DevOverrides(dir string, providers ...string) string {
	var b strings.Builder
	b.WriteString("provider_installation {\n  dev_overrides {\n")
	for _, p := range providers {
		fmt.Fprintf(&b, "    %q = %q\n", p, dir)
	}
	b.WriteString("  }\n  direct {}\n}\n")
	return b.String()
}

// Version is the first line that `version` prints, such as "Terraform v1.11.4" or "OpenTofu v1.12.6".
func (c CLI) Version(ctx context.Context) (string, error) {
	out, err := c.Text(ctx, "version")
	first, _, _ := strings.Cut(out, "\n")
	return strings.TrimSpace(first), err
}

// Text runs a command and gives what it printed.
func (c CLI) Text(ctx context.Context, args ...string) (string, error) {
	cmd := c.command(ctx, args)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.String(), &Error{Args: args, Exit: exitCode(err), Output: stderr.String(), Err: err}
	}
	return stdout.String(), nil
}

func (c CLI) command(ctx context.Context, args []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, c.Path, args...)
	cmd.Dir, cmd.Env = c.Dir, c.Env
	InOwnGroup(cmd)
	// One interrupt makes Terraform stop in good order; killing it could lose a machine.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = interruptGrace
	return cmd
}

// Error is a command that didn't succeed.
type Error struct {
	Args        []string
	Exit        int          // the exit code, -1 where there is none
	Diagnostics []Diagnostic // errors that Terraform reported
	Output      string       // what else it printed
	Err         error
}

func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %v", strings.Join(e.Args, " "), e.Err)
	for _, d := range e.Diagnostics {
		fmt.Fprintf(&b, "\n\n%s\n%s", d.Summary, d.Detail)
	}
	if output := strings.TrimSpace(e.Output); output != "" {
		fmt.Fprintf(&b, "\n\n%s", output)
	}
	return b.String()
}

func (e *Error) Unwrap() error { return e.Err }

func exitCode(err error) int {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	return -1
}
