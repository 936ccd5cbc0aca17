package machine

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// call is one command as it runs.
type call struct {
	shell *shell
	name  string
	args  []string // without the name
	dir   string
	env   expand.Environ
	streams
}

type command func(context.Context, *call) int

var commands map[string]command

func allCommands() map[string]command {
	all := map[string]command{}
	for _, some := range []map[string]command{fileCommands(), textCommands(), filterCommands(), systemCommands(), shellCommands()} {
		for name, run := range some {
			all[name] = run
		}
	}
	return all
}

// fail writes a message as commands do and gives the exit code back.
func (c *call) fail(code int, format string, values ...any) int {
	fmt.Fprintf(c.err, "%s: %s\n", c.name, fmt.Sprintf(format, values...))
	return code
}

// failOn tells of a file error in the words that a real command uses.
func (c *call) failOn(verb, name string, err error) int {
	var wrapped *fs.PathError
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	text := err.Error()
	return c.fail(1, "cannot %s '%s': %s", verb, name, strings.ToUpper(text[:1])+text[1:])
}

func (c *call) path(name string) string { return absolute(c.dir, name) }

func (c *call) files() *filesystem { return c.shell.machine.files }

// options splits leading flags such as -rf from the operands. Flags named in valued take a value ("-n 3" or "-n3"). What
// starts with two dashes is kept whole: "--parents".
func (c *call) options(valued string) (flags map[string]string, operands []string) {
	flags = map[string]string{}
	args := c.args
	for len(args) > 0 {
		arg := args[0]
		if len(arg) < 2 || arg[0] != '-' {
			break
		}
		args = args[1:]
		if arg == "--" {
			break
		}
		if strings.HasPrefix(arg, "--") {
			name, value, _ := strings.Cut(arg[2:], "=")
			flags[name] = value
			continue
		}
		for i := 1; i < len(arg); i++ {
			name := arg[i : i+1]
			if !strings.Contains(valued, name) {
				flags[name] = ""
				continue
			}
			flags[name] = arg[i+1:]
			if flags[name] == "" && len(args) > 0 {
				flags[name], args = args[0], args[1:]
			}
			break
		}
	}
	return flags, args
}

func has(flags map[string]string, names ...string) bool {
	for _, name := range names {
		if _, set := flags[name]; set {
			return true
		}
	}
	return false
}

// inputs reads the named files one after the other, or the standard input when there is none; "-" is the standard input.
// It stops at the first that use refuses, and gives the exit code.
func (c *call) inputs(names []string, use func(name string, r io.Reader) error) int {
	if len(names) == 0 {
		names = []string{"-"}
	}
	code := 0
	for _, name := range names {
		r := c.in
		if name != "-" {
			opened, err := c.files().open(c.path(name), 0, 0)
			if err != nil {
				code = c.failOn("open", name, err)
				continue
			}
			r = opened
		}
		if err := use(name, r); err != nil {
			return 1
		}
	}
	return code
}

const maxLine = 1 << 20 // bytes of one line that a filter takes

// lines calls use for each line of the inputs, without its end.
func (c *call) lines(ctx context.Context, names []string, use func(line string) error) int {
	return c.inputs(names, func(_ string, r io.Reader) error {
		scanner := bufio.NewScanner(r)
		scanner.Buffer(nil, maxLine)
		for scanner.Scan() {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := use(scanner.Text()); err != nil {
				return err
			}
		}
		return scanner.Err()
	})
}

// buffers are lent to copyTo, which many small commands call.
var buffers = sync.Pool{New: func() any { return new([32 << 10]byte) }}

// copyTo copies until the input, the reader of the output or ctx ends.
func copyTo(ctx context.Context, w io.Writer, r io.Reader) error {
	lent := buffers.Get().(*[32 << 10]byte) //nolint:forcetypeassert // nothing else is put there
	defer buffers.Put(lent)
	buffer := lent[:]
	for {
		n, err := r.Read(buffer)
		if n > 0 {
			if _, err := w.Write(buffer[:n]); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

const (
	lookupCommand = "\x00lookup"   // what "command -v" and "type" become: the interpreter would look at the host
	functionMark  = "\x00function" // before the name of one
)

// lookup answers "command -v" and "type".
func lookup(c *call) int {
	verbose, code := false, 0
	for _, arg := range c.args {
		name, isFunction := strings.CutPrefix(arg, functionMark)
		kind := "builtin"
		at := ""
		switch {
		case isFunction:
			kind = "function"
		case strings.HasPrefix(arg, "-"):
			verbose = verbose || arg == "-V"
			continue
		case syntax.IsKeyword(name):
			kind = "keyword"
		case isBuiltin(name):
		case strings.Contains(name, "/"):
			if i, err := c.files().stat(c.path(name), true); err == nil && !i.IsDir() && i.mode&0o111 != 0 {
				at = c.path(name)
			}
		default:
			at = c.files().which(name, c.env.Get("PATH").String())
		}
		switch {
		case at == "" && (strings.Contains(name, "/") || (kind == "builtin" && !isBuiltin(name))):
			if verbose {
				fmt.Fprintf(c.err, "%s: %s: not found\n", c.shell.name, name)
			}
			code = 1
		case at != "" && verbose:
			fmt.Fprintf(c.out, "%s is %s\n", name, at)
		case at != "":
			fmt.Fprintln(c.out, at)
		case verbose:
			fmt.Fprintf(c.out, "%s is a shell %s\n", name, kind)
		default:
			fmt.Fprintln(c.out, name)
		}
	}
	return code
}
