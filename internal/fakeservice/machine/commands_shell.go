package machine

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/interp"
)

func isBuiltin(name string) bool { return interp.IsBuiltin(name) }

// shellCommands are those that run other commands.
func shellCommands() map[string]command {
	return map[string]command{
		"sh": runShell, "bash": runShell, "dash": runShell, "sudo": runSudo, "su": runSu, "env": runEnv, "nohup": runNohup,
		"timeout": runTimeout, "xargs": runXargs, "nice": runNohup, "setsid": runNohup, "time": runNohup,
	}
}

// exported gives the variables that a command hands on to what it starts.
func (c *call) exported() map[string]string {
	vars := map[string]string{}
	c.env.Each(func(name string, v expand.Variable) bool {
		if v.Exported && v.Set && v.Kind == expand.String {
			vars[name] = v.Str
		} else {
			delete(vars, name)
		}
		return true
	})
	return vars
}

// runAs runs a command line for a user with an environment; the words are taken as they are.
func (c *call) runAs(ctx context.Context, user string, argv []string, env map[string]string, std streams) int {
	code, err := c.shell.nested(c.shell.name, user).command(ctx, argv, c.dir, newEnviron(env), std)
	if err != nil {
		return 1 // the end of ctx is told by the outermost command
	}
	return code
}

// runShell is sh and bash: -c script [name args], a script file, or one from the standard input; -e, -u, -x and -o as usual.
func runShell(ctx context.Context, c *call) int {
	var options []string
	args, inline := c.args, false
	for len(args) > 0 && len(args[0]) > 1 && (args[0][0] == '-' || args[0][0] == '+') {
		flag := args[0]
		args = args[1:]
		if flag == "--" {
			break
		}
		if strings.HasPrefix(flag, "--") {
			continue // --login, --norc: nothing here that they would change
		}
		for _, letter := range flag[1:] {
			switch letter {
			case 'c':
				inline = true
			case 'l', 'i', 's':
			case 'o':
				if len(args) > 0 {
					options, args = append(options, flag[:1]+"o", args[0]), args[1:]
				}
			default:
				options = append(options, flag[:1]+string(letter))
			}
		}
	}
	s := c.shell.nested(c.name, c.shell.user)
	var text string
	switch {
	case inline && len(args) == 0:
		return c.fail(exitUsage, "-c: option requires an argument")
	case inline:
		text, args = args[0], args[min(2, len(args)):]
	case len(args) > 0:
		file, err := s.machine.ReadFile(c.path(args[0]))
		if err != nil {
			return c.fail(exitNotFound, "%s: No such file or directory", args[0])
		}
		s.name, text, args = args[0], string(file.Data), args[1:]
	default:
		read, err := io.ReadAll(io.LimitReader(c.in, MaxFileSize))
		if err != nil {
			return c.fail(1, "%v", err)
		}
		text = string(read)
	}
	return c.runText(ctx, s, text, args, options)
}

func (c *call) runText(ctx context.Context, s *shell, text string, args, options []string) int {
	code, err := s.script(ctx, text, c.dir, newEnviron(c.exported()), args, options, c.streams)
	if err != nil {
		return 1 // the end of ctx is told by the outermost command
	}
	return code
}

// runScript runs a file that somebody put on the machine and marked as a program.
func runScript(ctx context.Context, c *call, at, text string) int {
	first, _, _ := strings.Cut(text, "\n")
	interpreter, isScript := strings.CutPrefix(first, "#!")
	words := strings.Fields(interpreter)
	if len(words) > 1 && strings.HasSuffix(words[0], "/env") {
		words = words[1:]
	}
	if isScript && len(words) > 0 {
		switch words[0][strings.LastIndex(words[0], "/")+1:] {
		case "sh", "bash", "dash":
		default:
			fmt.Fprintf(c.err, "%s: %s: %s: bad interpreter: No such file or directory\n", c.shell.name, c.name, words[0])
			return exitNotRunnable
		}
	}
	if strings.ContainsRune(first, 0) {
		fmt.Fprintf(c.err, "%s: %s: cannot execute binary file\n", c.shell.name, c.name)
		return exitNotRunnable
	}
	var options []string
	if isScript && len(words) > 1 {
		options = words[1:]
	}
	return c.runText(ctx, c.shell.nested(at, c.shell.user), text, c.args, options)
}

// runSudo is sudo [-u user] [-E] [-n] [NAME=value ...] command.
func runSudo(ctx context.Context, c *call) int {
	flags, argv := c.options("ugC")
	user := "root"
	if has(flags, "u") {
		user = flags["u"]
	}
	env := c.exported()
	if !has(flags, "E", "preserve-env") {
		kept := userEnvironment(user)
		maps.Copy(kept, c.shell.machine.env)
		env = kept
	}
	for len(argv) > 0 && strings.Contains(argv[0], "=") && !strings.HasPrefix(argv[0], "=") {
		name, value, _ := strings.Cut(argv[0], "=")
		env[name], argv = value, argv[1:]
	}
	if len(argv) == 0 {
		return 0
	}
	return c.runAs(ctx, user, argv, env, c.streams)
}

// runSu is su [-] [-s shell] -c script [user], with the user before or after the script.
func runSu(ctx context.Context, c *call) int {
	user, script, args := "root", "", c.args
	for len(args) > 0 {
		word := args[0]
		args = args[1:]
		switch {
		case (word == "-c" || word == "-s" || word == "--shell") && len(args) > 0:
			if word == "-c" {
				script = args[0]
			}
			args = args[1:]
		case strings.HasPrefix(word, "-"):
		default:
			user = word
		}
	}
	if script == "" {
		return 0
	}
	env := c.exported()
	maps.Copy(env, userEnvironment(user))
	return c.runAs(ctx, user, []string{"sh", "-c", script}, env, c.streams)
}

// runEnv is env [-i] [NAME=value ...] [command].
func runEnv(ctx context.Context, c *call) int {
	flags, argv := c.options("u")
	env := c.exported()
	if has(flags, "i") {
		env = map[string]string{}
	}
	delete(env, flags["u"])
	for len(argv) > 0 && strings.Contains(argv[0], "=") {
		name, value, _ := strings.Cut(argv[0], "=")
		env[name], argv = value, argv[1:]
	}
	if len(argv) > 0 {
		return c.runAs(ctx, c.shell.user, argv, env, c.streams)
	}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		fmt.Fprintf(c.out, "%s=%s\n", name, env[name])
	}
	return 0
}

func runNohup(ctx context.Context, c *call) int {
	_, argv := c.options("n")
	if len(argv) == 0 {
		return 0
	}
	return c.runAs(ctx, c.shell.user, argv, c.exported(), c.streams)
}
