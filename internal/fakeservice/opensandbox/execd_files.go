package opensandbox

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/machine"
)

// permission is a file's ownership and mode: octal digits that are written as a decimal number (644). Mode 0 leaves it as it is.
type permission struct {
	Owner string `json:"owner"`
	Group string `json:"group"`
	Mode  int    `json:"mode"`
}

// apply lays the permission over a file's.
func (p permission) apply(f machine.File) (machine.File, error) {
	if p.Mode != 0 {
		mode, err := strconv.ParseUint(strconv.Itoa(p.Mode), 8, 32)
		if err != nil {
			return f, err
		}
		f.Mode = fs.FileMode(mode)
	}
	if p.Owner != "" {
		if unknownName(p.Owner) {
			return f, fmt.Errorf("failed to lookup user %s: user: unknown user %s", p.Owner, p.Owner)
		}
		f.Owner = p.Owner
	}
	if p.Group != "" {
		if unknownName(p.Group) {
			return f, fmt.Errorf("failed to lookup group %s: group: unknown group %s", p.Group, p.Group)
		}
		f.Group = p.Group
	}
	return f, nil
}

// unknownName tells what names no user or group. execd looks names up: a number is none.
func unknownName(name string) bool {
	return namesNothing(name) || strings.Trim(name, "0123456789") == ""
}

func fileError(w http.ResponseWriter, err error) {
	if errors.Is(err, fs.ErrNotExist) {
		execdError(w, http.StatusNotFound, "FILE_NOT_FOUND", fmt.Sprintf("file not found. %v", err))
		return
	}
	execdError(w, http.StatusInternalServerError, "RUNTIME_ERROR", fmt.Sprintf("error accessing file: %v", err))
}

// disk is the sandbox's machine; false when it went away meanwhile.
func (s *Service) disk(sb *sandbox) *machine.Machine {
	inside := s.machineOf(sb)
	if inside == nil {
		hangUp()
	}
	return inside
}

func (s *Service) downloadFile(w http.ResponseWriter, r *http.Request, sb *sandbox) {
	name := r.URL.Query().Get("path")
	if name == "" {
		execdError(w, http.StatusBadRequest, "MISSING_QUERY", "missing query parameter 'path'")
		return
	}
	at, err := sb.absolutePath(name)
	if err != nil {
		execdError(w, http.StatusInternalServerError, "RUNTIME_ERROR", fmt.Sprintf("error resolving file path: %s. %v", name, err))
		return
	}
	name = at
	file, err := s.disk(sb).ReadFile(name)
	if errors.Is(err, syscall.EISDIR) {
		serveDirectory(w, r, path.Base(name))
		return
	}
	if err != nil {
		fileError(w, asOp("open", err))
		return
	}
	shown := path.Base(name)
	disposition := `attachment; filename="` + shown + `"`
	if escaped := url.PathEscape(shown); strings.ContainsFunc(shown, func(c rune) bool { return c > 127 }) {
		disposition = `attachment; filename="` + escaped + `"; filename*=UTF-8''` + escaped
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Disposition", disposition)
	http.ServeContent(w, r, shown, file.Modified, strings.NewReader(string(file.Data)))
}

// serveDirectory is what becomes of the download of a directory: an answer of endless length that breaks off at once. Where execd's
// own proxy is on the way, it says 500.
func serveDirectory(w http.ResponseWriter, r *http.Request, name string) {
	status := http.StatusOK
	if strings.HasPrefix(r.URL.Path, directPrefix) && strings.Contains(r.URL.Path, "/proxy/") {
		status = http.StatusInternalServerError
	}
	w.Header().Set("Accept-Ranges", "bytes")
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
	w.Header().Set("Content-Length", strconv.FormatInt(math.MaxInt64, 10))
	w.WriteHeader(status)
	_ = http.NewResponseController(w).Flush()
	hangUp()
}

// fileInfo is what execd tells of a file.
type fileInfo struct {
	Path       string    `json:"path"`
	Type       string    `json:"type"`
	Size       int64     `json:"size"`
	ModifiedAt time.Time `json:"modified_at"`
	CreatedAt  time.Time `json:"created_at"`
	permission
}

func (s *Service) filesInfo(w http.ResponseWriter, r *http.Request, sb *sandbox) {
	infos := map[string]fileInfo{}
	for _, name := range r.URL.Query()["path"] {
		at, err := sb.absolutePath(name)
		if err != nil {
			fileError(w, fmt.Errorf("invalid path %s: %w", name, err))
			return
		}
		file, err := s.disk(sb).Lstat(at)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			fileError(w, fmt.Errorf("file not found: %s: %w", name, err))
			return
		case err != nil:
			fileError(w, fmt.Errorf("error accessing file %s: %w", name, err))
			return
		}
		kind, size := "file", int64(len(file.Data))
		switch {
		case file.Mode.IsDir():
			kind, size = "directory", 4096
		case file.Mode&fs.ModeSymlink != 0:
			kind = "symlink"
		}
		mode, _ := strconv.Atoi(strconv.FormatUint(uint64(file.Mode.Perm()), 8)) // octal digits make a decimal number
		infos[name] = fileInfo{at, kind, size, file.Modified, file.Modified, permission{orRoot(file.Owner), orRoot(file.Group), mode}}
	}
	execdJSON(w, http.StatusOK, infos)
}

func orRoot(name string) string {
	if name == "" {
		return "root"
	}
	return name
}

func (s *Service) filePermissions(w http.ResponseWriter, r *http.Request, sb *sandbox) {
	var request map[string]permission
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
		execdError(w, http.StatusBadRequest, "INVALID_REQUEST_BODY", fmt.Sprintf("error parsing request, MAYBE invalid body format. %v", err))
		return
	}
	for _, name := range sortedKeys(request) {
		if request[name] == (permission{}) {
			continue // nothing is asked for, so nothing is looked at
		}
		at, err := sb.absolutePath(name)
		var file machine.File
		if err == nil {
			file, err = s.disk(sb).ReadFile(at)
		}
		if err == nil {
			file, err = request[name].apply(file)
		}
		if err == nil {
			err = s.disk(sb).WriteFile(at, file)
		}
		if err = asOp("chmod", err); err != nil {
			execdError(w, http.StatusInternalServerError, "RUNTIME_ERROR", fmt.Sprintf("error changing permissions for %s. %v", name, err))
			return
		}
	}
	w.WriteHeader(http.StatusOK)
}

func (s *Service) moveFiles(w http.ResponseWriter, r *http.Request, sb *sandbox) {
	var request []struct {
		Src  string `json:"src"`
		Dest string `json:"dest"`
	}
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
		execdError(w, http.StatusBadRequest, "INVALID_REQUEST_BODY", fmt.Sprintf("error parsing request, MAYBE invalid body format. %v", err))
		return
	}
	for _, item := range request {
		from, err := sb.absolutePath(item.Src)
		to, toErr := sb.absolutePath(item.Dest)
		if err = cmp.Or(err, toErr); err != nil {
			fileError(w, err)
			return
		}
		file, err := s.disk(sb).ReadFile(from)
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("source path not found: %s: %w", item.Src, asOp("stat", err))
		}
		if err == nil {
			if _, taken := s.disk(sb).ReadFile(to); taken == nil {
				err = fmt.Errorf("destination path already exists: %s", item.Dest)
			}
		}
		if err == nil {
			err = errors.Join(s.disk(sb).WriteFile(to, file), s.disk(sb).Remove(from))
		}
		if err != nil {
			fileError(w, err)
			return
		}
	}
	w.WriteHeader(http.StatusOK)
}

// removeFiles removes files; one that isn't there is no error, a directory is.
func (s *Service) removeFiles(w http.ResponseWriter, r *http.Request, sb *sandbox) {
	for _, name := range r.URL.Query()["path"] {
		if err := s.removeFile(sb, name); err != nil {
			execdError(w, http.StatusInternalServerError, "RUNTIME_ERROR", fmt.Sprintf("error removing file %s. %v", name, err))
			return
		}
	}
	w.WriteHeader(http.StatusOK)
}

// removeFile looks through a link and removes the link: one that leads nowhere counts as nothing there, and stays.
func (s *Service) removeFile(sb *sandbox, name string) error {
	at, err := sb.absolutePath(name)
	if err != nil {
		return fmt.Errorf("invalid path: %w", err)
	}
	_, err = s.disk(sb).ReadFile(at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, syscall.EISDIR):
		return fmt.Errorf("path is a directory: %s", name)
	case err != nil:
		return asOp("stat", err)
	}
	return s.disk(sb).Remove(at)
}
