package opensandbox

import (
	"bytes"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"strings"
	"testing"
)

// upload sends a form: metadata and content in turn.
func (c *client) upload(url string, parts ...string) answer {
	c.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for i, part := range parts {
		header := textproto.MIMEHeader{}
		header.Set("Content-Disposition", `form-data; name="metadata"; filename="metadata"`)
		header.Set("Content-Type", "application/json")
		if i%2 == 1 {
			header.Set("Content-Disposition", `form-data; name="file"; filename="file"`)
			header.Set("Content-Type", "application/octet-stream")
		}
		w, err := form.CreatePart(header)
		if err == nil {
			_, err = w.Write([]byte(part))
		}
		if err != nil {
			c.t.Fatal(err)
		}
	}
	if err := form.Close(); err != nil {
		c.t.Fatal(err)
	}
	return c.do("POST", url+"/files/upload", body.String(), "Content-Type", form.FormDataContentType())
}

// "POST /files/upload multipart, parts in pairs; mode = octal digits written as a decimal number (644). Parents are created." The real
// one gives a new file mode 755. "GET /files/download; 404 FILE_NOT_FOUND".
func TestFiles(t *testing.T) {
	t.Parallel()
	c, at := execd(t, Options{}, nil)
	got := c.upload(at, `{"path":"/srv/deep/a.sh","mode":640,"owner":"app","group":"app"}`, "echo from a file\n", `{"path":"b"}`, "\x00\xff")
	if got.want(http.StatusOK); len(got.body) != 0 {
		t.Errorf("upload answers %q", got)
	}
	if output, code := c.run(at, "sh /srv/deep/a.sh"); output != "from a file\n" || code != "0" {
		t.Errorf("run: %q, %s", output, code)
	}
	read := c.get(at + "/files/download?path=/b").want(http.StatusOK)
	if read.String() != "\x00\xff" || read.header.Get("Content-Type") != "application/octet-stream" || read.header.Get("Content-Disposition") != `attachment; filename="b"` {
		t.Errorf("download %q, %v", read, read.header)
	}
	info := c.get(at + "/files/info?path=/srv/deep/a.sh&path=/b&path=/srv").want(http.StatusOK)
	for name, want := range map[string]object{
		"/srv/deep/a.sh": {"type": "file", "mode": 640.0, "owner": "app", "group": "app", "size": 17.0},
		"/b":             {"type": "file", "mode": 755.0, "owner": "root", "group": "root", "size": 2.0},
		"/srv":           {"type": "directory"},
	} {
		for key, value := range want {
			if got := info.object(name); got[key] != value {
				t.Errorf("%s: %v", name, got)
			}
		}
	}
	c.do("POST", at+"/files/permissions", object{"/b": object{"mode": 600, "owner": "x", "group": ""}}).want(http.StatusOK)
	c.do("POST", at+"/files/mv", []object{{"src": "/b", "dest": "/c"}}).want(http.StatusOK)
	if got := c.get(at + "/files/info?path=/c").object("/c"); got["mode"] != 600.0 || got["owner"] != "x" {
		t.Errorf("changed: %v", got)
	}
	c.do("DELETE", at+"/files?path=/c&path=/never-there", nil).want(http.StatusOK)
	c.do("DELETE", at+"/files?path=/srv", nil).wantError(http.StatusInternalServerError, "RUNTIME_ERROR")
	c.get(at+"/files/download?path=/c").wantError(http.StatusNotFound, "FILE_NOT_FOUND")
	c.get(at+"/files/info?path=/c").wantError(http.StatusNotFound, "FILE_NOT_FOUND")
	c.get(at+"/files/download").wantError(http.StatusBadRequest, "MISSING_QUERY")
}

// What an upload can't be.
func TestUploadRefusals(t *testing.T) {
	t.Parallel()
	c, url := execd(t, Options{}, nil)
	c.do("POST", url+"/files/upload", "{}").wantError(http.StatusBadRequest, "INVALID_FILE")
	c.upload(url).wantError(http.StatusBadRequest, "INVALID_FILE_METADATA")
	c.upload(url, `{"path":"/a"}`).wantError(http.StatusBadRequest, "INVALID_FILE_CONTENT")
	c.upload(url, `{"path":"/a"}`, "a", `{"path":"/b"}`).wantError(http.StatusBadRequest, "INVALID_FILE")
	c.upload(url, `{`, "a").wantError(http.StatusBadRequest, "INVALID_FILE_METADATA")
	c.upload(url, `{}`, "a").wantError(http.StatusBadRequest, "INVALID_FILE_METADATA")
	c.upload(url, `{"path":"/a","mode":888}`, "a").wantError(http.StatusInternalServerError, "RUNTIME_ERROR")
	c.upload(url, `{"path":"/a","owner":"no-such-user"}`, "a").wantError(http.StatusInternalServerError, "RUNTIME_ERROR")
	// "must have a filename": a metadata field without one is no file part
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	_ = form.WriteField("metadata", `{"path":"/a"}`)
	_ = form.Close()
	c.do("POST", url+"/files/upload", body.String(), "Content-Type", form.FormDataContentType()).wantError(http.StatusBadRequest, "INVALID_FILE_METADATA")
}

// Names that need escaping reach the file that is meant.
func TestFileNames(t *testing.T) {
	t.Parallel()
	c, at := execd(t, Options{}, nil)
	const name = "/data/a b+c%20ü.txt"
	c.upload(at, `{"path":"`+name+`"}`, "text").want(http.StatusOK)
	if got := c.get(at + "/files/download?path=" + url.QueryEscape(name)).want(http.StatusOK); got.String() != "text" || !strings.Contains(got.header.Get("Content-Disposition"), "filename*=UTF-8''a%20b+c%2520%C3%BC.txt") {
		t.Errorf("%q, %v", got, got.header)
	}
}
