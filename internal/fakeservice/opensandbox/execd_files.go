package opensandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime/multipart"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
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
		if namesNothing(p.Owner) {
			return f, fmt.Errorf("failed to lookup user %s: user: unknown user %s", p.Owner, p.Owner)
		}
		f.Owner = p.Owner
	}
	if p.Group != "" {
		f.Group = p.Group
	}
	return f, nil
}

// absolutePath completes a path as execd does: ~ is its user's home, and what is relative begins at the root.
func absolutePath(name string) string {
	if name == "~" || strings.HasPrefix(name, "~/") {
		name = "/root" + name[1:]
	}
	return path.Clean("/" + name)
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

// Bytes of an upload: of the form, and of what of it is kept in memory. A machine takes no larger file.
const (
	largestUpload = 80 << 20
	uploadMemory  = 32 << 20
)

// uploadFiles takes a form of pairs: a part "metadata", which must have a file name, and a part "file".
func (s *Service) uploadFiles(w http.ResponseWriter, r *http.Request, sb *sandbox) {
	r.Body = http.MaxBytesReader(w, r.Body, largestUpload)
	if err := r.ParseMultipartForm(uploadMemory); err != nil { //nolint:gosec // bounded by the line above
		execdError(w, http.StatusBadRequest, "INVALID_FILE", "multipart form is empty")
		return
	}
	defer func() { _ = r.MultipartForm.RemoveAll() }()
	metadata, files := r.MultipartForm.File["metadata"], r.MultipartForm.File["file"]
	switch {
	case len(metadata) == 0:
		execdError(w, http.StatusBadRequest, "INVALID_FILE_METADATA", "metadata file is missing")
		return
	case len(files) == 0:
		execdError(w, http.StatusBadRequest, "INVALID_FILE_CONTENT", "file is missing")
		return
	case len(files) != len(metadata):
		execdError(w, http.StatusBadRequest, "INVALID_FILE", fmt.Sprintf("metadata and file count mismatch: %d vs %d", len(metadata), len(files)))
		return
	}
	for i := range files {
		if status, code, err := s.uploadFile(sb, metadata[i], files[i]); err != nil {
			execdError(w, status, code, err.Error())
			return
		}
	}
	w.WriteHeader(http.StatusOK)
}

func (s *Service) uploadFile(sb *sandbox, metadata, content *multipart.FileHeader) (status int, code string, err error) {
	text, err := readPart(metadata)
	if err != nil {
		return http.StatusBadRequest, "INVALID_FILE_METADATA", fmt.Errorf("error reading metadata content. %w", err)
	}
	var target struct {
		Path string `json:"path"`
		permission
	}
	if err := json.Unmarshal(text, &target); err != nil {
		return http.StatusBadRequest, "INVALID_FILE_METADATA", fmt.Errorf("invalid metadata format. %w", err)
	}
	if target.Path == "" {
		return http.StatusBadRequest, "INVALID_FILE_METADATA", errors.New("metadata path is empty")
	}
	data, err := readPart(content)
	if err != nil {
		return http.StatusInternalServerError, "RUNTIME_ERROR", fmt.Errorf("error opening file %s. %w", content.Filename, err)
	}
	name := absolutePath(target.Path)
	file := machine.File{Mode: 0o755} // the mode of a file that the real one makes, and a file that is there keeps its own
	if before, err := s.disk(sb).ReadFile(name); err == nil {
		file = before
	}
	file.Data, file.Modified = data, time.Time{}
	file, permissionErr := target.apply(file)
	if err := s.disk(sb).WriteFile(name, file); err != nil {
		return http.StatusInternalServerError, "RUNTIME_ERROR", fmt.Errorf("error opening destination file %s. %w", name, err)
	}
	if permissionErr != nil { // the file is there by then
		return http.StatusInternalServerError, "RUNTIME_ERROR", fmt.Errorf("error chmoding file %s. %w", name, permissionErr)
	}
	return 0, "", nil
}

func readPart(header *multipart.FileHeader) ([]byte, error) {
	part, err := header.Open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = part.Close() }()
	return io.ReadAll(part)
}

func (s *Service) downloadFile(w http.ResponseWriter, r *http.Request, sb *sandbox) {
	name := r.URL.Query().Get("path")
	if name == "" {
		execdError(w, http.StatusBadRequest, "MISSING_QUERY", "missing query parameter 'path'")
		return
	}
	name = absolutePath(name)
	file, err := s.disk(sb).ReadFile(name)
	if err != nil {
		fileError(w, err)
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
		file, err := s.disk(sb).ReadFile(absolutePath(name))
		kind := "file"
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			kind, file, err = "directory", machine.File{Mode: 0o755}, nil
		}
		if err != nil {
			fileError(w, fmt.Errorf("file not found: %s: %w", name, err))
			return
		}
		mode, _ := strconv.Atoi(strconv.FormatUint(uint64(file.Mode.Perm()), 8)) // octal digits make a decimal number
		infos[name] = fileInfo{absolutePath(name), kind, int64(len(file.Data)), file.Modified, file.Modified, permission{orRoot(file.Owner), orRoot(file.Group), mode}}
	}
	writeJSON(w, http.StatusOK, infos)
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
		file, err := s.disk(sb).ReadFile(absolutePath(name))
		if err == nil {
			file, err = request[name].apply(file)
		}
		if err == nil {
			err = s.disk(sb).WriteFile(absolutePath(name), file)
		}
		if err != nil {
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
		from, to := absolutePath(item.Src), absolutePath(item.Dest)
		file, err := s.disk(sb).ReadFile(from)
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
		_, err := s.disk(sb).ReadFile(absolutePath(name))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			err = fmt.Errorf("path is a directory: %s", name)
		default:
			err = s.disk(sb).Remove(absolutePath(name))
		}
		if err != nil {
			execdError(w, http.StatusInternalServerError, "RUNTIME_ERROR", fmt.Sprintf("error removing file %s. %v", name, err))
			return
		}
	}
	w.WriteHeader(http.StatusOK)
}
