package machine

import (
	"io"
	"io/fs"
	"os"
	"syscall"
)

// handle is an open file of the virtual file system, as a redirection of the shell holds it.
type handle struct {
	files  *filesystem
	name   string
	at     string
	read   []byte // what is left to read; a snapshot of the file when it was opened
	write  bool
	append bool
	offset int // of the next write
}

// open follows os.OpenFile for the flags that a shell uses.
func (f *filesystem) open(name string, flag int, perm fs.FileMode) (io.ReadWriteCloser, error) {
	if device, ok := devices[clean(name)]; ok {
		return device(), nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	at, err := f.resolve(name, true)
	if err != nil {
		return nil, err
	}
	n, writes := f.get(at), flag&(os.O_WRONLY|os.O_RDWR) != 0
	switch {
	case n == nil && flag&os.O_CREATE == 0:
		return nil, &fs.PathError{Op: "open", Path: name, Err: f.missing(at)}
	case n != nil && n.mode.IsDir():
		return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.EISDIR}
	case n == nil:
		if err := f.parent("open", at); err != nil {
			return nil, err
		}
		err = f.put("open", at, &node{mode: perm.Perm(), modified: f.now()})
	case writes && flag&os.O_TRUNC != 0:
		emptied := *n
		emptied.data, emptied.modified = nil, f.now()
		err = f.put("open", at, &emptied)
	}
	if err != nil {
		return nil, err
	}
	h := &handle{files: f, name: name, at: at, write: writes, append: flag&os.O_APPEND != 0}
	if !writes || flag&os.O_RDWR != 0 {
		h.read = f.get(at).data
	}
	return h, nil
}

func (h *handle) Read(into []byte) (int, error) {
	if len(h.read) == 0 {
		return 0, io.EOF
	}
	n := copy(into, h.read)
	h.read = h.read[n:]
	return n, nil
}

func (h *handle) Write(data []byte) (int, error) {
	if !h.write {
		return 0, &fs.PathError{Op: "write", Path: h.name, Err: syscall.EBADF}
	}
	h.files.mu.Lock()
	defer h.files.mu.Unlock()
	n := h.files.get(h.at)
	if n == nil { // removed while open: what is written now is lost, as on a real system
		return len(data), nil
	}
	if h.append {
		h.offset = len(n.data)
	}
	grown := *n
	grown.modified = h.files.now()
	switch {
	case h.offset == len(n.data):
		//nolint:gocritic // the old slice stays what it was for whoever reads it
		grown.data = append(n.data, data...) // into spare room that no other node sees: readers hold shorter slices
	default:
		grown.data = make([]byte, max(len(n.data), h.offset+len(data)))
		copy(grown.data, n.data)
		copy(grown.data[h.offset:], data)
	}
	if err := h.files.put("write", h.at, &grown); err != nil {
		return 0, err
	}
	h.offset += len(data)
	return len(data), nil
}

func (h *handle) Close() error { return nil }

// devices are the special files that scripts use.
var devices = map[string]func() io.ReadWriteCloser{
	"/dev/null":    func() io.ReadWriteCloser { return null{} },
	"/dev/zero":    func() io.ReadWriteCloser { return zero{} },
	"/dev/random":  func() io.ReadWriteCloser { return random{} },
	"/dev/urandom": func() io.ReadWriteCloser { return random{} },
}
