package machine

import (
	"io/fs"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"
)

// info is a node as the shell's tests and globs want it.
type info struct {
	name string
	*node
}

func (i info) Name() string               { return i.name }
func (i info) Size() int64                { return int64(len(i.data)) }
func (i info) Mode() fs.FileMode          { return i.mode }
func (i info) ModTime() time.Time         { return i.modified }
func (i info) IsDir() bool                { return i.mode.IsDir() }
func (i info) Type() fs.FileMode          { return i.mode.Type() }
func (i info) Info() (fs.FileInfo, error) { return i, nil }
func (i info) Sys() any                   { return hostOwner() }

func (f *filesystem) stat(name string, follow bool) (info, error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	_, n, err := f.lookup("stat", name, follow)
	if err != nil {
		return info{}, err
	}
	return info{path.Base(clean(name)), n}, nil
}

func (f *filesystem) lstat(name string) (File, error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	_, n, err := f.lookup("lstat", name, false)
	if err != nil {
		return File{}, err
	}
	data := slices.Clip(n.data)
	if n.mode&fs.ModeSymlink != 0 {
		data = []byte(n.target)
	}
	return File{Data: data, Mode: n.mode, Owner: orRoot(n.owner), Group: orRoot(n.group), Modified: n.modified}, nil
}

// readDir gives the entries of a directory, sorted by name.
func (f *filesystem) readDir(name string) ([]info, error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	at, n, err := f.lookup("open", name, true)
	if err != nil {
		return nil, err
	}
	if !n.mode.IsDir() {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: syscall.ENOTDIR}
	}
	prefix := len(strings.TrimSuffix(at, "/")) + 1
	var entries []info
	for _, under := range f.under(at) {
		if !strings.Contains(under[prefix:], "/") {
			entries = append(entries, info{under[prefix:], f.get(under)})
		}
	}
	return entries, nil
}

// makeDir creates a directory, with parents on demand; then one that exists is no error.
func (f *filesystem) makeDir(name string, mode fs.FileMode, parents bool) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	at, err := f.resolve(name, true)
	if err != nil {
		return err
	}
	if n := f.get(at); n != nil {
		if parents && n.mode.IsDir() {
			return nil
		}
		return &fs.PathError{Op: "mkdir", Path: name, Err: syscall.EEXIST}
	}
	if parents {
		err = f.makeParents("mkdir", at, 0o755)
	} else {
		err = f.parent("mkdir", at)
	}
	if err != nil {
		return err
	}
	return f.put("mkdir", at, &node{mode: fs.ModeDir | mode.Perm(), modified: f.now()})
}

// change replaces a node by an altered copy: chmod, chown, touch.
func (f *filesystem) change(op, name string, alter func(*node)) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	at, n, err := f.lookup(op, name, true)
	if err != nil {
		return err
	}
	altered := *n
	alter(&altered)
	return f.put(op, at, &altered)
}

// link makes a symbolic link; one that is there is replaced on demand.
func (f *filesystem) link(target, name string, replace bool) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	at, err := f.resolve(name, false)
	if err != nil {
		return err
	}
	if n := f.get(at); n != nil && (!replace || n.mode.IsDir()) {
		return &fs.PathError{Op: "link", Path: name, Err: syscall.EEXIST}
	}
	if err := f.parent("link", at); err != nil {
		return err
	}
	return f.put("link", at, &node{mode: fs.ModeSymlink | 0o777, target: target, modified: f.now()})
}

// copyTree copies a file, or a directory with all below it, to a path that is no directory yet; move also removes the source.
func (f *filesystem) copyTree(op, from, to string, move bool) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	source, n, err := f.lookup(op, from, !move)
	if err != nil {
		return err
	}
	target, err := f.resolve(to, !move)
	if err != nil {
		return err
	}
	if err := f.parent(op, target); err != nil {
		return err
	}
	if source == target || strings.HasPrefix(target, source+"/") {
		return &fs.PathError{Op: op, Path: to, Err: syscall.EINVAL}
	}
	names := []string{source}
	if n.mode.IsDir() {
		names = append(names, f.under(source)...)
	}
	for _, name := range names {
		copied := *f.get(name)
		copied.data = copied.data[:len(copied.data):len(copied.data)] // see clone
		if err := f.put(op, target+strings.TrimPrefix(name, source), &copied); err != nil {
			return err
		}
	}
	if move {
		for i := len(names) - 1; i >= 0; i-- {
			_ = f.put(op, names[i], nil) // a removal can't pass a limit
		}
	}
	return nil
}
