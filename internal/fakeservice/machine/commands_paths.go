package machine

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
	"syscall"
)

const flagCreate = os.O_WRONLY | os.O_CREATE

var (
	errIsDirectory = errors.New("is a directory")
	errOmitted     = errors.New("-r not specified; omitting directory")
	errNotEmpty    = syscall.ENOTEMPTY
)

func runTee(ctx context.Context, c *call) int {
	flags, names := c.options("")
	mode := flagCreate | os.O_TRUNC
	if has(flags, "a", "append") {
		mode = flagCreate | os.O_APPEND
	}
	writers := []io.Writer{c.out}
	code := 0
	for _, name := range names {
		opened, err := c.files().open(c.path(name), mode, 0o644)
		if err != nil {
			code = c.failOn("open", name, err)
			continue
		}
		writers = append(writers, opened)
	}
	if err := copyTo(ctx, io.MultiWriter(writers...), c.in); err != nil {
		return c.fail(1, "%v", err)
	}
	return code
}

// runFind is find [dir ...] [-name pattern] [-type f|d]: what scripts mostly use of it.
func runFind(_ context.Context, c *call) int {
	args := c.args
	var roots []string
	for len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		roots, args = append(roots, args[0]), args[1:]
	}
	if len(roots) == 0 {
		roots = []string{"."}
	}
	pattern, kind := "*", ""
	for len(args) > 0 {
		switch {
		case args[0] == "-name" && len(args) > 1:
			pattern = args[1]
		case args[0] == "-type" && len(args) > 1:
			kind = args[1]
		case args[0] == "-print":
			args = args[1:]
			continue
		default:
			return c.fail(1, "unknown predicate '%s'", args[0])
		}
		args = args[2:]
	}
	return c.each(roots, "search", func(root string) error {
		if _, err := c.files().stat(root, true); err != nil {
			return err
		}
		return c.walk(root, true, func(name string) error {
			i, err := c.files().stat(name, false)
			if err != nil {
				return err
			}
			matched, err := path.Match(pattern, i.name)
			if err == nil && matched && (kind == "" || (kind == "d") == i.IsDir()) {
				fmt.Fprintln(c.out, name)
			}
			return err
		})
	})
}

func runBasename(_ context.Context, c *call) int {
	_, names := c.options("")
	if len(names) == 0 {
		return c.fail(1, "missing operand")
	}
	name := path.Base(names[0])
	if len(names) > 1 && name != names[1] {
		name = strings.TrimSuffix(name, names[1])
	}
	fmt.Fprintln(c.out, name)
	return 0
}

func runDirname(_ context.Context, c *call) int {
	_, names := c.options("")
	if len(names) == 0 {
		return c.fail(1, "missing operand")
	}
	for _, name := range names {
		fmt.Fprintln(c.out, path.Dir(name))
	}
	return 0
}

func runReadlink(_ context.Context, c *call) int {
	flags, names := c.options("")
	code := 0
	for _, name := range names {
		i, err := c.files().stat(c.path(name), false)
		switch {
		case c.name == "readlink" && !has(flags, "f", "e", "m"):
			if err != nil || i.target == "" {
				code = 1
				continue
			}
			fmt.Fprintln(c.out, i.target)
		default:
			c.files().mu.RLock()
			at, err := c.files().resolve(c.path(name), true)
			c.files().mu.RUnlock()
			if err != nil {
				code = c.failOn("resolve", name, err)
				continue
			}
			fmt.Fprintln(c.out, at)
		}
	}
	return code
}

// runPwd is pwd [-P]: the shell's own would resolve links on the host.
func runPwd(_ context.Context, c *call) int {
	flags, _ := c.options("")
	at := c.dir
	if has(flags, "P") {
		c.files().mu.RLock()
		resolved, err := c.files().resolve(at, true)
		c.files().mu.RUnlock()
		if err != nil {
			return c.failOn("resolve", at, err)
		}
		at = resolved
	}
	fmt.Fprintln(c.out, at)
	return 0
}

func runMktemp(_ context.Context, c *call) int {
	flags, names := c.options("p")
	template := "tmp.XXXXXXXXXX"
	dir := "/tmp"
	if len(names) > 0 {
		template, dir = names[0], c.dir
	}
	if has(flags, "p") {
		dir = flags["p"]
	}
	stem := strings.TrimRight(template, "X")
	name := absolute(dir, stem+rand.Text()[:max(len(template)-len(stem), 6)])
	var err error
	if has(flags, "d", "directory") {
		err = c.files().makeDir(name, 0o700, false)
	} else {
		_, err = c.files().open(name, flagCreate, 0o600)
	}
	if err != nil {
		return c.failOn("create", template, err)
	}
	fmt.Fprintln(c.out, name)
	return 0
}

// runInstall is install [-d] [-m mode] [-o owner] [-g group] source ... target.
func runInstall(_ context.Context, c *call) int {
	flags, names := c.options("mogt")
	mode, err := parseMode(flags["m"], 0o755)
	if err != nil {
		return c.fail(1, "invalid mode '%s'", flags["m"])
	}
	settle := func(name string) error {
		return c.files().change("install", name, func(n *node) {
			n.mode = n.mode.Type() | mode
			n.owner, n.group = flags["o"], flags["g"]
		})
	}
	if has(flags, "d") {
		return c.each(names, "create directory", func(name string) error {
			if err := c.files().makeDir(name, mode, true); err != nil {
				return err
			}
			return settle(name)
		})
	}
	if len(names) < 2 {
		return c.fail(1, "missing destination file operand")
	}
	target := names[len(names)-1]
	return c.each(names[:len(names)-1], "install", func(name string) error {
		if has(flags, "D") {
			if err := c.files().makeDir(path.Dir(c.path(target)), 0o755, true); err != nil {
				return err
			}
		}
		to := c.into(name, target)
		if err := c.files().copyTree("install", name, to, false); err != nil {
			return err
		}
		return settle(to)
	})
}

// runStat is stat [-c format] file ..., with %a %s %U %G %n %F of the formats.
func runStat(_ context.Context, c *call) int {
	flags, names := c.options("c")
	format := flags["c"]
	if format == "" {
		format = "  File: %n\n  Size: %s\nAccess: (0%a) Uid: (%U) Gid: (%G)"
	}
	return c.each(names, "stat", func(name string) error {
		i, err := c.files().stat(name, true)
		if err != nil {
			return err
		}
		kind := "regular file"
		if i.IsDir() {
			kind = "directory"
		}
		_, err = fmt.Fprintln(c.out, strings.NewReplacer("%a", fmt.Sprintf("%o", i.mode.Perm()), "%s", fmt.Sprint(i.Size()),
			"%U", orRoot(i.owner), "%G", orRoot(i.group), "%n", name, "%F", kind, "%Y", fmt.Sprint(i.modified.Unix())).Replace(format))
		return err
	})
}

func runDu(_ context.Context, c *call) int {
	_, names := c.options("d")
	if len(names) == 0 {
		names = []string{"."}
	}
	return c.each(names, "access", func(name string) error {
		var total int64
		err := c.walk(name, true, func(name string) error {
			i, err := c.files().stat(name, false)
			if err == nil {
				total += i.Size()
			}
			return err
		})
		if err == nil {
			_, err = fmt.Fprintf(c.out, "%d\t%s\n", (total+1023)/1024, name)
		}
		return err
	})
}
