package machine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"runtime"
	"strings"

	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"
)

const (
	exitUsage       = 2
	exitNotRunnable = 126
	exitNotFound    = 127
	maxDepth        = 64    // shells within shells; more is a script that calls itself
	maxFrames       = 5_000 // of Go's stack, which a shell function that calls itself would exhaust
)

// shell is one run of an interpreter: one script, or one command.
type shell struct {
	machine *Machine
	run     *run
	name    string // shown in messages: sh, bash, or the script's path
	user    string
	depth   int
	funcs   map[string]bool // names that the script declares; the interpreter doesn't tell them
	jobs    bool            // the script may have started some in the background
}

// streams are the standard ones of a command.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// script runs a shell script with its parameters ($0 is the shell's name) and gives the exit code. An error means that ctx
// ended.
func (s *shell) script(ctx context.Context, text, dir string, env environ, args, options []string, std streams) (int, error) {
	if s.depth > maxDepth {
		fmt.Fprintf(std.err, "%s: too many shells within shells\n", s.name)
		return exitNotRunnable, nil
	}
	program, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), s.name)
	if err != nil {
		fmt.Fprintf(std.err, "%v\n", err)
		return exitUsage, nil
	}
	s.examine(program)
	return s.program(ctx, program, dir, env, args, options, std)
}

// command runs one command whose words are taken as they are.
func (s *shell) command(ctx context.Context, argv []string, dir string, env environ, std streams) (int, error) {
	switch {
	case !alone(argv[0]):
		fmt.Fprintf(std.err, "%s: command not found\n", argv[0])
		return exitNotFound, nil
	case interp.IsBuiltin(argv[0]):
		return s.program(ctx, words, dir, env, argv, nil, std)
	case std.in == nil:
		std.in = strings.NewReader("")
	}
	code := s.start(ctx, &call{shell: s, name: argv[0], args: argv[1:], dir: dir, env: env, streams: std})
	if ctx.Err() != nil {
		return -1, context.Cause(ctx)
	}
	return code, nil
}

// words is the program that runs its parameters as one command. Running a program doesn't change it.
var words = parse(`"$@"`)

func parse(text string) *syntax.File {
	program, err := syntax.NewParser().Parse(strings.NewReader(text), "")
	if err != nil {
		panic(err)
	}
	return program
}

func (s *shell) program(ctx context.Context, program *syntax.File, dir string, env environ, args, options []string, std streams) (int, error) {
	params := append(append([]string(nil), options...), "--")
	runner, err := interp.New(interp.Env(env), interp.Dir("/"), interp.StdIO(std.in, std.out, std.err),
		interp.Params(append(params, args...)...), interp.CallHandler(s.call), interp.ExecHandlers(s.middleware),
		interp.OpenHandler(s.open), interp.StatHandler(s.stat), interp.ReadDirHandler2(s.readDir), interp.AccessHandler(s.access))
	if err != nil {
		fmt.Fprintf(std.err, "%s: %v\n", s.name, err)
		return exitUsage, nil
	}
	runner.Dir = dir // interp.Dir would look for it on the host
	env.hideTemporary(runner.Reset)
	err = runner.Run(ctx, program)
	if s.jobs {
		s.run.keepJobs(ctx, runner)
	}
	return exitCode(ctx, err, std.err)
}

// examine notes what the interpreter won't tell.
func (s *shell) examine(program *syntax.File) {
	s.funcs = map[string]bool{}
	syntax.Walk(program, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.FuncDecl:
			if n.Name != nil {
				s.funcs[n.Name.Value] = true
			}
		case *syntax.Stmt:
			s.jobs = s.jobs || n.Background || n.Disown
		}
		return true
	})
}

func exitCode(ctx context.Context, err error, stderr io.Writer) (int, error) {
	var status interp.ExitStatus
	switch {
	case ctx.Err() != nil:
		return -1, context.Cause(ctx)
	case err == nil:
		return 0, nil
	case errors.As(err, &status):
		return int(status), nil
	default:
		fmt.Fprintf(stderr, "sh: %v\n", err)
		return 1, nil
	}
}

// nested gives the shell for a script that a command of this one starts.
func (s *shell) nested(name, user string) *shell {
	return &shell{machine: s.machine, run: s.run, name: name, user: user, depth: s.depth + 1}
}

// call redirects the builtins of the interpreter that would look at the host, or do nothing, to commands of the machine.
func (s *shell) call(ctx context.Context, args []string) ([]string, error) {
	if s.funcs[args[0]] {
		var caller [1]uintptr
		if runtime.Callers(maxFrames, caller[:]) > 0 {
			return nil, errors.New(args[0] + ": maximum function nesting level exceeded")
		}
		return args, nil
	}
	switch args[0] {
	case "command":
		if len(args) > 1 && strings.HasPrefix(args[1], "-") {
			return append([]string{lookupCommand}, s.known(args[1:])...), nil
		}
		if len(args) > 1 {
			return s.call(ctx, args[1:])
		}
	case "type":
		return append([]string{lookupCommand}, s.known(append([]string{"-V"}, args[1:]...))...), nil
	case "kill", "umask", "ulimit", "pwd":
		return append([]string{"/bin/" + args[0]}, args[1:]...), nil
	case "eval":
		s.jobs = true // it may start some; nobody looks
	case "source", ".":
		s.jobs = true
		if len(args) > 1 {
			full := absolute(interp.HandlerCtx(ctx).Dir, args[1])
			return append([]string{args[0], full}, args[2:]...), nil
		}
	}
	return args, nil
}

// known marks the names that are functions of the script, which lookupCommand can't see.
func (s *shell) known(args []string) []string {
	marked := make([]string, len(args))
	for i, arg := range args {
		if marked[i] = arg; s.funcs[arg] {
			marked[i] = functionMark + arg
		}
	}
	return marked
}

// middleware runs every command that is neither a function nor a builtin; the interpreter's own handler, which would start
// a process of the host, is never called.
func (s *shell) middleware(interp.ExecHandlerFunc) interp.ExecHandlerFunc {
	return func(ctx context.Context, args []string) error {
		hc := interp.HandlerCtx(ctx)
		c := &call{shell: s, name: args[0], args: args[1:], dir: hc.Dir, env: hc.Env, streams: streams{hc.Stdin, hc.Stdout, hc.Stderr}}
		if c.in == nil {
			c.in = strings.NewReader("")
		}
		if code := s.start(ctx, c); code != 0 {
			return interp.ExitStatus(uint8(code & 0xff)) // as a shell does
		}
		return nil
	}
}

// start finds a command by name or path and runs it.
func (s *shell) start(ctx context.Context, c *call) int {
	if c.name == lookupCommand {
		return lookup(c)
	}
	at, code := s.find(c)
	if at == "" {
		return code
	}
	file, err := s.machine.ReadFile(at)
	switch {
	case err != nil:
		return c.fail(exitNotRunnable, "%v", err)
	case file.Mode&0o111 == 0:
		fmt.Fprintf(c.err, "%s: %s: Permission denied\n", s.name, c.name)
		return exitNotRunnable
	case string(file.Data) == stub:
		c.name = path.Base(at)
		if run, known := commands[c.name]; known {
			return run(ctx, c)
		}
		// One that is a program too, and that the interpreter does by itself: echo asked for as /bin/echo, or by exec.
		return c.runAs(ctx, s.user, append([]string{c.name}, c.args...), c.exported(), c.streams)
	}
	return runScript(ctx, c, at, string(file.Data))
}

// find gives the path of a command, or the exit code of one that isn't there.
func (s *shell) find(c *call) (string, int) {
	if strings.Contains(c.name, "/") {
		at := absolute(c.dir, c.name)
		i, err := s.machine.files.stat(at, true)
		switch {
		case err != nil:
			fmt.Fprintf(c.err, "%s: %s: No such file or directory\n", s.name, c.name)
			return "", exitNotFound
		case i.IsDir():
			fmt.Fprintf(c.err, "%s: %s: Is a directory\n", s.name, c.name)
			return "", exitNotRunnable
		}
		return at, 0
	}
	if at := s.machine.files.which(c.name, c.env.Get("PATH").String()); at != "" {
		return at, 0
	}
	fmt.Fprintf(c.err, "%s: %s: command not found\n", s.name, c.name)
	return "", exitNotFound
}

// which looks a program up in the directories of a PATH.
func (f *filesystem) which(name, list string) string {
	for dir := range strings.SplitSeq(list, ":") {
		at := path.Join("/", dir, name)
		if i, err := f.stat(at, true); err == nil && i.mode.IsRegular() && i.mode&0o111 != 0 {
			return at
		}
	}
	return ""
}

func absolute(dir, name string) string {
	if path.IsAbs(name) {
		return path.Clean(name)
	}
	return path.Join(dir, name)
}

func (s *shell) open(ctx context.Context, name string, flag int, perm fs.FileMode) (io.ReadWriteCloser, error) {
	return s.machine.files.open(absolute(interp.HandlerCtx(ctx).Dir, name), flag, perm)
}

func (s *shell) stat(_ context.Context, name string, follow bool) (fs.FileInfo, error) {
	return s.machine.files.stat(name, follow)
}

func (s *shell) readDir(_ context.Context, name string) ([]fs.DirEntry, error) {
	infos, err := s.machine.files.readDir(name)
	entries := make([]fs.DirEntry, len(infos))
	for i, entry := range infos {
		entries[i] = entry
	}
	return entries, err
}

// access forbids only to run what isn't marked as a program: every user of a machine may do everything else.
func (s *shell) access(_ context.Context, name string, mode interp.AccessMode) error {
	i, err := s.machine.files.stat(name, true)
	if err != nil {
		return err
	}
	if mode&interp.AccessExec != 0 && !i.IsDir() && i.mode&0o111 == 0 {
		return &fs.PathError{Op: "access", Path: name, Err: os.ErrPermission}
	}
	return nil
}
