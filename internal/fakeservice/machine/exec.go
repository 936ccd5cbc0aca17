package machine

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"

	"mvdan.cc/sh/v3/interp"
)

const searchPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// Exec runs a command and gives its exit code: 126 and 127 for one that can't be run or isn't there, as a shell does.
// When ctx or the machine ends first, the code is -1 and the error the cause. Jobs that a script leaves in the background
// go on until the machine is closed; what they write to Stdout and Stderr then is lost.
func (m *Machine) Exec(ctx context.Context, c Command) (int, error) {
	if len(c.Argv) == 0 {
		return exitNotFound, nil
	}
	out, errs := newGate(c.Stdout), newGate(c.Stderr)
	defer out.shut()
	defer errs.shut()
	// What runs belongs to the machine's life; the caller's end reaches it only while the caller waits.
	running, stop := context.WithCancelCause(m.life)
	r := newRun(func() { stop(nil) })
	defer r.drop()
	release := context.AfterFunc(ctx, func() { stop(context.Cause(ctx)) })
	defer release()

	user := c.User
	if user == "" {
		user = "root"
	}
	env := newEnviron(userEnvironment(user), m.env, c.Env)
	dir := c.Dir
	if dir == "" {
		dir = env.vars["HOME"]
	}
	if i, err := m.files.stat(dir, true); err != nil || !i.IsDir() {
		if c.Dir != "" {
			fmt.Fprintf(errs, "cannot change to %s: No such file or directory\n", c.Dir)
			return exitNotRunnable, nil
		}
		dir = "/"
	}
	s := &shell{machine: m, run: r, name: "sh", user: user}
	//nolint:contextcheck // jobs in the background outlive ctx; it reaches what runs through release
	return s.command(running, c.Argv, clean(dir), env, streams{c.Stdin, out, errs})
}

// run counts who still needs the context of one Exec: the caller, and each script that has left jobs in the background.
type run struct {
	holders atomic.Int32
	end     func()
}

func newRun(end func()) *run {
	r := &run{end: end}
	r.hold()
	return r
}

func (r *run) hold() { r.holders.Add(1) }

func (r *run) drop() {
	if r.holders.Add(-1) == 0 {
		r.end()
	}
}

// wait is a statement, not a whole program: the end of one would run the script's EXIT trap a second time.
var wait = parse("wait").Stmts[0]

// keepJobs lets the jobs that a script has left in the background go on after its end.
func (r *run) keepJobs(ctx context.Context, of *interp.Runner) {
	r.hold()
	go func() {
		defer r.drop()
		_ = of.Run(ctx, wait) // how a job ended is told to nobody, as on a real machine
	}()
}

func userEnvironment(user string) map[string]string {
	id := "1000"
	switch {
	case user == "root":
		id = "0"
	case strings.Trim(user, "0123456789") == "":
		id = user
	}
	return map[string]string{
		"HOME": homeOf(user), "USER": user, "LOGNAME": user, "PATH": searchPath, "SHELL": "/bin/bash", "LANG": "C.UTF-8",
		"UID": id, "EUID": id, "GID": id,
	}
}

func homeOf(user string) string {
	if user == "root" || user == "0" {
		return "/root"
	}
	return "/home/" + user
}

// gate passes writes on until it is shut, so that a job in the background can't write into what the caller has taken back.
type gate struct {
	mu sync.Mutex
	to io.Writer
}

func newGate(to io.Writer) *gate {
	if to == nil {
		to = io.Discard
	}
	return &gate{to: to}
}

func (g *gate) Write(data []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.to.Write(data)
}

func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.to = io.Discard
}
