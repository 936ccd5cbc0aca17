package machine

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

func fileCommands() map[string]command {
	return map[string]command{
		"cat": runCat, "mkdir": runMkdir, "touch": runTouch, "rm": runRm, "rmdir": runRm, "cp": runCp, "mv": runMv,
		"ln": runLn, "ls": runLs, "chmod": runChmod, "chown": runChown, "chgrp": runChown, "tee": runTee, "find": runFind,
		"basename": runBasename, "dirname": runDirname, "readlink": runReadlink, "realpath": runReadlink, "mktemp": runMktemp,
		"install": runInstall, "stat": runStat, "du": runDu, "pwd": runPwd,
	}
}

func runCat(ctx context.Context, c *call) int {
	_, names := c.options("")
	return c.inputs(names, func(_ string, r io.Reader) error { return copyTo(ctx, c.out, r) })
}

func runMkdir(_ context.Context, c *call) int {
	flags, names := c.options("m")
	mode, err := parseMode(flags["m"], 0o755)
	if err != nil {
		return c.fail(1, "invalid mode '%s'", flags["m"])
	}
	return c.each(names, "create directory", func(name string) error {
		return c.files().makeDir(name, mode, has(flags, "p", "parents"))
	})
}

// each does one thing to each operand and goes on after a failure, as the file commands do.
func (c *call) each(names []string, verb string, do func(full string) error) int {
	if len(names) == 0 {
		return c.fail(1, "missing operand")
	}
	code := 0
	for _, name := range names {
		if err := do(c.path(name)); err != nil {
			code = c.failOn(verb, name, err)
		}
	}
	return code
}

func runTouch(_ context.Context, c *call) int {
	_, names := c.options("dtr")
	now := c.shell.machine.clock.Now()
	return c.each(names, "touch", func(name string) error {
		if _, err := c.files().stat(name, true); err == nil {
			return c.files().change("touch", name, func(n *node) { n.modified = now })
		}
		opened, err := c.files().open(name, flagCreate, 0o644)
		if err != nil {
			return err
		}
		return opened.Close()
	})
}

func runRm(_ context.Context, c *call) int {
	flags, names := c.options("")
	force, deep := has(flags, "f", "force"), has(flags, "r", "R", "recursive")
	if len(names) == 0 && force {
		return 0
	}
	return c.each(names, "remove", func(name string) error {
		i, err := c.files().stat(name, false)
		switch {
		case err != nil && force:
			return nil
		case err != nil:
			return err
		case i.IsDir() && !deep && c.name != "rmdir":
			return &fs.PathError{Op: "remove", Path: name, Err: errIsDirectory}
		case c.name == "rmdir":
			if entries, err := c.files().readDir(name); err != nil || len(entries) > 0 {
				return &fs.PathError{Op: "remove", Path: name, Err: errNotEmpty}
			}
		}
		return c.files().removeAll(name)
	})
}

// into gives the path that a source gets: the target, or one in it when that is a directory.
func (c *call) into(source, target string) string {
	full := c.path(target)
	if i, err := c.files().stat(full, true); err == nil && i.IsDir() {
		return path.Join(full, path.Base(c.path(source)))
	}
	return full
}

func runCp(_ context.Context, c *call) int {
	flags, names := c.options("t")
	if len(names) < 2 {
		return c.fail(1, "missing destination file operand")
	}
	target := names[len(names)-1]
	deep := has(flags, "r", "R", "a", "recursive")
	return c.each(names[:len(names)-1], "copy", func(name string) error {
		if i, err := c.files().stat(name, true); err == nil && i.IsDir() && !deep {
			return &fs.PathError{Op: "copy", Path: name, Err: errOmitted}
		}
		return c.files().copyTree("copy", name, c.into(name, target), false)
	})
}

func runMv(_ context.Context, c *call) int {
	_, names := c.options("")
	if len(names) < 2 {
		return c.fail(1, "missing destination file operand")
	}
	target := names[len(names)-1]
	return c.each(names[:len(names)-1], "move", func(name string) error {
		return c.files().copyTree("move", name, c.into(name, target), true)
	})
}

func runLn(_ context.Context, c *call) int {
	flags, names := c.options("")
	if len(names) != 2 {
		return c.fail(1, "two operands are needed")
	}
	name := c.path(names[1])
	if !has(flags, "n", "T") {
		name = c.into(names[0], names[1])
	}
	var err error
	if has(flags, "s", "symbolic") {
		err = c.files().link(names[0], name, has(flags, "f", "force"))
	} else {
		err = c.files().copyTree("link", c.path(names[0]), name, false)
	}
	if err != nil {
		return c.failOn("create link", names[1], err)
	}
	return 0
}

func runLs(_ context.Context, c *call) int {
	flags, names := c.options("")
	if len(names) == 0 {
		names = []string{"."}
	}
	long, all := has(flags, "l"), has(flags, "a", "A")
	code := 0
	for _, name := range names {
		full := c.path(name)
		i, err := c.files().stat(full, true)
		if err != nil {
			code = max(code, c.failOn("access", name, err)+1)
			continue
		}
		if !i.IsDir() || has(flags, "d") {
			c.entry(name, i, long)
			continue
		}
		if len(names) > 1 {
			fmt.Fprintf(c.out, "%s:\n", name)
		}
		entries, err := c.files().readDir(full)
		if err != nil {
			code = c.failOn("open", name, err)
		}
		for _, entry := range entries {
			if all || !strings.HasPrefix(entry.name, ".") {
				c.entry(entry.name, entry, long)
			}
		}
	}
	return code
}

func (c *call) entry(name string, i info, long bool) {
	if !long {
		fmt.Fprintln(c.out, name)
		return
	}
	mode := i.mode.String()
	if i.mode&fs.ModeSymlink != 0 {
		mode, name = "l"+mode[1:], name+" -> "+i.target
	}
	fmt.Fprintf(c.out, "%s 1 %s %s %d %s %s\n", mode, orRoot(i.owner), orRoot(i.group), i.Size(), i.modified.UTC().Format("Jan _2 15:04"), name)
}

func runChmod(_ context.Context, c *call) int {
	flags, names := map[string]string{}, c.args
	for len(names) > 0 && (names[0] == "-R" || names[0] == "-v" || names[0] == "-f") {
		flags[names[0][1:]], names = "", names[1:]
	}
	if len(names) < 2 {
		return c.fail(1, "missing operand")
	}
	wanted := names[0]
	if _, err := parseMode(wanted, 0); err != nil {
		return c.fail(1, "invalid mode: '%s'", wanted)
	}
	return c.each(names[1:], "access", func(name string) error {
		return c.walk(name, has(flags, "R"), func(name string) error {
			return c.files().change("chmod", name, func(n *node) {
				mode, _ := parseMode(wanted, n.mode.Perm()) // checked above
				n.mode = n.mode.Type() | mode
			})
		})
	})
}

// walk does one thing to a path and, on demand, to all below it.
func (c *call) walk(name string, deep bool, do func(string) error) error {
	if err := do(name); err != nil || !deep {
		return err
	}
	c.files().mu.RLock()
	under := c.files().under(name)
	c.files().mu.RUnlock()
	for _, below := range under {
		if err := do(below); err != nil {
			return err
		}
	}
	return nil
}

// parseMode reads 755, u+x, +x, go-rwx, a=r and lists of those; "" leaves the mode as it was.
func parseMode(text string, old fs.FileMode) (fs.FileMode, error) {
	if text == "" {
		return old, nil
	}
	if octal, err := strconv.ParseUint(text, 8, 12); err == nil {
		return fs.FileMode(octal) & fs.ModePerm, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		at := strings.IndexAny(part, "+-=")
		if at < 0 {
			return 0, strconv.ErrSyntax
		}
		var who, bits fs.FileMode
		for _, letter := range part[:at] {
			mask, known := map[rune]fs.FileMode{'u': 0o700, 'g': 0o070, 'o': 0o007, 'a': 0o777}[letter]
			if !known {
				return 0, strconv.ErrSyntax
			}
			who |= mask
		}
		if who == 0 {
			who = 0o777
		}
		for _, letter := range part[at+1:] {
			mask, known := map[rune]fs.FileMode{'r': 0o444, 'w': 0o222, 'x': 0o111, 'X': 0o111, 's': 0, 't': 0}[letter]
			if !known {
				return 0, strconv.ErrSyntax
			}
			bits |= mask & who
		}
		switch part[at] {
		case '+':
			old |= bits
		case '-':
			old &^= bits
		default:
			old = old&^who | bits
		}
	}
	return old, nil
}

func runChown(_ context.Context, c *call) int {
	flags, names := c.options("")
	if len(names) < 2 {
		return c.fail(1, "missing operand")
	}
	owner, group, hasGroup := strings.Cut(names[0], ":")
	if c.name == "chgrp" {
		owner, group, hasGroup = "", names[0], true
	}
	return c.each(names[1:], "access", func(name string) error {
		return c.walk(name, has(flags, "R", "recursive"), func(name string) error {
			return c.files().change("chown", name, func(n *node) {
				if owner != "" {
					n.owner = owner
				}
				if hasGroup && group != "" {
					n.group = group
				}
			})
		})
	})
}
