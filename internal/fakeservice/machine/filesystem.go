package machine

import (
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// node is a file, a directory or a symbolic link. A node in the table is never changed but replaced, so that readers and
// clones need no lock.
type node struct {
	mode         fs.FileMode // with fs.ModeDir or fs.ModeSymlink
	data         []byte
	target       string // of a link
	owner, group string
	modified     time.Time
}

// filesystem is a flat table from clean absolute path to node, laid over the files that every machine has.
type filesystem struct {
	mu    sync.RWMutex
	now   func() time.Time
	nodes map[string]*node // nil marks a file of the base that was removed
	bytes int64
	links int // while there is none, a path needs no walk to be resolved
}

func newFilesystem(now func() time.Time) *filesystem {
	return &filesystem{now: now, nodes: map[string]*node{}}
}

func (f *filesystem) clone() *filesystem {
	f.mu.RLock()
	defer f.mu.RUnlock()
	other := &filesystem{now: f.now, nodes: maps.Clone(f.nodes), bytes: f.bytes, links: f.links}
	for name, n := range other.nodes {
		if n != nil && cap(n.data) > len(n.data) { // an append to one must not write into the other's spare room
			clipped := *n
			clipped.data = slices.Clip(n.data)
			other.nodes[name] = &clipped
		}
	}
	return other
}

// get looks a clean path up without following a link. The caller holds the lock.
func (f *filesystem) get(name string) *node {
	if n, changed := f.nodes[name]; changed {
		return n
	}
	return base[name]
}

const maxLinks = 40 // as Linux: more links than that in one path are a loop

// resolve gives the path that name means once links are followed; the last element is followed only when asked.
func (f *filesystem) resolve(name string, last bool) (string, error) {
	name = clean(name)
	if f.links == 0 {
		return name, nil
	}
	rest, done, followed := strings.Split(name[1:], "/"), "/", 0
	for len(rest) > 0 {
		step := path.Join(done, rest[0])
		rest = rest[1:]
		n := f.get(step)
		if n == nil || n.mode&fs.ModeSymlink == 0 || (len(rest) == 0 && !last) {
			done = step
			continue
		}
		if followed++; followed > maxLinks {
			return "", &fs.PathError{Op: "open", Path: name, Err: syscall.ELOOP}
		}
		target := n.target
		if !path.IsAbs(target) {
			target = path.Join(done, target)
		}
		rest = append(strings.Split(clean(target)[1:], "/"), rest...)
		done = "/"
	}
	return done, nil
}

func clean(name string) string { return path.Clean("/" + name) }

// lookup finds the node behind name; the caller holds the lock.
func (f *filesystem) lookup(op, name string, last bool) (string, *node, error) {
	at, err := f.resolve(name, last)
	if err != nil {
		return "", nil, err
	}
	n := f.get(at)
	if n == nil {
		return at, nil, &fs.PathError{Op: op, Path: name, Err: f.missing(at)}
	}
	return at, n, nil
}

// missing tells why nothing is at a path: a parent that is a file is another error than none.
func (f *filesystem) missing(at string) error {
	for dir := path.Dir(at); dir != "/"; dir = path.Dir(dir) {
		if n := f.get(dir); n != nil && !n.mode.IsDir() {
			return syscall.ENOTDIR
		}
	}
	return syscall.ENOENT // errors.Is takes it for fs.ErrNotExist
}

// put sets or (with nil) removes a node and keeps the counts. The caller holds the lock and has checked the parent.
func (f *filesystem) put(op, at string, n *node) error {
	old := f.get(at)
	grow := size(n) - size(old)
	if n != nil {
		tooMany := old == nil && len(f.nodes) >= MaxFileCount
		if tooMany || len(n.data) > MaxFileSize || (grow > 0 && f.bytes+grow > MaxDiskSize) {
			return &fs.PathError{Op: op, Path: at, Err: ErrNoSpace}
		}
	}
	f.bytes += grow
	f.links += isLink(n) - isLink(old)
	if _, inBase := base[at]; n == nil && !inBase {
		delete(f.nodes, at)
	} else {
		f.nodes[at] = n
	}
	return nil
}

func size(n *node) int64 {
	if n == nil {
		return 0
	}
	return int64(len(n.data))
}

func isLink(n *node) int {
	if n != nil && n.mode&fs.ModeSymlink != 0 {
		return 1
	}
	return 0
}

// parent checks that the directory of at exists. The caller holds the lock.
func (f *filesystem) parent(op, at string) error {
	n := f.get(path.Dir(at))
	switch {
	case n == nil:
		return &fs.PathError{Op: op, Path: at, Err: f.missing(at)}
	case !n.mode.IsDir():
		return &fs.PathError{Op: op, Path: at, Err: syscall.ENOTDIR}
	}
	return nil
}

// makeParents creates what lacks of the directories above at. The caller holds the lock.
func (f *filesystem) makeParents(op, at string, mode fs.FileMode) error {
	dir := path.Dir(at)
	if n := f.get(dir); n != nil {
		if !n.mode.IsDir() {
			return &fs.PathError{Op: op, Path: at, Err: syscall.ENOTDIR}
		}
		return nil
	}
	if err := f.makeParents(op, dir, mode); err != nil {
		return err
	}
	return f.put(op, dir, &node{mode: fs.ModeDir | mode.Perm(), modified: f.now()})
}

func (f *filesystem) writeFile(name string, file File) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	at, err := f.resolve(name, true)
	if err != nil {
		return err
	}
	if n := f.get(at); n != nil && n.mode.IsDir() {
		return &fs.PathError{Op: "write", Path: name, Err: syscall.EISDIR}
	}
	if err := f.makeParents("write", at, 0o755); err != nil {
		return err
	}
	n := &node{mode: file.Mode.Perm(), data: slices.Clip(file.Data), owner: file.Owner, group: file.Group, modified: file.Modified}
	if n.mode == 0 {
		n.mode = 0o644
	}
	if n.modified.IsZero() {
		n.modified = f.now()
	}
	return f.put("write", at, n)
}

func (f *filesystem) readFile(name string) (File, error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	_, n, err := f.lookup("open", name, true)
	if err != nil {
		return File{}, err
	}
	if n.mode.IsDir() {
		return File{}, &fs.PathError{Op: "read", Path: name, Err: syscall.EISDIR}
	}
	return File{Data: slices.Clip(n.data), Mode: n.mode.Perm(), Owner: orRoot(n.owner), Group: orRoot(n.group), Modified: n.modified}, nil
}

func (f *filesystem) removeAll(name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	at, n, err := f.lookup("remove", name, false)
	if err != nil {
		return err
	}
	if at == "/" {
		return &fs.PathError{Op: "remove", Path: name, Err: syscall.EBUSY}
	}
	if n.mode.IsDir() {
		for _, under := range f.under(at) {
			_ = f.put("remove", under, nil) // a removal can't pass a limit
		}
	}
	return f.put("remove", at, nil)
}

// under lists every path below a directory, sorted. The caller holds the lock.
func (f *filesystem) under(dir string) []string {
	prefix := strings.TrimSuffix(dir, "/") + "/"
	var names []string
	for name, n := range f.nodes {
		if n != nil && strings.HasPrefix(name, prefix) && name != "/" {
			names = append(names, name)
		}
	}
	for name := range base {
		if _, changed := f.nodes[name]; !changed && strings.HasPrefix(name, prefix) && name != "/" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func (f *filesystem) list() []string {
	f.mu.RLock()
	defer f.mu.RUnlock()
	var names []string
	for name, n := range f.nodes {
		if n != nil && !n.mode.IsDir() {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func orRoot(name string) string {
	if name == "" {
		return "root"
	}
	return name
}
