package conformance_test

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/conformance"
	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/faults"
)

var planted = map[string]struct {
	wrap wrapper
	line string // the line that fails
	says string // and a part of what it says
}{
	"a create needs no token":      {letIn("POST", "/v1/vms"), "a token is asked for", "POST without a token got no 401"},
	"exec needs no token":          {letIn("POST", "/exec"), "a token is asked for", "exec without a token got no 401"},
	"a wrong token gets 403":       {status("PUT", "/files", 401, 403), "a token is asked for", "PUT of a file without a token got no 401"},
	"an unknown id is 400":         {status("GET", "", 404, 400), "GET of an unknown id", "no 404"},
	"DELETE of an unknown id: 500": {status("DELETE", "", 404, 500), "DELETE of an unknown id", "no 404"},
	"paths are cleaned": {func(next http.Handler) http.Handler {
		mux := http.NewServeMux()
		mux.HandleFunc("GET /v1/vms/{id}", func(w http.ResponseWriter, r *http.Request) {
			r.URL.RawPath = ""
			if id := r.PathValue("id"); strings.Contains(id, "/") {
				http.Redirect(w, r, "/v1/vms", http.StatusMovedPermanently)
				return
			}
			next.ServeHTTP(w, r)
		})
		mux.Handle("/", next)
		return mux
	}, "odd ids are unknown, not odd paths", "no 404"},
	"a create that isn't JSON: 500": {status("POST", "/v1/vms", 400, 500), "a create that isn't JSON is refused", "no 4xx"},
	"create answers 202":            {status("POST", "/v1/vms", 201, 202), "create", "no 201"},
	"create answers without an id":  {replace("POST", "/v1/vms", `"id":`, `"uuid":`), "create", "no id"},
	"an id of two dots": {spoil("POST", "/v1/vms", func(_ *http.Request, a *answer) {
		if a.status == 201 {
			a.body = `{"id":".."}`
		}
	}), "create", "no id"},
	"no status":              {machines(func(m map[string]any) { delete(m, "status") }), "a machine's shape", "status is no text: it is missing"},
	"a status of its own":    {spoil("POST", "/v1/vms", func(_ *http.Request, a *answer) { a.body = strings.Replace(a.body, "booting", "provisioning", 1) }), "a machine's shape", `status is "provisioning"`},
	"labels are missing":     {machines(func(m map[string]any) { delete(m, "labels") }), "a machine's shape", "labels is no object: it is missing"},
	"labels are null":        {machines(func(m map[string]any) { m["labels"] = nil }), "a machine's shape", "labels is no object: null"},
	"ports are a list":       {machines(func(m map[string]any) { m["ports"] = []int{8080} }), "a machine's shape", "ports is no object: [8080]"},
	"vnc_url is a number":    {machines(func(m map[string]any) { m["vnc_url"] = 5900 }), "a machine's shape", "vnc_url is no text: 5900"},
	"a label is lost":        {machines(func(m map[string]any) { delete(m["labels"].(map[string]any), "run") }), "labels", "run is missing"},
	"a port is lost":         {machines(func(m map[string]any) { delete(m["ports"].(map[string]any), "18765") }), "ports", "port 18765 has no URL"},
	"ports without a scheme": {machines(func(m map[string]any) { m["ports"] = map[string]any{"8080": "vm:8080", "18765": "/18765"} }), "ports", "is no URL with a scheme and a host"},
	"the display is a path":  {machines(func(m map[string]any) { m["vnc_url"] = "/vnc" }), "display", `"/vnc" is no URL`},
	"it never runs": {instead("POST", "/v1/vms", func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		body(r, func(text string) string { return strings.Replace(text, `"ubuntu"`, `"hang-boot"`, 1) })
		next.ServeHTTP(w, r)
	}), "boot", "doesn't run 10m0s after POST"},
	"it fails": {replace("GET", "", "running", "failed"), "boot", "the machine failed"},
	"it isn't known after POST": {spoil("GET", "", func(_ *http.Request, a *answer) {
		if a.status == 200 {
			a.status, a.body = 404, `{"error":"no such vm"}`
		}
	}), "boot", "no 200"},
	"a failed boot without a reason": {machines(func(m map[string]any) { delete(m, "error") }), "a boot that fails", "error doesn't say why"},

	"a repetition makes another machine": {instead("POST", "/v1/vms", func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		r.Header.Del("Idempotency-Key")
		next.ServeHTTP(w, r)
	}), "Idempotency-Key: a repetition gets the first answer", "the first answer's machine is vm-"},
	"the first answer is a replay": {spoil("POST", "/v1/vms", func(_ *http.Request, a *answer) {
		if a.status == 201 {
			a.header.Set("Idempotency-Replayed", "true")
		}
	}), "Idempotency-Key: a repetition gets the first answer", "the first answer says Idempotency-Replayed: true"},
	"a replay isn't told": {spoil("POST", "/v1/vms", func(_ *http.Request, a *answer) {
		if a.header.Get("Idempotency-Replayed") == "true" {
			a.header.Set("Idempotency-Replayed", "false")
		}
	}), "Idempotency-Key: a repetition gets the first answer", "not true"},
	"a replay tells today's status": {spoil("POST", "/v1/vms", func(_ *http.Request, a *answer) {
		if a.header.Get("Idempotency-Replayed") == "true" {
			a.body = strings.Replace(a.body, "booting", "running", 1)
		}
	}), "Idempotency-Key: a repetition gets the first answer", "the first answer was {"},
	"a refusal doesn't say whether it is a replay": {header("POST", "/v1/vms", 400, "Idempotency-Replayed", ""), "Idempotency-Replayed on a create that is refused", "not false"},
	"every key is the same": {instead("POST", "/v1/vms", func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		r.Header.Set("Idempotency-Key", "1")
		body(r, func(text string) string {
			if !strings.HasPrefix(text, "{") {
				return text
			}
			return `{"image":"ubuntu","cpu":1,"memory_mb":1,"disk_gb":1,"ttl_seconds":9000,"ports":[8080,18765],"labels":{"purpose":"x","run":"x"}}`
		})
		next.ServeHTTP(w, r)
	}), "Idempotency-Key: another one makes another machine", "it is the first machine"},

	"output on the wrong stream": {spoil("POST", "/exec", func(_ *http.Request, a *answer) {
		a.body = strings.NewReplacer("stdout", "stderr", "stderr", "stdout").Replace(a.body)
	}), "exec: output and exit code 0", `stdout is "err\n", not "gr`},
	"output is trimmed":  {replace("POST", "/exec", `\n"`, `"`), "exec: output and exit code 0", "stdout is"},
	"no exit code":       {replace("POST", "/exec", "exit_code", "code"), "exec: output and exit code 0", "exit_code is no whole number: it is missing"},
	"exec isn't awaited": {status("POST", "/exec", 200, 202), "exec: output and exit code 0", "no 200"},
	"exit codes are 0 or 1": {spoil("POST", "/exec", func(_ *http.Request, a *answer) {
		a.body = strings.Replace(a.body, `"exit_code":7`, `"exit_code":1`, 1)
	}), "exec: another exit code", "the exit code is 1, not 7"},
	"arguments go through a shell": {argv(func(words []string) []string {
		if words[0] == "printf" {
			return []string{"sh", "-c", strings.Join(words, " ")}
		}
		return words
	}), "exec: arguments, not a shell's line", "the exit code is"},
	"no root": {argv(func(words []string) []string {
		if words[0] == "sudo" {
			return words[1:]
		}
		return words
	}), "exec: a script as root", `stdout is "1000\n", not "0\n"`},
	"a gateway loses patience": {instead("POST", "/exec", func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		long := false
		body(r, func(text string) string { long = strings.Contains(text, "sleep 65"); return text })
		if long {
			w.WriteHeader(http.StatusGatewayTimeout)
			_, _ = w.Write([]byte(`{"error":"upstream timed out"}`)) // a client that has gone needs no answer
			return
		}
		next.ServeHTTP(w, r)
	}), "exec: a command that takes long", "no 200"},

	"PUT answers 200":      {status("PUT", "/files", 204, 200), "files: PUT", "no 204"},
	"uploads go nowhere":   {instead("PUT", "/files", nowhere), "files: exec sees what was put", "the exit code is 1, not 0"},
	"uploads are appended": {instead("PUT", "/files", appending()), "files: an older file is replaced", "stdout is"},
	"paths are unescaped twice": {instead("PUT", "/files", func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		query := r.URL.Query()
		if again, err := url.QueryUnescape(query.Get("path")); err == nil {
			query.Set("path", again)
			r.URL.RawQuery = query.Encode()
		}
		next.ServeHTTP(w, r)
	}), "files: an odd path", "the exit code is 1, not 0"},
	"empty files are refused": {instead("PUT", "/files", func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.ContentLength == 0 {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write([]byte(`{"error":"no content"}`)) // a client that has gone needs no answer
			return
		}
		next.ServeHTTP(w, r)
	}), "files: an empty file", "no 204"},
	"uploads are taken for text": {uploads(func(_ *http.Request, content string) string {
		return strings.ToValidUTF8(content, "?")
	}), "files: every byte", "stdout is"},

	"DELETE answers 200": {spoil("DELETE", "", func(_ *http.Request, a *answer) {
		if a.status == 204 {
			a.status, a.body = 200, `{}`
		}
	}), "delete", "no 204"},
	"nothing is ever deleted": {instead("DELETE", "", func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if strings.Contains(r.URL.Path, "/vm-") && r.Header.Get("Authorization") == "Bearer "+token {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		next.ServeHTTP(w, r)
	}), "a machine that boots can be deleted", "it is still told 2m0s after its DELETE"},
	"a second delete fails": {instead("DELETE", "", second(http.StatusInternalServerError)), "a second delete is harmless", "neither 204 nor 404"},

	"errors are text": {spoil("GET", "", func(_ *http.Request, a *answer) {
		if a.status == 404 {
			a.body = "no such vm"
		}
	}), "errors are JSON with a text", "the body is no JSON object"},
	"errors have another shape": {replace("POST", "", `{"error":`, `{"message":`), "errors are JSON with a text", "no text under the key error"},
	"another text":              {replace("GET", "", "no such vm", "not found"), "the text of an unknown id", `isn't "no such vm"`},
	"no date":                   {header("POST", "/v1/vms", 201, "Date", "yesterday"), "Date", `"yesterday" is no date`},
	"Retry-After in words": {func(next http.Handler) http.Handler {
		var count atomic.Int32
		return instead("GET", "", func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			if count.Add(1) == 3 {
				w.Header().Set("Retry-After", "soon")
				w.WriteHeader(http.StatusTooManyRequests)
				return
			}
			next.ServeHTTP(w, r)
		})(next)
	}, "Retry-After", `"soon" is neither seconds nor a date`},
	"it says that it waits, and doesn't": {instead("GET", "", func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.Header.Get("Prefer") != "" {
			r.Header.Del("Prefer")
			w.Header().Set("Preference-Applied", "wait")
		}
		next.ServeHTTP(w, r)
	}), "Prefer: wait", "nothing had changed"},
	"it waits for longer": {instead("GET", "", func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.Header.Get("Prefer") != "" {
			r.Header.Set("Prefer", "wait=60")
		}
		next.ServeHTTP(w, r)
	}), "Prefer: wait", "was asked to wait 10s at most and answered after"},
	"machines live twice as long": {instead("POST", "/v1/vms", func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		body(r, func(text string) string {
			return strings.Replace(text, `"ttl_seconds":60`, `"ttl_seconds":`+strconv.Itoa(60*60), 1)
		})
		next.ServeHTTP(w, r)
	}), "a machine ends by itself", "it is still told 2m0s after its ttl_seconds"},
}

// TestPlantedFaults: each fault of a service gives one line that fails, and says what is wrong with it.
func TestPlantedFaults(t *testing.T) {
	t.Parallel()
	for title, fault := range planted {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			o := complete()
			if strings.HasPrefix(title, "it waits for longer") {
				o.BootDelay = 50 * time.Second
			}
			b := newBench(t, o, fault.wrap)
			report := b.check(t.Context(), t)
			var failed []conformance.Line
			for _, line := range b.lines {
				if line.Verdict == conformance.Fail {
					failed = append(failed, line)
				}
			}
			if len(failed) != 1 || failed[0].Name != fault.line || !strings.Contains(failed[0].Text, fault.says) {
				t.Fatalf("want one line that fails, %q with %q:\n%s", fault.line, fault.says, b.all())
			}
			if failed[0].Contract == "" || failed[0].Asked == "" && fault.line != "a machine ends by itself" {
				t.Errorf("the line doesn't say what was asked, what came and what the contract says:\n%s", failed[0])
			}
			if report.Conforms() {
				t.Error("the report says that the service conforms")
			}
		})
	}
}

// TestBrokenConnections: a service that is reset or cut says so in a line, and is cleaned up after.
func TestBrokenConnections(t *testing.T) {
	t.Parallel()
	for title, fault := range map[string]faults.Fault{
		"exec: another exit code":         {Method: "POST", Path: "/v1/vms/vm-*/exec", Kind: faults.ResetBefore, Skip: 1},
		"exec: output and exit code 0":    {Method: "POST", Path: "/v1/vms/vm-*/exec", Kind: faults.Cut},
		"files: PUT":                      {Method: "PUT", Path: "/v1/vms/vm-*/files", Kind: faults.ResetAfter},
		"exec: a command that takes long": {Method: "POST", Path: "/v1/vms/vm-*/exec", Kind: faults.ResetAfter, Skip: 4},
		"delete":                          {Method: "DELETE", Path: "/v1/vms/vm-*", Kind: faults.HTML, Skip: 1},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, complete(), nil)
			b.service.Faults().Order(fault)
			report := b.check(t.Context(), t)
			if got := b.with(conformance.Fail); len(got) == 0 || got[0] != title {
				t.Errorf("failed: %q\n%s", got, b.all())
			}
			if len(report.Left) > 0 || len(b.service.VMs()) > 0 {
				t.Errorf("left behind: %q", report.Left)
			}
		})
	}
}
