package opensandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/machine"
)

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
	name, err := sb.expandPath(target.Path, nil)
	if err != nil {
		return http.StatusInternalServerError, "RUNTIME_ERROR", fmt.Errorf("error resolving target path %s. %w", target.Path, err)
	}
	name, asDirectory := path.Clean("/"+name), strings.HasSuffix(name, "/")
	if dir := s.obstacle(sb, name); dir != "" {
		return http.StatusInternalServerError, "RUNTIME_ERROR", fmt.Errorf("error creating target directory %s. mkdir %s: not a directory", path.Dir(name), dir)
	}
	if asDirectory && name != "/" {
		return http.StatusInternalServerError, "RUNTIME_ERROR", fmt.Errorf("error opening destination file %s/. open %s/: is a directory", name, name)
	}
	file := machine.File{Mode: 0o755} // the mode of a file that the real one makes, and a file that is there keeps its own
	if before, err := s.disk(sb).ReadFile(name); err == nil {
		file = before
	}
	file.Data, file.Modified = data, time.Time{}
	file, permissionErr := target.apply(file)
	if err := s.disk(sb).WriteFile(name, file); err != nil {
		return http.StatusInternalServerError, "RUNTIME_ERROR", fmt.Errorf("error opening destination file %s. %w", name, asOp("open", err))
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
