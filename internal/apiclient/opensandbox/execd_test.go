package opensandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/apiclient"
)

// agentOf gives a client of an execd that answers as the test says.
func agentOf(t *testing.T, handler http.HandlerFunc, headers map[string]string, proxied bool) (*Execd, *server) {
	t.Helper()
	client, server := serve(t, handler)
	agent, err := client.Execd(Endpoint{URL: server.URL + "/proxy/44772", Headers: headers, Proxied: proxied})
	if err != nil {
		t.Fatal(err)
	}
	return agent, server
}

func TestKeyGoesOnlyThroughTheServer(t *testing.T) {
	t.Parallel()
	for proxied, want := range map[bool]string{true: testKey, false: ""} {
		agent, server := agentOf(t, answer(http.StatusOK, "text/plain", ""), map[string]string{"X-Execd-Access-Token": "token-1"}, proxied)
		if err := agent.Ping(context.Background()); err != nil {
			t.Fatal(err)
		}
		r := server.last(t)
		if r.Path != "/proxy/44772/ping" || r.Header.Get(KeyHeader) != want || r.Header.Get("X-Execd-Access-Token") != "token-1" {
			t.Errorf("proxied %t: asked %s with %v", proxied, r.Path, r.Header)
		}
	}
}

func TestEndpointHeadersNeverShow(t *testing.T) {
	t.Parallel()
	agent, _ := agentOf(t, answer(http.StatusBadGateway, jsonType, `{"detail":"Could not connect to headers={'X': 'token-12345'}"}`), map[string]string{"X": "token-12345"}, false)
	err := agent.Ping(context.Background())
	if err == nil || strings.Contains(err.Error(), "token-12345") {
		t.Errorf("error %v", err)
	}
}

const streamType = "text/event-stream"

func TestRun(t *testing.T) {
	t.Parallel()
	agent, server := agentOf(t, answer(http.StatusOK, streamType, strings.Join([]string{
		`{"type":"init","text":"cmd-1","timestamp":1}`, ``,
		`{"type":"ping","text":"pong"}`, ``,
		`{"type":"stdout","text":"one"}`, ``,
		`{"type":"stderr","text":"oops"}`, ``,
		`{"type":"stdout","text":"\n"}`, ``,
		`{"type":"stdout","text":"three"}`, ``,
		`{"type":"error","error":{"ename":"CommandExecError","evalue":"3","traceback":["exit status 3"]}}`, ``, ``,
	}, "\n")), nil, false)
	var heard []string
	uid := uint32(1000)
	result, err := agent.Run(context.Background(), Command{Line: "x", Cwd: "/w", Env: map[string]string{"A": "b"}, UID: &uid, Timeout: 1500 * time.Millisecond},
		func(stream Stream, line string) { heard = append(heard, fmt.Sprintf("%s:%s", stream, line)) })
	if err != nil {
		t.Fatal(err)
	}
	want := Result{ID: "cmd-1", ExitCode: 3, Stdout: Captured{Text: "one\n\nthree\n"}, Stderr: Captured{Text: "oops\n"}}
	if result != want {
		t.Errorf("%+v, want %+v", result, want)
	}
	if fmt.Sprint(heard) != "[stdout:one stderr:oops stdout: stdout:three]" {
		t.Errorf("heard %v", heard)
	}
	if body := server.last(t).Body; body != `{"command":"x","cwd":"/w","timeout":1500,"uid":1000,"envs":{"A":"b"}}` {
		t.Errorf("sent %s", body)
	}
}

func TestRunIsNeverRepeated(t *testing.T) {
	t.Parallel()
	agent, server := agentOf(t, answer(http.StatusOK, streamType, `{"type":"init","text":"cmd-1"}`+"\n\n"), nil, false)
	result, err := agent.Run(context.Background(), Command{Line: "x"}, nil)
	var cut *InterruptedError
	if !errors.As(err, &cut) || cut.ID != "cmd-1" || result.ID != "cmd-1" || !errors.Is(err, io.ErrUnexpectedEOF) || server.count() != 1 {
		t.Errorf("%+v, %v, sent %d times", result, err, server.count())
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(context.Background())
	agent, _ := agentOf(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, `{"type":"init","text":"cmd-1"}`+"\n\n"+`{"type":"stdout","text":"hello"}`+"\n\n")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}, nil, false)
	result, err := agent.Run(ctx, Command{Line: "sleep"}, func(Stream, string) { cancel(errors.New("given up")) })
	if err == nil || !strings.Contains(err.Error(), "given up") || result.ID != "cmd-1" {
		t.Errorf("%+v, %v", result, err)
	}
}

// An agent holds its stream open after the last event, and takes one that is closed meanwhile for broken off.
func TestRunReadsTheStreamToItsEndWithoutWaitingForIt(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	let, left := make(chan struct{}), make(chan error, 1)
	agent, _ := agentOf(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, `{"type":"init","text":"cmd-1"}`+"\n\n"+`{"type":"execution_complete"}`+"\n\n")
		_ = http.NewResponseController(w).Flush()
		<-let
		_, _ = io.WriteString(w, `{"type":"ping"}`+"\n\n")
		_ = http.NewResponseController(w).Flush()
		left <- r.Context().Err()
	}, nil, false)
	result, err := agent.Run(ctx, Command{Line: "true"}, nil)
	if err != nil || result.ID != "cmd-1" {
		t.Errorf("%+v, %v", result, err)
	}
	cancel() // as whoever waited does
	close(let)
	if err := <-left; err != nil {
		t.Errorf("the stream was closed before its end: %v", err)
	}
}

// The agent answers with 500 to what it can't do, which is no trouble of its own.
func TestWhatTheAgentCannotDoIsAskedOnce(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	client, server := serve(t, answer(http.StatusInternalServerError, jsonType, `{"code":"RUNTIME_ERROR","message":"open /a/b: not a directory"}`))
	agent, err := client.WithRetry(3, 0, 0).Execd(Endpoint{URL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	for asked, do := range map[string]func() error{
		"POST /files/upload":  func() error { return agent.Upload(ctx, File{Path: "/a/b"}) },
		"GET /files/download": func() error { _, err := agent.Download(ctx, "/a/b", 9); return err },
		"GET /files/info":     func() error { _, err := agent.FileInfo(ctx, "/a/b"); return err },
		"DELETE /files":       func() error { return agent.DeleteFile(ctx, "/a/b") },
		"DELETE /command":     func() error { return agent.Interrupt(ctx, "cmd-1") },
	} {
		before := server.count()
		var refused *AgentError
		switch err := do(); {
		case !errors.As(err, &refused) || refused.Asked != asked || refused.Reason != "open /a/b: not a directory":
			t.Errorf("%s: %v", asked, err)
		case apiclient.IsTransient(err) || server.count() != before+1:
			t.Errorf("%s: asked %d times, transient %t", asked, server.count()-before, apiclient.IsTransient(err))
		}
	}
}

// The agent would take it for the beginning of a variable.
func TestPathsWithADollarAreRefused(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	agent, server := agentOf(t, answer(http.StatusOK, "text/plain", ""), nil, false)
	_, downloadErr := agent.Download(ctx, "/w/$HOME", 9)
	_, infoErr := agent.FileInfo(ctx, "/w/a$")
	for _, err := range []error{downloadErr, infoErr, agent.Upload(ctx, File{Path: "/w/$5"}), agent.DeleteFile(ctx, "/w/${A}")} {
		if err == nil || !strings.Contains(err.Error(), "can't hold a $") {
			t.Errorf("error %v", err)
		}
	}
	if server.count() != 0 {
		t.Errorf("asked %d times", server.count())
	}
}

func TestUpload(t *testing.T) {
	t.Parallel()
	agent, server := agentOf(t, answer(http.StatusOK, "text/plain", ""), nil, false)
	err := agent.Upload(context.Background(), File{Path: "/w/a", Content: []byte("a\x00b"), Mode: "0644", Owner: "root"})
	if err != nil {
		t.Fatal(err)
	}
	r := server.last(t)
	_, params, _ := mime.ParseMediaType(r.ContentType)
	form := multipart.NewReader(strings.NewReader(r.Body), params["boundary"])
	for _, want := range []struct{ name, contentType, body string }{
		{"metadata", "application/json", `{"path":"/w/a","owner":"root","mode":644}`},
		{"file", "application/octet-stream", "a\x00b"},
	} {
		part, err := form.NextPart()
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(part)
		if part.FormName() != want.name || part.FileName() == "" || part.Header.Get("Content-Type") != want.contentType || string(body) != want.body {
			t.Errorf("part %v: %q", part.Header, body)
		}
	}
	for _, mode := range []string{"888", "0", "rwx", "17777", "4755", "-1", "+644"} {
		if err := agent.Upload(context.Background(), File{Path: "/w/a", Mode: mode}); err == nil {
			t.Errorf("mode %q was taken", mode)
		}
	}
}

func TestFiles(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	agent, server := agentOf(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/proxy/44772/files/download":
			answer(http.StatusOK, "application/octet-stream", "0123456789")(w, r)
		case "/proxy/44772/files/info":
			answer(http.StatusOK, jsonType, `{"/w/a b":{"path":"/w/a b","size":10,"mode":644,"owner":"root","group":"root","modified_at":"2026-06-15T10:00:00+02:00"}}`)(w, r)
		default:
			answer(http.StatusOK, "text/plain", "")(w, r)
		}
	}, nil, false)
	if data, err := agent.Download(ctx, "/w/a b", 10); err != nil || string(data) != "0123456789" || server.last(t).Query != "path=%2Fw%2Fa+b" {
		t.Errorf("%q, %v, asked with %q", data, err, server.last(t).Query)
	}
	if _, err := agent.Download(ctx, "/w/a b", 9); err == nil {
		t.Error("a file over the limit was read")
	}
	if info, err := agent.FileInfo(ctx, "/w/a b"); err != nil || info.Mode != 644 || info.Size != 10 {
		t.Errorf("%+v, %v", info, err)
	}
	if err := agent.DeleteFile(ctx, "/w/a b"); err != nil || server.last(t).Method != http.MethodDelete {
		t.Errorf("%v, asked %+v", err, server.last(t))
	}
	if err := agent.Interrupt(ctx, "cmd-1"); err != nil || server.last(t).Query != "id=cmd-1" {
		t.Errorf("%v, asked %+v", err, server.last(t))
	}
	missing, _ := agentOf(t, answer(http.StatusNotFound, jsonType, `{"code":"FILE_NOT_FOUND","message":"file not found"}`), nil, false)
	if _, err := missing.Download(ctx, "/x", 9); !apiclient.IsGone(err) {
		t.Errorf("error %v", err)
	}
}

func TestEgress(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	client, server := serve(t, answer(http.StatusOK, jsonType, `{"status":"ok","policy":{"defaultAction":"deny","egress":[{"action":"allow","target":"b"},{"action":"deny","target":"a"}]}}`))
	sidecar, err := client.Egress(Endpoint{URL: server.URL, Headers: map[string]string{"OPENSANDBOX-EGRESS-AUTH": "token-1"}})
	if err != nil {
		t.Fatal(err)
	}
	policy, err := sidecar.Policy(ctx)
	if err != nil || fmt.Sprint(policy) != "{deny [{allow b} {deny a}]}" || server.last(t).Header.Get("OPENSANDBOX-EGRESS-AUTH") != "token-1" {
		t.Errorf("%v, %v", policy, err)
	}
	if err := sidecar.ReplacePolicy(ctx, NetworkPolicy{DefaultAction: "deny"}); err != nil {
		t.Fatal(err)
	}
	if r := server.last(t); r.Method != http.MethodPut || r.Path != "/policy" || r.Body != `{"defaultAction":"deny","egress":[]}` {
		t.Errorf("asked %+v", r)
	}
}
