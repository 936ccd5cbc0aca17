package gpuvm

import (
	"context"
	"fmt"
	"strings"

	api "github.com/agentenv/terraform-provider-gpuvm/internal/apiclient/gpuvm"
)

// ScriptError is a script that ended with another exit code than 0.
type ScriptError struct {
	ExitCode int
	Output   string // the end of what it printed
}

func (e *ScriptError) Error() string {
	text := fmt.Sprintf("Script failed (exit %d)", e.ExitCode)
	if e.Output == "" {
		return text + ", and printed nothing"
	}
	return text + ". Its output ends:\n" + e.Output
}

// ScriptCommand is the command that runs a script of the user, as the seed has it.
func ScriptCommand(script string) []string { return []string{"sudo", "bash", "-c", script} }

// setUp runs the script that makes a booted VM usable.
func (l *Lifecycle) setUp(ctx context.Context, id, script string) error {
	if script != "" {
		l.progress(ctx, "running the setup script", map[string]any{"id": id})
	}
	return l.RunScript(ctx, id, script)
}

// RunScript runs a script in the VM; an empty one is none. It is sent once: what a script did can't be told from
// outside, so a lost answer is an error and never a second run.
func (l *Lifecycle) RunScript(ctx context.Context, id, script string) error {
	if script == "" {
		return nil
	}
	result, err := l.Exec(ctx, id, ScriptCommand(script))
	if err != nil {
		return err
	}
	if result.ExitCode != 0 {
		return &ScriptError{ExitCode: result.ExitCode, Output: l.API.Redact(Tail(result))}
	}
	return nil
}

// tailSize is how much of a command's output an error shows.
const tailSize = 4 << 10

// Tail is the end of what a command printed, its errors last.
func Tail(result api.ExecResult) string {
	text := strings.TrimSpace(result.Stdout + "\n" + result.Stderr)
	if len(text) <= tailSize {
		return text
	}
	return "…" + strings.ToValidUTF8(text[len(text)-tailSize:], "")
}
