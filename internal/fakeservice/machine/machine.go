// Package machine is the inside of a fake VM or sandbox: a small virtual file system and a shell in pure Go. No process of
// the host is started and no file of the host is read or written, so that a script which a user means for a GPU machine can
// do no harm to the one that runs the fake.
package machine

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/clock"
)

// Limits of one machine, so that a fake which runs for weeks stays small. A write past them fails with ErrNoSpace.
const (
	MaxFileSize  = 64 << 20  // bytes of one file
	MaxDiskSize  = 256 << 20 // bytes of all files of one machine
	MaxFileCount = 20_000    // files and directories that were made on one machine
)

// ErrNoSpace is the error of a write that would pass one of the limits.
var ErrNoSpace = errors.New("no space left on device")

// ErrOff is the error of a command on a machine that was closed.
var ErrOff = errors.New("the machine is off")

// Machine is one virtual machine. It is safe for concurrent use.
type Machine struct {
	hostname string
	env      map[string]string
	clock    clock.Clock
	files    *filesystem
	booted   time.Time

	// life ends with Close: jobs that a script left in the background live as long as their machine, not as long as the
	// request that started them.
	life context.Context
	off  context.CancelCauseFunc
}

// Option changes how a machine is made.
type Option func(*Machine)

// WithClock sets the time that date, sleep and the files' times follow; the system's without it.
func WithClock(c clock.Clock) Option { return func(m *Machine) { m.clock = c } }

// New gives a machine with the usual directories and commands. env holds variables that every command of it sees.
func New(hostname string, env map[string]string, options ...Option) *Machine {
	m := &Machine{hostname: hostname, env: maps.Clone(env), clock: clock.System()}
	for _, option := range options {
		option(m)
	}
	m.booted = m.clock.Now()
	m.files = newFilesystem(m.clock.Now)
	m.life, m.off = context.WithCancelCause(context.Background())
	return m
}

// Clone gives a machine with the same files and environment: what a snapshot keeps. Nothing that runs is taken along.
func (m *Machine) Clone() *Machine {
	other := New(m.hostname, m.env, WithClock(m.clock))
	other.files = m.files.clone()
	return other
}

// SetHostname renames the machine; a clone is renamed to the sandbox that it becomes.
func (m *Machine) SetHostname(name string) { m.hostname = name }

// Close turns the machine off: every command on it ends, also those in the background.
func (m *Machine) Close() { m.off(ErrOff) }

// File is a file's content and what ls shows of it.
type File struct {
	Data         []byte
	Mode         fs.FileMode // permission bits; 0 means 0644
	Owner, Group string      // "" means root
	Modified     time.Time   // zero means now
}

// WriteFile puts a file at an absolute path, over one that may be there. Parents are created. Data is kept, not copied.
// Errors: ErrNoSpace, or a *fs.PathError when the path is a directory or a parent is a file.
func (m *Machine) WriteFile(path string, f File) error { return m.files.writeFile(path, f) }

// ReadFile gives a file's content, which the caller must not change; fs.ErrNotExist (wrapped) when there is none.
func (m *Machine) ReadFile(path string) (File, error) { return m.files.readFile(path) }

// Lstat gives what stands at an absolute path, without following a link there. The mode has its type bits too, and Data is a
// link's target, or nil for a directory; fs.ErrNotExist (wrapped) when there is nothing.
func (m *Machine) Lstat(path string) (File, error) { return m.files.lstat(path) }

// Remove deletes a file, or a directory with all that is in it; fs.ErrNotExist (wrapped) when there is none.
func (m *Machine) Remove(path string) error { return m.files.removeAll(path) }

// List gives the paths of all files that were put on the machine or made there, sorted; no directories, and none of the
// files that every machine has.
func (m *Machine) List() []string { return m.files.list() }

// Command is what Exec runs.
type Command struct {
	Argv []string
	Env  map[string]string // laid over the machine's
	Dir  string            // "" means the user's home
	User string            // "" means root; nothing is forbidden to any user

	Stdin          io.Reader // nil means an empty one
	Stdout, Stderr io.Writer // nil discards; nothing is written after Exec has returned
}
