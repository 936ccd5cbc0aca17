package opensandbox

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	api "github.com/agentenv/terraform-provider-gpuvm/internal/apiclient/opensandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/faults"
	fake "github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/opensandbox"
)

// inside counts what the sandbox itself was asked.
func (w *world) inside(method string) int {
	count := 0
	for _, r := range w.server.Faults().Requests() {
		if r.Method == method && strings.HasPrefix(r.Path, "/direct/") {
			count++
		}
	}
	return count
}

// What an agent can't do, it can't do the second time either, and it says why.
func TestWhatTheAgentRefusesIsToldAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fake.Options{})
	id := w.mustCreate(t, w.spec()).Sandbox.ID
	if err := w.RunScript(t.Context(), id, "mkdir /w; echo x > /w/file"); err != nil {
		t.Fatal(err)
	}
	for says, test := range map[string]struct {
		method string
		do     func() error
	}{
		"unknown user nosuch": {"POST", func() error {
			return w.Upload(t.Context(), id, api.File{Path: "/w/a", Owner: "nosuch"})
		}},
		"open /w/file/x: not a directory": {"GET", func() error {
			_, err := w.Download(t.Context(), id, "/w/file/x", 9)
			return err
		}},
		"lstat /w/file/x: not a directory": {"GET", func() error {
			_, err := w.FileInfo(t.Context(), id, "/w/file/x")
			return err
		}},
		"path is a directory: /w": {"DELETE", func() error { return w.RemoveFile(t.Context(), id, "/w") }},
	} {
		before := w.inside(test.method)
		err := test.do()
		var refused *api.AgentError
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), says) || w.inside(test.method) != before+1 {
			t.Errorf("%s: %v, asked %d times", says, err, w.inside(test.method)-before)
		}
	}
}

// A lost or troubled answer of an agent is another matter.
func TestFilesAreAskedForAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fake.Options{})
	id := w.mustCreate(t, w.spec()).Sandbox.ID
	if err := w.Upload(t.Context(), id, api.File{Path: "/w/a", Content: []byte("x")}); err != nil {
		t.Fatal(err)
	}
	trouble := func(method string) {
		w.server.Faults().Order(faults.Fault{Method: method, Path: "/direct/**", Kind: faults.ResetBefore}, faults.Fault{Method: method, Path: "/direct/**", Status: 503})
	}
	trouble(http.MethodGet)
	if data, err := w.Download(t.Context(), id, "/w/a", 9); err != nil || string(data) != "x" {
		t.Errorf("%q, %v", data, err)
	}
	trouble(http.MethodGet)
	if info, err := w.FileInfo(t.Context(), id, "/w/a"); err != nil || info.Size != 1 {
		t.Errorf("%+v, %v", info, err)
	}
	trouble(http.MethodDelete)
	if err := w.RemoveFile(t.Context(), id, "/w/a"); err != nil {
		t.Error(err)
	}
}

// The download of a folder only breaks off, differently by the way to the agent.
func TestDownloadOfAFolderSaysSo(t *testing.T) {
	t.Parallel()
	for _, proxy := range []bool{false, true} {
		w := newWorld(t, fake.Options{}, func(s *Settings) { s.ServerProxy = proxy })
		id := w.mustCreate(t, w.spec()).Sandbox.ID
		if _, err := w.Download(t.Context(), id, "/etc", 9); err == nil || !strings.HasSuffix(err.Error(), "/etc is a directory") {
			t.Errorf("server proxy %t: %v", proxy, err)
		}
	}
}

// Nobody answers what is sent into a frozen sandbox: neither its agent nor, on Docker, the sidecar, which is reached through it.
func TestPausedSandboxIsLeftAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fake.Options{})
	spec := w.spec()
	spec.Request.NetworkPolicy = &api.NetworkPolicy{DefaultAction: "deny"}
	id := w.mustCreate(t, spec).Sandbox.ID
	if _, err := w.Pause(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	for name, do := range map[string]func() error{
		"upload": func() error { return w.Upload(t.Context(), id, api.File{Path: "/w/a"}) },
		"policy": func() error {
			return w.ReplaceNetworkPolicy(t.Context(), id, api.NetworkPolicy{DefaultAction: "allow"})
		},
	} {
		start := w.clock.Now()
		var unreachable *UnreachableError
		if err := do(); !errors.As(err, &unreachable) || !strings.Contains(err.Error(), "is Paused") || w.clock.Now().Sub(start) > time.Second {
			t.Errorf("%s: %v after %s", name, err, w.clock.Now().Sub(start))
		}
	}
}

func TestCommandsThatNoLinuxWouldStart(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fake.Options{})
	id := w.mustCreate(t, w.spec()).Sandbox.ID
	fits := "true " + strings.Repeat("x", maxArgument-len("true "))
	if err := w.RunScript(t.Context(), id, fits); err != nil {
		t.Errorf("the longest one: %v", err)
	}
	for says, command := range map[string]Command{
		"the command takes 131072 bytes":                     {Line: fits + "x"},
		"the command takes 131107 bytes":                     {Line: fits, User: "nobody"}, // su takes it as an argument too
		"the variable BIG of the command takes 131075 bytes": {Line: "true", Env: map[string]string{"A": "b", "BIG": strings.Repeat("y", maxArgument)}},
	} {
		before := w.inside(http.MethodPost)
		var tooLong *TooLongError
		if _, err := w.Exec(t.Context(), id, command); !errors.As(err, &tooLong) || !strings.HasPrefix(err.Error(), says) || w.inside(http.MethodPost) != before {
			t.Errorf("%s: %v", says, err)
		}
	}
}

func TestLogWithoutWhatTheAgentSaysOfItself(t *testing.T) {
	t.Parallel()
	log := `starting OpenSandbox Execd daemon at /opt/opensandbox/execd.
{"level":"info","ts":"2026-12-01T03:12:26.920Z","msg":"execd listening on :44772 (IPv4)"}
{"level":"info","ts":"2026-12-01T03:12:26.920Z","msg":"Requested: POST - /command"}
{"level":"info","ts":"2026-12-01T03:12:26.921Z","msg":"Proxy: POST /proxy/44772/command -> 127.0.0.1:44772 (WebSocket: false)"}
{"level":"info","ts":"2026-12-01T03:12:26.921Z","msg":"received command: echo"}
{"level":"info","ts":"2026-12-01T03:12:26.922Z","msg":"StreamEvent.OnExecuteStdout write data type=stdout text=no"}
{"level":"error","ts":"2026-12-01T03:12:26.922Z","msg":"CommandExecError: error running commands: exit status 4"}
{"level":"info","msg":"a line of the entrypoint's own"}
boom`
	want := `starting OpenSandbox Execd daemon at /opt/opensandbox/execd.
{"level":"info","ts":"2026-12-01T03:12:26.920Z","msg":"execd listening on :44772 (IPv4)"}
{"level":"info","msg":"a line of the entrypoint's own"}
boom`
	if got := withoutChatter(log); got != want {
		t.Errorf("left:\n%s", got)
	}
}
