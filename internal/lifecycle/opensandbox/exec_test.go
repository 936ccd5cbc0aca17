package opensandbox

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/apiclient"
	api "github.com/agentenv/terraform-provider-gpuvm/internal/apiclient/opensandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/faults"
	fake "github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/opensandbox"
)

func TestExec(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fake.Options{})
	id := w.mustCreate(t, w.spec()).Sandbox.ID
	for name, test := range map[string]struct {
		command Command
		want    api.Result
	}{
		"output":    {Command{Line: "echo one; echo two >&2; echo; echo three"}, api.Result{Stdout: api.Captured{Text: "one\n\nthree\n"}, Stderr: api.Captured{Text: "two\n"}}},
		"exit code": {Command{Line: "exit 42"}, api.Result{ExitCode: 42}},
		"env, cwd":  {Command{Line: "pwd; echo $A", Env: map[string]string{"A": "b c"}, Cwd: "/tmp"}, api.Result{Stdout: api.Captured{Text: "/tmp\nb c\n"}}},
		"root":      {Command{Line: "id -u", User: "root"}, api.Result{Stdout: api.Captured{Text: "0\n"}}},
		"uid":       {Command{Line: "id -u", User: "1000"}, api.Result{Stdout: api.Captured{Text: "1000\n"}}},
		"user":      {Command{Line: `whoami; echo "it's $((1+1))"`, User: "nobody"}, api.Result{Stdout: api.Captured{Text: "nobody\nit's 2\n"}}},
		"argv":      {Command{Line: CommandLine([]string{"printf", "%s|", "a b", "it's", `$HOME`, ""})}, api.Result{Stdout: api.Captured{Text: "a b|it's|$HOME||\n"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := w.Exec(t.Context(), id, test.command)
			got.ID = ""
			if err != nil || got != test.want {
				t.Errorf("%+v, %v; want %+v", got, err, test.want)
			}
		})
	}
	for _, user := range []string{"-x", "a b", "$(id)", "4294967296", "ü"} {
		if _, err := w.Exec(t.Context(), id, Command{Line: "true", User: user}); err == nil {
			t.Errorf("user %q was taken", user)
		}
	}
}

func TestExecTellsLinesAsTheyCome(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fake.Options{})
	id := w.mustCreate(t, w.spec()).Sandbox.ID
	var heard []string
	_, err := w.Exec(t.Context(), id, Command{Line: "echo one; echo two", Listen: func(stream api.Stream, line string) {
		heard = append(heard, fmt.Sprintf("%s %s", stream, line))
	}})
	if err != nil || !slices.Equal(heard, []string{"stdout one", "stdout two"}) {
		t.Errorf("heard %v, %v", heard, err)
	}
}

func TestExecIsNeverRepeatedUnlessTheUserSaysSo(t *testing.T) {
	t.Parallel()
	for retries, want := range []int{1, 2, 3} {
		for _, kind := range []faults.Kind{faults.ResetAfter, faults.Cut} {
			w := newWorld(t, fake.Options{}, func(s *Settings) { s.Operations.CommandRetries = retries })
			id := w.mustCreate(t, w.spec()).Sandbox.ID
			w.server.Faults().Order(faults.Fault{Method: "POST", Kind: kind, Times: -1})
			_, err := w.Exec(t.Context(), id, Command{Line: "echo x >> /n"})
			if err == nil {
				t.Fatal("no error")
			}
			file, _ := w.server.Machine(id).ReadFile("/n")
			if ran := strings.Count(string(file.Data), "x"); ran != want {
				t.Errorf("%s, %d retries: it ran %d times", kind, retries, ran)
			}
		}
	}
}

func TestExecWaitsForAProxyThatFindsNobody(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fake.Options{}, serverProxy)
	id := w.mustCreate(t, w.spec()).Sandbox.ID
	w.server.Faults().Order(faults.Fault{Method: "POST", Path: "/sandboxes/**", Status: 502, Body: `{"detail":"Could not connect to the backend sandbox"}`, Times: 2})
	if result, err := w.Exec(t.Context(), id, Command{Line: "echo here"}); err != nil || result.Stdout.Text != "here\n" {
		t.Errorf("%+v, %v", result, err)
	}
}

func TestExecSaysWhatBecameOfTheSandbox(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*fake.Service, string)
		state  string
		says   string
	}{
		"gone":          {func(s *fake.Service, id string) { s.Kill(id) }, "", "HTTP 404"},
		"exited":        {func(s *fake.Service, id string) { s.Exit(id, 1) }, "Failed", "is Failed"},
		"paused":        {func(s *fake.Service, id string) { s.SetStatus(id, fake.Status{State: "Paused"}) }, "Paused", "is Paused"},
		"out of memory": {func(s *fake.Service, id string) { s.Exit(id, 137) }, "Failed", "ran out of memory"},
	} {
		for _, proxy := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, proxy %t", name, proxy), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, fake.Options{}, func(s *Settings) { s.ServerProxy = proxy })
				id := w.mustCreate(t, w.spec()).Sandbox.ID
				test.change(w.server, id)
				_, err := w.Exec(t.Context(), id, Command{Line: "true"})
				var unreachable *UnreachableError
				if err == nil || !strings.Contains(err.Error(), test.says) || errors.As(err, &unreachable) != (test.state != "") {
					t.Fatalf("error %v", err)
				}
				if test.state == "" && !apiclient.IsGone(err) || test.state != "" && unreachable.Status.State != test.state {
					t.Errorf("error %v", err)
				}
			})
		}
	}
}

func TestExecOfASandboxThatEndsMeanwhile(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fake.Options{})
	id := w.mustCreate(t, w.spec()).Sandbox.ID
	_, err := w.Exec(t.Context(), id, Command{
		Line:   "echo started; while true; do sleep 1; done",
		Listen: func(api.Stream, string) { w.server.Exit(id, 137) },
	})
	var unreachable *UnreachableError
	if !errors.As(err, &unreachable) || !strings.Contains(err.Error(), "ran out of memory") {
		t.Errorf("error %v", err)
	}
}

func TestExecEndsWithItsContext(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fake.Options{})
	id := w.mustCreate(t, w.spec()).Sandbox.ID
	ctx, cancel := context.WithCancelCause(t.Context())
	_, err := w.Exec(ctx, id, Command{
		Line:   "echo started; while true; do sleep 1; done",
		Listen: func(api.Stream, string) { cancel(errors.New("interrupted by the user")) },
	})
	if err == nil || !strings.Contains(err.Error(), "interrupted by the user") {
		t.Errorf("error %v", err)
	}
	var ended bool
	for _, r := range w.server.Faults().Requests() {
		ended = ended || r.Method == http.MethodDelete && strings.HasSuffix(r.Path, "/command") && strings.HasPrefix(r.Query, "id=")
	}
	if !ended {
		t.Errorf("the command wasn't ended: %v", w.asked())
	}
}

func TestScripts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fake.Options{})
	id := w.mustCreate(t, w.spec()).Sandbox.ID
	if err := w.RunScript(t.Context(), id, "echo fine"); err != nil {
		t.Error(err)
	}
	err := w.RunScript(t.Context(), id, "for i in $(seq 3000); do echo line $i; done; echo last words >&2; exit 7")
	var script *ScriptError
	if !errors.As(err, &script) || script.ExitCode != 7 || !strings.HasPrefix(err.Error(), "Script failed (exit 7)") ||
		!strings.Contains(err.Error(), "line 3000") || !strings.HasSuffix(err.Error(), "last words") || len(err.Error()) > 8<<10 {
		t.Errorf("error %v", err)
	}
	if skipped, err := w.Teardown(t.Context(), id, "exit 1"); skipped != "" || !errors.As(err, &script) {
		t.Errorf("%q, %v", skipped, err)
	}
	if _, err := w.Pause(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if skipped, err := w.Teardown(t.Context(), id, "exit 1"); !strings.Contains(skipped, "Paused") || err != nil {
		t.Errorf("%q, %v", skipped, err)
	}
	w.server.Kill(id)
	if skipped, err := w.Teardown(t.Context(), id, "exit 1"); skipped == "" || err != nil {
		t.Errorf("%q, %v", skipped, err)
	}
}

func TestFiles(t *testing.T) {
	t.Parallel()
	for _, proxy := range []bool{false, true} {
		w := newWorld(t, fake.Options{}, func(s *Settings) { s.ServerProxy = proxy })
		id := w.mustCreate(t, w.spec()).Sandbox.ID
		// An upload may be sent twice: that changes nothing.
		w.server.Faults().Order(faults.Fault{Method: "POST", Kind: faults.ResetAfter}, faults.Fault{Method: "POST", Status: 502})
		if err := w.Upload(t.Context(), id, api.File{Path: "/etc/app/x.conf", Content: []byte("a=1\n"), Mode: "0640"}); err != nil {
			t.Fatal(err)
		}
		if data, err := w.Download(t.Context(), id, "/etc/app/x.conf", 1<<20); err != nil || string(data) != "a=1\n" {
			t.Errorf("%q, %v", data, err)
		}
		if info, err := w.FileInfo(t.Context(), id, "/etc/app/x.conf"); err != nil || info.Mode != 640 || info.Size != 4 {
			t.Errorf("%+v, %v", info, err)
		}
		for range 2 {
			if err := w.RemoveFile(t.Context(), id, "/etc/app/x.conf"); err != nil {
				t.Error(err)
			}
		}
		if _, err := w.Download(t.Context(), id, "/etc/app/x.conf", 1<<20); !apiclient.IsGone(err) {
			t.Errorf("error %v", err)
		}
		w.server.Faults().Order(faults.Fault{Method: "GET", Path: "/v1/sandboxes/*/endpoints/*", Kind: faults.Garbage, Status: 200, Body: `{"endpoint":"127.0.0.1:1"}`})
		w.server.Kill(id)
		if _, err := w.Download(t.Context(), id, "/etc/app/x.conf", 1<<20); !apiclient.IsGone(err) || !strings.Contains(err.Error(), "is gone") {
			t.Errorf("error %v", err)
		}
		if err := w.RemoveFile(t.Context(), id, "/etc/app/x.conf"); err != nil {
			t.Errorf("a file of a sandbox that is gone: %v", err)
		}
	}
}

func TestDelete(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		options fake.Options
		faults  []faults.Fault
		before  func(*world, string)
		fails   string
	}{
		"docker":                  {},
		"gone already":            {before: func(w *world, id string) { w.server.Kill(id) }},
		"kubernetes lingers":      {options: fake.Options{Kubernetes: true, DeleteDelay: 40 * time.Second}},
		"somebody else's too":     {faults: []faults.Fault{{Method: "DELETE", Kind: faults.StatusAfter, Status: 500, Body: `{"code":"DOCKER::SANDBOX_DELETE_FAILED","message":"removal already in progress"}`}}},
		"answer lost":             {faults: []faults.Fault{{Method: "DELETE", Kind: faults.ResetAfter}}},
		"never reached":           {faults: []faults.Fault{{Method: "DELETE", Kind: faults.ResetBefore, Times: 5}}},
		"accepted and forgotten":  {faults: []faults.Fault{{Method: "DELETE", Status: 204, Body: " "}}},
		"a bad moment":            {faults: []faults.Fault{{Method: "GET", Status: 503, Times: 3}}},
		"exited":                  {before: func(w *world, id string) { w.server.Exit(id, 0) }},
		"forbidden":               {faults: []faults.Fault{{Method: "DELETE", Status: 403, Times: -1}}, fails: "HTTP 403"},
		"a server that never can": {faults: []faults.Fault{{Method: "DELETE", Status: 500, Body: `{"code":"X","message":"no disk"}`, Times: -1}}, fails: "no disk"},
		"terminated and not forgotten": {
			before: func(w *world, id string) { w.server.SetStatus(id, fake.Status{State: "Terminated"}) },
			faults: []faults.Fault{{Method: "DELETE", Status: 204, Body: " ", Times: -1}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, test.options)
			id := w.mustCreate(t, w.spec()).Sandbox.ID
			if test.before != nil {
				test.before(w, id)
			}
			w.server.Faults().Order(test.faults...)
			err := w.Delete(t.Context(), id)
			if test.fails != "" {
				if err == nil || !strings.Contains(err.Error(), test.fails) {
					t.Errorf("error %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if ids := w.ids(); len(ids) > 0 && !strings.HasPrefix(name, "terminated") {
				t.Errorf("the server holds %v", ids)
			}
		})
	}
}

func TestDeleteAsksForLittle(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fake.Options{})
	id := w.mustCreate(t, w.spec()).Sandbox.ID
	if err := w.Delete(t.Context(), id); err != nil || len(w.asked()) != 2 {
		t.Errorf("%v after %v", err, w.asked())
	}
}
