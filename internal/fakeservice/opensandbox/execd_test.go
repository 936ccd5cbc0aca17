package opensandbox

import (
	"bufio"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"
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

// "Optional header X-EXECD-ACCESS-TOKEN".
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
// never started".
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

// The real execd holds the stream open for a second after the last event: a client that waits for its end is slow.
func TestStreamLingers(t *testing.T) {
	t.Parallel()
	all := serve(t, Options{StreamLinger: time.Second})
	url, _ := all.endpoint(all.create(nil), "44772")
	response, err := http.DefaultClient.Do(all.direct().request("POST", url+"/command", object{"command": "true"}))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	stream, ended := bufio.NewScanner(response.Body), make(chan bool)
	last := false
	for !last && stream.Scan() {
		last = strings.Contains(stream.Text(), "execution_complete")
	}
	go func() {
		for more := true; more; more = stream.Scan() {
			continue
		}
		ended <- stream.Err() == nil
	}()
	waitUntil(t, func() bool { return len(all.clock.Slept()) == 1 })
	select {
	case <-ended:
		t.Error("the stream ended with its last event")
	default:
	}
	all.clock.Advance(time.Second)
	if !<-ended {
		t.Error(stream.Err())
	}
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
