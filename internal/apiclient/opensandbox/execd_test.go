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
	for _, mode := range []string{"888", "0", "rwx", "17777", "-1", "+644"} {
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
