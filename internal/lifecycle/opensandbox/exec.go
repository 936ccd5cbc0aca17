package opensandbox

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/apiclient"
	api "github.com/agentenv/terraform-provider-gpuvm/internal/apiclient/opensandbox"
)

// Command is a line for the shell of a sandbox, run to its end.
type Command struct {
	Line string
	// User is the user to run it as: "" or "root" = the agent's own, a number = that uid, else a name known in the sandbox.
	User    string
	Cwd     string // "" = the agent's own
	Env     map[string]string
	Timeout time.Duration // after which the agent kills it, which gives exit code -1; 0 = never
	// Listen hears each line as it comes; nil = nobody does. A command that is run again starts over.
	Listen func(stream api.Stream, line string)
}

// interruptTimeout bounds the ending of a command that nobody waits for any more. The agent takes 3 s for one that ignores
// SIGTERM.
const interruptTimeout = 10 * time.Second

// Exec runs a command in a sandbox. Any exit code is a result. One whose outcome is open is run again only as often as
// CommandRetries allows. When ctx ends, so does the command.
func (l *Lifecycle) Exec(ctx context.Context, id string, command Command) (api.Result, error) {
	agent, err := l.awakeAgent(ctx, id)
	if err != nil {
		return api.Result{}, err
	}
	return l.execOn(ctx, id, agent, command)
}

// awakeAgent gives a client of the sandbox's execd unless the sandbox is known not to run: what is sent to a frozen one is
// answered by nobody, for as long as it stays so.
func (l *Lifecycle) awakeAgent(ctx context.Context, id string) (*api.Execd, error) {
	if err := l.awake(ctx, id); err != nil {
		return nil, err
	}
	return l.reachAgent(ctx, id)
}

func (l *Lifecycle) awake(ctx context.Context, id string) error {
	sandbox, err := l.API.Sandbox(ctx, id)
	if err != nil {
		return err
	}
	switch sandbox.Status.State {
	case api.StatePaused, api.StatePausing, api.StateFailed, api.StateTerminated:
		return &UnreachableError{ID: id, Status: sandbox.Status}
	}
	return nil
}

func (l *Lifecycle) execOn(ctx context.Context, id string, agent *api.Execd, command Command) (api.Result, error) {
	raw, err := command.forAgent()
	if err != nil {
		return api.Result{}, err
	}
	for n := 1; ; n++ {
		var result api.Result
		err := l.while(ctx, "a command in sandbox "+id+" to end", func() (err error) {
			result, err = l.run(ctx, agent, raw, command.Listen)
			return err
		})
		if err == nil || ctx.Err() != nil {
			return result, err
		}
		lost := interrupted(err) || open(err)
		if !lost || n > l.settings.Operations.CommandRetries || l.backOff(ctx, l.API, n, err) != nil {
			return result, l.explain(ctx, id, err)
		}
	}
}

// run runs a command once. It asks again only where the command surely wasn't taken, and ends what it gives up.
func (l *Lifecycle) run(ctx context.Context, agent *api.Execd, command api.Command, listen func(api.Stream, string)) (api.Result, error) {
	for n := 1; ; n++ {
		result, err := agent.Run(ctx, command, listen)
		if err == nil {
			return result, nil
		}
		if result.ID != "" {
			l.interrupt(ctx, agent, result.ID)
		}
		if n > l.settings.Operations.Retry.Times || !l.notTaken(err) || ctx.Err() != nil {
			return result, err
		}
		if l.backOff(ctx, l.API, n, err) != nil {
			return result, err
		}
	}
}

// notTaken knows the server proxy's answer where it found nobody listening: execd isn't up yet, or not any more.
func (l *Lifecycle) notTaken(err error) bool {
	failed, ok := errors.AsType[*apiclient.Error](err)
	return ok && l.settings.ServerProxy && failed.Status == http.StatusBadGateway
}

// interrupt ends a command that nobody follows any more. Otherwise it would run on: execd doesn't mind a broken connection.
func (l *Lifecycle) interrupt(ctx context.Context, agent *api.Execd, commandID string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), interruptTimeout)
	defer cancel()
	err := l.repeat(ctx, func() error { return agent.Interrupt(ctx, commandID) })
	if _, ended := errors.AsType[*api.AgentError](err); err != nil && !ended {
		l.progress(ctx, "a command could not be ended", map[string]any{"command_id": commandID, "error": agent.Redact(err.Error())})
	}
}

func interrupted(err error) bool {
	_, ok := errors.AsType[*api.InterruptedError](err)
	return ok
}

// userName is what Linux's tools let a user be called, without what would be an option of su.
var userName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*\$?$`)

// CheckUser refuses what can name no user: neither a uid of 32 bits nor a name. "" is the agent's own user.
func CheckUser(user string) error {
	if _, err := strconv.ParseUint(user, 10, 32); err == nil || user == "" || userName.MatchString(user) {
		return nil
	}
	return fmt.Errorf("user %q is neither a uid nor a user name", user)
}

// maxArgument is what Linux takes as one argument, or one variable, of a program, in bytes (MAX_ARG_STRLEN less its NUL). The agent
// hands a command to the shell as one argument.
const maxArgument = 128<<10 - 1

// TooLongError is a command, or a variable of one, that no Linux would start.
type TooLongError struct {
	What string // "the command", "the variable A of the command"
	Size int    // bytes
}

func (e *TooLongError) Error() string {
	return fmt.Sprintf("%s takes %d bytes, and Linux starts no program with an argument or variable of more than %d: "+
		"put it into a file of the sandbox and have that run or read", e.What, e.Size, maxArgument)
}

// forAgent maps the user as the reference "Exec" has it, and refuses what the sandbox could not start.
func (c Command) forAgent() (api.Command, error) {
	raw, err := c.forUser()
	if err != nil {
		return raw, err
	}
	if len(raw.Line) > maxArgument {
		return raw, &TooLongError{What: "the command", Size: len(raw.Line)}
	}
	for _, name := range slices.Sorted(maps.Keys(raw.Env)) {
		if size := len(name) + len("=") + len(raw.Env[name]); size > maxArgument {
			return raw, &TooLongError{What: "the variable " + name + " of the command", Size: size}
		}
	}
	return raw, nil
}

func (c Command) forUser() (api.Command, error) {
	raw := api.Command{Line: c.Line, Cwd: c.Cwd, Env: c.Env, Timeout: c.Timeout}
	if c.User == "" || c.User == "root" {
		return raw, nil
	}
	if number, err := strconv.ParseUint(c.User, 10, 32); err == nil {
		uid := uint32(number)
		raw.UID = &uid
		return raw, nil
	}
	if err := CheckUser(c.User); err != nil {
		return raw, err
	}
	raw.Line = CommandLine([]string{"su", "-s", "/bin/sh", "-c", c.Line, c.User})
	return raw, nil
}

// CommandLine quotes arguments for a POSIX shell, so that it runs exactly them.
func CommandLine(argv []string) string {
	quoted := make([]string, len(argv))
	for i, arg := range argv {
		quoted[i] = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
	}
	return strings.Join(quoted, " ")
}

// RunScript runs a script with the sandbox's shell; an empty one is none. Another exit code than 0 is a *ScriptError.
func (l *Lifecycle) RunScript(ctx context.Context, id, script string) error {
	if script == "" {
		return nil
	}
	agent, err := l.awakeAgent(ctx, id)
	if err != nil {
		return err
	}
	return l.runScriptOn(ctx, id, agent, Command{Line: script})
}

func (l *Lifecycle) runScriptOn(ctx context.Context, id string, agent *api.Execd, script Command) error {
	result, err := l.execOn(ctx, id, agent, script)
	if err != nil {
		return err
	}
	if result.ExitCode != 0 {
		return &ScriptError{ExitCode: result.ExitCode, Output: agent.Redact(outputOf(result))}
	}
	return nil
}

// Teardown runs the script that a sandbox is to run before its end. skipped says why it couldn't run: a sandbox that isn't
// running has nothing left to save.
func (l *Lifecycle) Teardown(ctx context.Context, id, script string) (skipped string, err error) {
	if script == "" {
		return "", nil
	}
	sandbox, err := l.API.Sandbox(ctx, id)
	switch {
	case apiclient.IsGone(err):
		return "it is gone already", nil
	case err != nil:
		return "", err
	case sandbox.Status.State != api.StateRunning:
		return "it is " + sandbox.Status.String(), nil
	}
	agent, err := l.reachAgent(ctx, id)
	if err != nil {
		return "", err
	}
	l.progress(ctx, "running the teardown script", map[string]any{"id": id})
	return "", l.runScriptOn(ctx, id, agent, Command{Line: script})
}

// outputTail is how much of a command's output a message shows.
const outputTail = 4 << 10

// outputOf is the end of what a command printed, its errors last, and the agent's words where it has some.
func outputOf(result api.Result) string {
	parts := []string{}
	for _, text := range []string{result.Stdout.Text, result.Stderr.Text, result.Failure} {
		if text = tailOf(text, outputTail/2); text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, "\n")
}
