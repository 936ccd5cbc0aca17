package opensandbox

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// What a real execd was seen to answer, byte for byte but for ids and times.

// A path may hold variables of execd's own environment. One it doesn't know is an error, and any other $ vanishes.
func TestPathsAreExpanded(t *testing.T) {
	t.Parallel()
	c, at := execd(t, Options{}, object{"env": object{"DATA": "/data"}})
	c.upload(at, `{"path":"$HOME/v.txt"}`, "v", `{"path":"${DATA}/cost$5.txt"}`, "c", `{"path":"~/h.txt"}`, "h").want(http.StatusOK)
	for name, want := range map[string]string{"/root/v.txt": "v", "/data/cost.txt": "c", "$DATA/cost$5.txt": "c", "/root/h.txt": "h"} {
		if got := c.get(at + "/files/download?path=" + url.QueryEscape(name)).want(http.StatusOK).String(); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	const undefined = "path references undefined environment variables: NOPE,OTHER"
	name := "/data/$OTHER/${NOPE}"
	query := "?path=" + url.QueryEscape(name)
	for said, got := range map[string]answer{
		"error resolving target path " + name + ". " + undefined:                                          c.upload(at, `{"path":"`+name+`"}`, "v"),
		"error resolving file path: " + name + ". " + undefined:                                           c.get(at + "/files/download" + query),
		"error accessing file: invalid path " + name + ": " + undefined:                                   c.get(at + "/files/info" + query),
		"error removing file " + name + ". invalid path: " + undefined:                                    c.do("DELETE", at+"/files"+query, nil),
		"error changing permissions for " + name + ". " + undefined:                                       c.do("POST", at+"/files/permissions", object{name: object{"mode": 600}}),
		"error accessing file: " + undefined:                                                              c.do("POST", at+"/files/mv", []object{{"src": name, "dest": "/c"}}),
		`invalid request, validation error cannot resolve working directory "` + name + `": ` + undefined: c.do("POST", at+"/command", object{"command": "pwd", "cwd": name, "envs": object{"NOPE": "a", "OTHER": "b"}}),
	} {
		if text := got.json()["message"]; text != said {
			t.Errorf("%v, want %s", text, said)
		}
	}
}

func TestWorkingDirectories(t *testing.T) {
	t.Parallel()
	c, at := execd(t, Options{}, nil)
	pwd := func(cwd string) string {
		var output string
		for _, e := range c.events(at, object{"command": "pwd", "cwd": cwd}) {
			if e.Type == "stdout" {
				output += e.Text
			}
		}
		return output
	}
	for cwd, want := range map[string]string{"": "/", "~": "/root", "$HOME": "/root", "etc": "/etc", "/etc/": "/etc"} {
		if got := pwd(cwd); got != want {
			t.Errorf("%q: %q, want %q", cwd, got, want)
		}
	}
	for cwd, want := range map[string]string{
		"/no/such":      "working directory does not exist: /no/such: stat /no/such: no such file or directory",
		"/etc/passwd":   "working directory path is not a directory: /etc/passwd",
		"/etc/passwd/x": `cannot access working directory "/etc/passwd/x": stat /etc/passwd/x: not a directory`,
	} {
		got := c.do("POST", at+"/command", object{"command": "pwd", "cwd": cwd})
		got.wantError(http.StatusBadRequest, "INVALID_REQUEST_BODY")
		if text := got.json()["message"]; text != "invalid request, validation error "+want {
			t.Errorf("%s: %v", cwd, text)
		}
	}
}

// Linux bounds each argument and each variable of a process; a command is one argument of its shell's.
func TestCommandsThatNeverStart(t *testing.T) {
	t.Parallel()
	c, at := execd(t, Options{}, nil)
	fits := "true " + strings.Repeat("x", maxArgument-len("true ")-1)
	last := func(request object) string {
		events := c.events(at, request)
		e := events[len(events)-1]
		if e.Error == nil {
			return e.Type
		}
		return e.Error.Name + ": " + e.Error.Value + " " + strings.Join(e.Error.Traceback, "|")
	}
	const tooLong, invalid, nul = "fork/exec /usr/bin/bash: argument list too long", "fork/exec /usr/bin/bash: invalid argument", "exec: environment variable contains NUL"
	for want, requests := range map[string][]object{
		"execution_complete": {{"command": fits}, {"command": "true", "envs": object{"B": strings.Repeat("y", maxArgument-len("B=")-1)}}},
		tooLong:              {{"command": fits + "x"}, {"command": "true", "envs": object{"B": strings.Repeat("y", maxArgument-len("B="))}}},
		invalid:              {{"command": "echo a\x00b"}},
		nul:                  {{"command": "echo", "envs": object{"A": "x\x00y"}}},
	} {
		if want != "execution_complete" {
			want = "CommandExecError: " + want + " " + want
		}
		for _, request := range requests {
			if got := last(request); got != want {
				t.Errorf("got %.100q, want %q", got, want)
			}
		}
	}
	if got := last(object{"command": "sleep 60", "timeout": 20}); got != "CommandExecError: -1 signal: killed" {
		t.Errorf("at its timeout: %q", got)
	}
}

func TestRefusalsOfFiles(t *testing.T) {
	t.Parallel()
	c, at := execd(t, Options{}, nil)
	if _, code := c.run(at, "mkdir -p /w/dir; echo x > /w/file; ln -s file /w/link; ln -s /none /w/dangling"); code != "0" {
		t.Fatal(code)
	}
	query := func(name string) string { return "?path=" + url.QueryEscape(name) }
	for said, got := range map[string]answer{
		"error chmoding file /w/a. failed to lookup user 1000: user: unknown user 1000":          c.upload(at, `{"path":"/w/a","owner":"1000"}`, "a"),
		"error chmoding file /w/b. failed to lookup group nosuch: group: unknown group nosuch":   c.upload(at, `{"path":"/w/b","group":"nosuch"}`, "b"),
		"error opening destination file /w/dir. open /w/dir: is a directory":                     c.upload(at, `{"path":"/w/dir"}`, "b"),
		"error opening destination file /w/new/. open /w/new/: is a directory":                   c.upload(at, `{"path":"/w/new/"}`, "b"),
		"error creating target directory /w/file/x. mkdir /w/file: not a directory":              c.upload(at, `{"path":"/w/file/x/y"}`, "b"),
		"error accessing file: open /w/file/x: not a directory":                                  c.get(at + "/files/download" + query("/w/file/x")),
		"error accessing file: error accessing file /w/file/x: lstat /w/file/x: not a directory": c.get(at + "/files/info" + query("/w/file/x")),
		"file not found. file not found: /w/no: lstat /w/no: no such file or directory":          c.get(at + "/files/info" + query("/w/no")),
		"error removing file /w/file/x. stat /w/file/x: not a directory":                         c.do("DELETE", at+"/files"+query("/w/file/x"), nil),
		"error removing file /w/dir. path is a directory: /w/dir":                                c.do("DELETE", at+"/files"+query("/w/dir"), nil),
		"error changing permissions for /w/no. chmod /w/no: no such file or directory":           c.do("POST", at+"/files/permissions", object{"/w/no": object{"mode": 600}}),
		"file not found. source path not found: /w/no: stat /w/no: no such file or directory":    c.do("POST", at+"/files/mv", []object{{"src": "/w/no", "dest": "/c"}}),
	} {
		if text := got.json()["message"]; text != said {
			t.Errorf("%v, want %s", text, said)
		}
		if kind := got.header.Get("Content-Type"); kind != "application/json; charset=utf-8" {
			t.Errorf("content type %q", kind)
		}
	}
	c.do("POST", at+"/files/permissions", object{"/w/no": object{}}).want(http.StatusOK)
}

// execd looks at a link itself, reads and writes through it, and removes the link; one that leads nowhere stays.
func TestLinks(t *testing.T) {
	t.Parallel()
	c, at := execd(t, Options{}, nil)
	c.run(at, "mkdir /w; echo x > /w/file; ln -s file /w/link; ln -s /none /w/dangling; ln -s /etc /w/etc")
	info := c.get(at + "/files/info?path=/w/link&path=/w/dangling&path=/w").want(http.StatusOK)
	for name, want := range map[string]object{
		"/w/link":     {"type": "symlink", "size": 4.0, "mode": 777.0},
		"/w/dangling": {"type": "symlink", "size": 5.0, "mode": 777.0},
		"/w":          {"type": "directory", "size": 4096.0, "mode": 755.0},
	} {
		for key, value := range want {
			if got := info.object(name); got[key] != value {
				t.Errorf("%s: %v", name, got)
			}
		}
	}
	c.upload(at, `{"path":"/w/link"}`, "through").want(http.StatusOK)
	if output, _ := c.run(at, "cat /w/file"); output != "through\n" {
		t.Errorf("%q", output)
	}
	c.get(at+"/files/download?path=/w/dangling").wantError(http.StatusNotFound, "FILE_NOT_FOUND")
	c.do("DELETE", at+"/files?path=/w/link&path=/w/dangling", nil).want(http.StatusOK)
	if output, _ := c.run(at, "ls /w"); output != "dangling\netc\nfile\n" {
		t.Errorf("left: %q", output)
	}
	if got := c.events(at, object{"command": "true", "cwd": "/w/etc"}); got[len(got)-1].Type != "execution_complete" {
		t.Errorf("a link to a directory: %+v", got)
	}
}

// The download of a directory breaks off: with 500 where execd's own proxy is on the way, as on Docker, else after a 200.
func TestDownloadOfADirectory(t *testing.T) {
	t.Parallel()
	all := serve(t, Options{})
	id := all.create(nil)
	direct, _ := all.endpoint(id, "44772")
	for at, status := range map[string]int{direct: http.StatusInternalServerError, all.url + "/sandboxes/" + id + "/proxy/44772": http.StatusOK} {
		response, err := http.DefaultClient.Do(all.request("GET", at+"/files/download?path=/etc", nil))
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.ReadAll(response.Body)
		_ = response.Body.Close()
		if response.StatusCode != status || err == nil {
			t.Errorf("%s: HTTP %d, %v", at, response.StatusCode, err)
		}
	}
}

// A command runs on when its client goes. Another asks for its end.
func TestCommandOutlivesItsClient(t *testing.T) {
	t.Parallel()
	c, at := execd(t, Options{}, nil)
	response, err := http.DefaultClient.Do(c.request("POST", at+"/command", object{"command": "echo begun; sleep 1000"}))
	if err != nil {
		t.Fatal(err)
	}
	first := make([]byte, 200)
	n, err := response.Body.Read(first)
	if err != nil {
		t.Fatal(err)
	}
	_, id, _ := strings.Cut(string(first[:n]), `"text":"`)
	id = id[:32]
	_ = response.Body.Close()
	if got := c.get(at + "/command/status/" + id).want(http.StatusOK).json(); got["running"] != true {
		t.Errorf("status %v", got)
	}
	waitUntil(t, func() bool { // until it can be ended
		got, _ := c.try(c.request("DELETE", at+"/command?id="+id, nil))
		return got.status == http.StatusOK
	})
	waitUntil(t, func() bool { return c.get(at + "/command/status/" + id).json()["error"] == "signal: terminated" })
}

// execd gives a command another user, and that user nothing of its own: the variables stay execd's.
func TestEnvironmentOfAnotherUser(t *testing.T) {
	t.Parallel()
	c, at := execd(t, Options{}, nil)
	var output string
	for _, e := range c.events(at, object{"command": "echo $(id -u) $HOME", "uid": 65534}) {
		if e.Type == "stdout" {
			output += e.Text
		}
	}
	if output != "65534 /root" {
		t.Errorf("%q", output)
	}
}

// What runs in a container ends with its first process, and with its time to live.
func TestCommandsEndWithTheirSandbox(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		more object
		pass time.Duration
	}{
		"the entrypoint ends": {object{"entrypoint": []string{"sleep", "2"}}, 2 * time.Second},
		"it expires":          {object{"timeout": 60}, time.Minute},
	} {
		all := serve(t, Options{})
		url, _ := all.endpoint(all.create(test.more), "44772")
		response, err := http.DefaultClient.Do(all.direct().request("POST", url+"/command", object{"command": "sleep 1000"}))
		if err != nil {
			t.Fatal(err)
		}
		all.clock.Advance(test.pass)
		if body, err := io.ReadAll(response.Body); err == nil {
			t.Errorf("%s: the stream ended well: %q", name, body)
		}
		_ = response.Body.Close()
	}
}
