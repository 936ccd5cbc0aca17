package opensandbox

import (
	"bytes"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"reflect"
	"strings"
	"testing"
)

// execd starts a service with one sandbox and gives the client for its execd.
func execd(t *testing.T, options Options, more object) (c *client, url string) {
	t.Helper()
	all := serve(t, options)
	url, _ = all.endpoint(all.create(more), "44772")
	return all.direct(), url
}

// "GET /ping 200", with nothing in it.
func TestPing(t *testing.T) {
	t.Parallel()
	c, url := execd(t, Options{APIKey: ""}, nil)
	if got := c.get(url + "/ping").want(http.StatusOK); len(got.body) != 0 {
		t.Errorf("ping: %q", got)
	}
	if got := c.get(url + "/nowhere").want(http.StatusNotFound).String(); got != "404 page not found" {
		t.Errorf("unknown route: %q", got)
	}
}

// "Optional header X-EXECD-ACCESS-TOKEN."
func TestExecdToken(t *testing.T) {
	t.Parallel()
	c, url := execd(t, Options{ExecdToken: "t0ken"}, nil)
	if got := c.get(url + "/ping").want(http.StatusUnauthorized).text("error"); got != "Unauthorized: invalid or missing header X-EXECD-ACCESS-TOKEN" {
		t.Errorf("error %q", got)
	}
	c.get(url+"/ping", execdTokenHeader, "t0ken").want(http.StatusOK)
}

// "frames are bare JSON and a blank line, without data:"; "execd's first ping event comes right after init"; "stdout, stderr: one line
// each, terminator stripped; a blank line is "\n""; "execution_complete = 0".
func TestCommandStream(t *testing.T) {
	t.Parallel()
	c, url := execd(t, Options{}, nil)
	got := c.do("POST", url+"/command", object{"command": `printf 'one\n\ntwo\r\nthree'`}).want(http.StatusOK).String()
	if !strings.HasPrefix(got, `{"type":"init","text":"`) || !strings.HasSuffix(got, "}\n\n") || strings.Contains(got, "data:") {
		t.Errorf("stream: %q", got)
	}
	var seen []string
	for _, e := range c.events(url, object{"command": `printf 'one\n\ntwo\r\nthree'; echo oops >&2`}) {
		if e.Timestamp != start.UnixMilli() {
			t.Errorf("timestamp %d", e.Timestamp)
		}
		if e.Type == "init" && len(e.Text) != 32 {
			t.Errorf("command id %q", e.Text)
		}
		if e.Type != "init" {
			seen = append(seen, e.Type+" "+e.Text)
		}
	}
	var out, errs []string
	for _, line := range seen[1 : len(seen)-1] {
		if strings.HasPrefix(line, "stderr") {
			errs = append(errs, line)
		} else {
			out = append(out, line)
		}
	}
	if seen[0] != "ping pong" || seen[len(seen)-1] != "execution_complete " {
		t.Errorf("first and last event: %q", seen)
	}
	if !reflect.DeepEqual(out, []string{"stdout one", "stdout \n", "stdout two", "stdout three"}) || !reflect.DeepEqual(errs, []string{"stderr oops"}) {
		t.Errorf("out %q, err %q", out, errs)
	}
}

// "No exit-code field. error{ename:"CommandExecError", evalue:"<code>"} carries the code; signal or timeout -1; a non-numeric evalue = it
// never started."
func TestExitCodes(t *testing.T) {
	t.Parallel()
	c, url := execd(t, Options{}, nil)
	for command, code := range map[string]string{"true": "0", "exit 3": "3", "no-such-command": "127"} {
		if _, got := c.run(url, command); got != code {
			t.Errorf("%s: %s, want %s", command, got, code)
		}
	}
	last := func(events []event) *commandError { return events[len(events)-1].Error }
	if got := last(c.events(url, object{"command": "sleep 60", "timeout": 20})); got.Value != "-1" {
		t.Errorf("timeout: %+v", got)
	}
	if got := last(c.events(url, object{"command": "exit 3"})); !reflect.DeepEqual(*got, commandError{"CommandExecError", "3", []string{"exit status 3"}}) {
		t.Errorf("error: %+v", got)
	}
	c, url = execd(t, Options{Images: map[string]Image{"python:3.11": {NoShell: true}}}, nil)
	if got := last(c.events(url, object{"command": "true"})); got.Value != `exec: "sh": executable file not found in $PATH` {
		t.Errorf("no shell: %+v", got)
	}
}

// What a request can't ask for is a 400 before the stream begins.
func TestCommandRefusals(t *testing.T) {
	t.Parallel()
	c, url := execd(t, Options{}, nil)
	for _, body := range []string{`{`, `{}`, `{"command":"true","timeout":-1}`, `{"command":"true","gid":1}`, `{"command":"true","cwd":"/nowhere"}`} {
		c.do("POST", url+"/command", body).wantError(http.StatusBadRequest, "INVALID_REQUEST_BODY")
	}
}

// "What is declared in env is visible to commands": the create's, over it the command's; cwd and uid reach them too.
func TestEnvironmentOfCommands(t *testing.T) {
	t.Parallel()
	c, url := execd(t, Options{}, object{"env": object{"A": "create", "B": "create"}, "entrypoint": []string{"sh", "-c", "echo begun > /tmp/entrypoint; sleep infinity"}})
	output := ""
	for _, e := range c.events(url, object{"command": "echo $A $B $(pwd) $(id -u)", "envs": object{"B": "command"}, "cwd": "/tmp", "uid": 1234}) {
		if e.Type == "stdout" {
			output += e.Text
		}
	}
	if output != "create command /tmp 1234" {
		t.Errorf("output %q", output)
	}
	waitUntil(t, func() bool { output, _ := c.run(url, "cat /tmp/entrypoint"); return output == "begun\n" })
}

// A command in the background is asked for by its id.
func TestBackgroundCommand(t *testing.T) {
	t.Parallel()
	c, url := execd(t, Options{}, nil)
	events := c.events(url, object{"command": "echo working; exit 5", "background": true})
	if kinds := []string{events[0].Type, events[1].Type, events[2].Type}; len(events) != 3 || !reflect.DeepEqual(kinds, []string{"init", "ping", "execution_complete"}) {
		t.Errorf("events %+v", events)
	}
	id := events[0].Text
	waitUntil(t, func() bool { return c.get(url + "/command/status/" + id).json()["running"] == false })
	if got := c.get(url + "/command/status/" + id).json(); got["exit_code"] != 5.0 || got["content"] != "echo working; exit 5" {
		t.Errorf("status %v", got)
	}
	got := c.get(url + "/command/" + id + "/logs").want(http.StatusOK)
	if got.String() != "working\n" || got.header.Get("Execd-Commands-Tail-Cursor") != "8" {
		t.Errorf("logs %q, %v", got, got.header)
	}
	if got := c.get(url + "/command/" + id + "/logs?cursor=5").String(); got != "ng\n" {
		t.Errorf("the rest of the logs: %q", got)
	}
	c.get(url + "/command/status/nobody").want(http.StatusNotFound)
	c.get(url + "/command/nobody/logs").want(http.StatusBadRequest)
	c.do("DELETE", url+"/command?id="+id, nil).wantError(http.StatusInternalServerError, "RUNTIME_ERROR")
	c.do("DELETE", url+"/command", nil).wantError(http.StatusBadRequest, "MISSING_QUERY")
	running := c.events(url, object{"command": "sleep 1000", "background": true})[0].Text
	waitUntil(t, func() bool {
		got, _ := c.try(c.request("DELETE", url+"/command?id="+running, nil))
		return got.status == http.StatusOK
	})
	waitUntil(t, func() bool { return c.get(url + "/command/status/" + running).json()["exit_code"] == -1.0 })
}

// A sandbox that goes in the middle of a command cuts its stream, and ends the command.
func TestStreamIsCutWhenTheSandboxGoes(t *testing.T) {
	t.Parallel()
	all := serve(t, Options{})
	id := all.create(nil)
	url, _ := all.endpoint(id, "44772")
	c := all.direct()
	response, err := http.DefaultClient.Do(c.request("POST", url+"/command", object{"command": "sleep 1000"}))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	all.service.Kill(id)
	if body, err := io.ReadAll(response.Body); err == nil {
		t.Errorf("the stream ended well: %q", body)
	}
}

// form is an upload: metadata and content in turn.
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
// one gives a new file mode 755. "GET /files/download; 404 FILE_NOT_FOUND."
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
	info := c.get(at + "/files/info?path=/srv/deep/a.sh&path=/b&path=/srv").want(http.StatusOK).json()
	for name, want := range map[string]object{
		"/srv/deep/a.sh": {"type": "file", "mode": 640.0, "owner": "app", "group": "app", "size": 17.0},
		"/b":             {"type": "file", "mode": 755.0, "owner": "root", "group": "root", "size": 2.0},
		"/srv":           {"type": "directory"},
	} {
		for key, value := range want {
			if info[name].(object)[key] != value {
				t.Errorf("%s: %v", name, info[name])
			}
		}
	}
	c.do("POST", at+"/files/permissions", object{"/b": object{"mode": 600, "owner": "x", "group": ""}}).want(http.StatusOK)
	c.do("POST", at+"/files/mv", []object{{"src": "/b", "dest": "/c"}}).want(http.StatusOK)
	if got := c.get(at + "/files/info?path=/c").json()["/c"].(object); got["mode"] != 600.0 || got["owner"] != "x" {
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
