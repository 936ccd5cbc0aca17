package opensandbox

import (
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"
)

// "Diagnostics: /sandboxes/{id}/diagnostics/logs and /events, text/plain, tail 1-10000, limit 1-500; 501 where not implemented".
func TestDiagnostics(t *testing.T) {
	t.Parallel()
	c := serve(t, Options{})
	id := c.create(object{"entrypoint": []string{"sh", "-c", "echo one; echo two; exit 4"}, "env": object{"API_KEY": "hunter2", "MODE": "x"}})
	path := "/v1/sandboxes/" + id + "/diagnostics/"
	logs := c.get(path + "logs").want(http.StatusOK)
	if kind := logs.header.Get("Content-Type"); kind != "text/plain; charset=utf-8" || logs.header.Get("Deprecation") != "true" {
		t.Errorf("headers %v", logs.header)
	}
	if got := c.get(path + "logs?tail=2").String(); got != "2026-06-15T12:00:00.123456Z one\n2026-06-15T12:00:00.123456Z two\n" {
		t.Errorf("tail: %q", got)
	}
	c.clock.Advance(time.Hour)
	if got := c.get(path + "logs?since=10m").String(); got != "(no logs)" {
		t.Errorf("since: %q", got)
	}
	if got := c.get(path + "events").want(http.StatusOK).String(); !strings.Contains(got, "Exited with code 4") {
		t.Errorf("events: %s", got)
	}
	inspected := c.get(path + "inspect").want(http.StatusOK).String()
	if strings.Contains(inspected, "hunter2") || !strings.Contains(inspected, "API_KEY=***") || !strings.Contains(inspected, "MODE=x") {
		t.Errorf("inspect: %s", inspected)
	}
	summary := c.get(path + "summary?tail=1&event_limit=1").want(http.StatusOK).String()
	if !strings.Contains(summary, "LOGS (last 1 lines)") || strings.Contains(summary, "hunter2") {
		t.Errorf("summary: %s", summary)
	}
	if got := c.get(path + "logs?tail=10001").details(); !reflect.DeepEqual(got, []string{"query.tail: less_than_equal: Input should be less than or equal to 10000"}) {
		t.Errorf("tail: %q", got)
	}
	if got := c.get(path + "events?limit=501").details(); len(got) != 1 {
		t.Errorf("limit: %q", got)
	}
	c.get(path+"logs?scope=container").wantError(http.StatusNotImplemented, "DIAGNOSTICS_NOT_IMPLEMENTED")
	c.get("/v1/sandboxes/nobody/diagnostics/logs").wantError(http.StatusNotFound, "DOCKER::SANDBOX_NOT_FOUND")
}

// By switch, and after a kill for want of memory.
func TestDiagnosticsOfOtherServers(t *testing.T) {
	t.Parallel()
	c := serve(t, Options{NoDiagnostics: true})
	id := c.create(nil)
	for _, what := range []string{"logs", "events"} {
		c.get("/v1/sandboxes/"+id+"/diagnostics/"+what).wantError(http.StatusNotImplemented, "DIAGNOSTICS_NOT_IMPLEMENTED")
	}
	c = serve(t, Options{})
	id = c.create(nil)
	if got := c.get("/v1/sandboxes/" + id + "/diagnostics/events").String(); !strings.Contains(got, "\nStarted:    ") {
		t.Errorf("events: %s", got)
	}
	c.service.RunOutOfMemory(id)
	if got := c.get("/v1/sandboxes/" + id + "/diagnostics/events").String(); !strings.Contains(got, "OOMKilled") {
		t.Errorf("events: %s", got)
	}
	c = serve(t, Options{Kubernetes: true})
	if got := c.get("/v1/sandboxes/" + c.create(nil) + "/diagnostics/events").String(); !strings.Contains(got, "Scheduled") {
		t.Errorf("events: %s", got)
	}
}

// The log of a sandbox that talks without end stays small.
func TestHistoryIsBounded(t *testing.T) {
	t.Parallel()
	var h history
	for range 3 * historyLines {
		h.note(start, strings.Repeat("x", 2*longestLine))
	}
	if lines := h.lastLines(10000, time.Time{}); len(lines) > historyLines || len(lines[0].text) > longestLine {
		t.Errorf("%d lines of %d", len(lines), len(lines[0].text))
	}
	h.begin("command")
	for range 100 {
		_, _ = h.Write(make([]byte, 1024))
	}
	if _, output, _ := h.last(); len(output) > 3*shownOutput { // what is no text is shown by a character of three bytes
		t.Errorf("%d bytes of output", len(output))
	}
}
