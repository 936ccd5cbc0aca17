package opensandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/apiclient"
)

// File is one to upload.
type File struct {
	Path    string // absolute
	Content []byte
	Mode    string // octal digits from 1 to 777; "" leaves what the agent makes of it
	Owner   string // names known in the sandbox; "" = the agent's own
	Group   string
}

// CheckPath refuses a path that the agent would take for another: it puts variables of its own in the place of every $, and
// knows no way to write one that stays.
func CheckPath(path string) error {
	if strings.Contains(path, "$") {
		return fmt.Errorf("path %q: it can't hold a $, which the sandbox's agent takes for the beginning of a variable", path)
	}
	return nil
}

// Upload puts a file into the sandbox, over what stands there; folders on the way are made. What can't be written is an
// *AgentError.
func (e *Execd) Upload(ctx context.Context, file File) error {
	if err := CheckPath(file.Path); err != nil {
		return err
	}
	mode, err := decimalMode(file.Mode)
	if err != nil {
		return err
	}
	metadata := struct {
		Path  string `json:"path"`
		Owner string `json:"owner,omitempty"`
		Group string `json:"group,omitempty"`
		Mode  int    `json:"mode,omitempty"`
	}{file.Path, file.Owner, file.Group, mode}
	encoded, err := json.Marshal(metadata)
	if err != nil {
		return err
	}
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	// Both parts need a file name, or the agent doesn't see them. The order is part of the protocol.
	part(form, "metadata", "metadata.json", "application/json", encoded)
	part(form, "file", "file", "application/octet-stream", file.Content)
	_ = form.Close()
	return e.ask(ctx, apiclient.Request{
		Method:      http.MethodPost,
		Path:        []string{"files", "upload"},
		Body:        body.Bytes(),
		ContentType: form.FormDataContentType(),
		Timeout:     transferTime(int64(body.Len())),
	}, nil)
}

// part adds to a form in memory, where nothing can fail.
func part(form *multipart.Writer, field, filename, contentType string, content []byte) {
	w, _ := form.CreatePart(textproto.MIMEHeader{
		"Content-Disposition": {fmt.Sprintf(`form-data; name="%s"; filename="%s"`, field, filename)},
		"Content-Type":        {contentType},
	})
	_, _ = w.Write(content)
}

// decimalMode gives a mode as execd wants it: its octal digits read as a decimal number, 0644 as 644. execd leaves out what is
// more than the permissions, set-user-id and the like, without a word.
func decimalMode(octal string) (int, error) {
	if octal == "" {
		return 0, nil
	}
	if mode, err := strconv.ParseUint(octal, 8, 32); err != nil || mode == 0 || mode > 0o777 {
		return 0, fmt.Errorf("mode %q: it has to be octal digits from 1 to 777, like 644", octal)
	}
	return strconv.Atoi(octal)
}

// transferTime is what so many bytes may take on a slow line, where the timeout of other requests would be too short.
func transferTime(size int64) time.Duration {
	const perSecond = 256 << 10
	return time.Minute + time.Duration(size/perSecond)*time.Second
}

// Download reads a file of at most limit bytes; a longer one is an error. One that isn't there answers 404. A folder's download
// breaks off like a connection.
func (e *Execd) Download(ctx context.Context, path string, limit int64) ([]byte, error) {
	if err := CheckPath(path); err != nil {
		return nil, err
	}
	request := apiclient.Request{
		Method:    http.MethodGet,
		Path:      []string{"files", "download"},
		Query:     url.Values{"path": {path}},
		Timeout:   transferTime(limit),
		MaxAnswer: limit,
		Retry:     apiclient.RetryNever,
	}
	answer, err := e.http.Do(ctx, request, nil)
	if err != nil {
		return nil, agentError(err, request)
	}
	return answer.Body, nil
}

// DeleteFile removes a file. One that isn't there is a success; a folder is an error.
func (e *Execd) DeleteFile(ctx context.Context, path string) error {
	if err := CheckPath(path); err != nil {
		return err
	}
	return e.ask(ctx, apiclient.Request{Method: http.MethodDelete, Path: []string{"files"}, Query: url.Values{"path": {path}}}, nil)
}

// FileInfo is what execd tells about a file.
type FileInfo struct {
	Path       string `json:"path"`
	Type       string `json:"type"` // "file", "directory", "symlink", "other"; "" = an older agent
	Size       int64  `json:"size"`
	Mode       int    `json:"mode"` // octal digits as a decimal number: 644
	Owner      string `json:"owner"`
	Group      string `json:"group"`
	ModifiedAt Time   `json:"modified_at"`
}

// FileInfo looks at a file without reading it. One that isn't there answers 404.
func (e *Execd) FileInfo(ctx context.Context, path string) (FileInfo, error) {
	if err := CheckPath(path); err != nil {
		return FileInfo{}, err
	}
	var answer map[string]FileInfo
	err := e.ask(ctx, apiclient.Request{Method: http.MethodGet, Path: []string{"files", "info"}, Query: url.Values{"path": {path}}}, &answer)
	if err != nil {
		return FileInfo{}, err
	}
	info, found := answer[path]
	if !found {
		return FileInfo{}, &MalformedError{Asked: asked(http.MethodGet, "files", "info"), Reason: "it doesn't tell about " + path}
	}
	return info, nil
}
