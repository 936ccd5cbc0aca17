package faults_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/clock"
	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/faults"
)

func TestOrderOfFaults(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.set.Order(
		faults.Fault{Method: "GET", Status: 418, Times: -1},
		faults.Fault{Path: "/v1/vms/*", Status: 404, Times: 2},
		faults.Fault{Path: "/v1/", Status: 501, Skip: 3},
		faults.Fault{Path: "/v1/vms", Status: 500},
	)
	var got []int
	for _, path := range []string{"/v1/vms", "/v1/vms/a", "/v1/vms/a/exec", "/v1/vms/b", "/v1/vms/c", "/v1/vms"} {
		answer, err := s.post(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, answer.status)
	}
	// The 501 lets three pass, whatever happens to them, and then gives way to the 404 that was ordered first.
	if want := []int{500, 404, 201, 404, 501, 201}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if left := s.set.Pending(); len(left) != 1 || left[0].Times != -1 {
		t.Errorf("pending: %+v", left)
	}
	s.set.Clear()
	if left := s.set.Pending(); len(left) != 0 {
		t.Errorf("after Clear: %+v", left)
	}
}

func TestLog(t *testing.T) {
	t.Parallel()
	s := newService(t)
	var told []string
	s.set.OnRequest(func(r faults.Record) { told = append(told, r.Path) })
	s.set.Order(faults.Fault{Status: 503})
	for range 2 {
		if _, err := s.post(t.Context(), "/v1/vms?a=b"); err != nil {
			t.Fatal(err)
		}
	}
	log := s.set.Requests()
	if len(log) != 2 || s.set.Total() != 2 || len(told) != 2 {
		t.Fatalf("log: %+v, told %v", log, told)
	}
	first, second := log[0], log[1]
	if first.Status != 503 || first.Fault != faults.Status || second.Status != 201 || second.Fault != "" {
		t.Errorf("outcomes: %+v %+v", first, second)
	}
	if first.Method != http.MethodPost || first.Path != "/v1/vms" || first.Query != "a=b" || string(first.Body) != "body" ||
		first.Header.Get("Authorization") != "Bearer secret" || !first.Time.Equal(start) || first.RequestID != "req-1" {
		t.Errorf("request: %+v", first)
	}
	if first.ConnID == "" || first.ConnID != second.ConnID {
		t.Errorf("connections: %q %q", first.ConnID, second.ConnID)
	}
	s.set.Reset()
	if s.set.Total() != 0 || len(s.set.Requests()) != 0 {
		t.Error("Reset should forget the log")
	}
}

// TestLargeBodies sees that the log keeps the start of a body and the service gets all of it.
func TestLargeBodies(t *testing.T) {
	t.Parallel()
	s := newService(t)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, s.url+"/v1/file", bytes.NewReader(make([]byte, 1<<20)))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Request-ID", "mine")
	resp, err := s.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); err != nil || !strings.Contains(string(body), "1048576") {
		t.Errorf("%s %v", body, err)
	}
	if log := s.set.Requests(); len(log[0].Body) != 64<<10 || log[0].RequestID != "mine" || resp.Header.Get("X-Request-Id") != "mine" {
		t.Errorf("kept %d bytes, request id %q", len(log[0].Body), log[0].RequestID)
	}
}

// TestBounds sees that a fake which runs for long doesn't grow.
func TestBounds(t *testing.T) {
	t.Parallel()
	const sent = 20_500
	set := faults.New(clock.NewInstant(start))
	handler := set.Wrap(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	large := strings.Repeat("x", 70_000)
	for i := range sent {
		body := ""
		if i%20 == 0 {
			body = large
		}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPut, fmt.Sprint("/", i), strings.NewReader(body))
		handler.ServeHTTP(httptest.NewRecorder(), r)
	}
	kept, bodies := set.Requests(), 0
	for _, r := range kept {
		bodies += len(r.Body)
	}
	if len(kept) > 20_000 || bodies > 32<<20 || set.Total() != sent || kept[len(kept)-1].Path != fmt.Sprint("/", sent-1) {
		t.Errorf("%d kept with %d bytes, %d counted, the last is %s", len(kept), bodies, set.Total(), kept[len(kept)-1].Path)
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]faults.Fault{
		"POST /v1/vms status=503 retry-after=2 times=3": {Method: "POST", Path: "/v1/vms", Kind: "status", Status: 503, RetryAfter: "2", Times: 3},
		"GET /v1/vms/* reset-before skip=1":             {Method: "GET", Path: "/v1/vms/*", Kind: "reset-before", Skip: 1},
		"delay=100ms times=-1":                          {Kind: "delay", Delay: 100 * time.Millisecond, Times: -1},
		`* /v1/ status=400 body='{"error": "it''s"}'`:   {Path: "/v1/", Kind: "status", Status: 400, Body: `{"error": "its"}`},
		"hang before=true":                              {Kind: "hang", Before: true},
		`GET status=429 "retry-after=Sun, 01 Mar 2026"`: {Method: "GET", Kind: "status", Status: 429, RetryAfter: "Sun, 01 Mar 2026"},
		"location=http://x.example/ header.X-A=b":       {Kind: "redirect", Location: "http://x.example/", Header: map[string]string{"X-A": "b"}},
		"method=put path=/a kind=slow delay=1s":         {Method: "PUT", Path: "/a", Kind: "slow", Delay: time.Second},
	} {
		if got, err := faults.Parse(text); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s\ngot  %+v, %v\nwant %+v", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"":                                   "a fault needs a kind",
		"POST /v1/vms":                       "a fault needs a kind",
		"GET /x boom":                        `unknown kind "boom"`,
		"status=99":                          "status 99 is not within 200 to 599",
		"status=x":                           "status: strconv.Atoi",
		"status-after":                       "needs status=",
		"redirect":                           "needs location=",
		"delay":                              "needs delay=",
		"cut times=-2":                       "can't be negative",
		"cut colour=red":                     `unknown key "colour"`,
		"cut 'open":                          "a quote isn't closed",
		"GET /v1/[ cut":                      "syntax error in pattern",
		"cut before=perhaps":                 "before: strconv.ParseBool",
		"POST /v1/vms times=3 cut delay=-1s": "can't be negative",
	} {
		if _, err := faults.Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestJSON(t *testing.T) {
	t.Parallel()
	want := faults.Fault{
		Method: "POST", Path: "/v1/vms", Kind: faults.Hang, Status: 500, Body: "b", Header: map[string]string{"A": "b"},
		RetryAfter: "1", Location: "/", Delay: 1500 * time.Millisecond, Before: true, Skip: 2, Times: -1,
	}
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got faults.Fault
	if err := json.Unmarshal(text, &got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%s\ngot  %+v, %v", text, got, err)
	}
	for _, wrong := range []string{`{"kind":"cut","tims":1}`, `{"delay":1}`, `{"delay":"1"}`, `{}`} {
		if err := json.Unmarshal([]byte(wrong), &got); err == nil {
			t.Errorf("%s should be refused", wrong)
		}
	}
}

func TestControl(t *testing.T) {
	t.Parallel()
	s := newService(t)
	call := func(method, path, body string, header ...string) (int, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, s.url+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i+1 < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		resp, err := s.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		data, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, strings.TrimSpace(string(data))
	}
	for _, test := range []struct {
		method, path, body, header string
		status                     int
		answer                     string
	}{
		{"POST", "/_fake/faults", "POST /v1/vms status=503\n\nhang times=2\n", "", 201, `[{"method":"POST","path":"/v1/vms","kind":"status","status":503,"times":1},{"kind":"hang","times":2}]`},
		{"POST", "/_fake/faults", `{"status":500}`, "", 201, `[{"method":"POST","path":"/v1/vms","kind":"status","status":503,"times":1},{"kind":"hang","times":2},{"kind":"status","status":500,"times":1}]`},
		{"DELETE", "/_fake/faults", "", "", 204, ""},
		{"POST", "/_fake/faults", `[{"kind":"cut"},{"kind":"empty","skip":1}]`, "", 201, `[{"kind":"cut","times":1},{"kind":"empty","skip":1,"times":1}]`},
		{"GET", "/_fake/faults", "", "", 200, `[{"kind":"cut","times":1},{"kind":"empty","skip":1,"times":1}]`},
		{"POST", "/_fake/faults", "boom", "", 400, `{"error":"fault \"boom\": unknown kind \"boom\"; the kinds are status, status-after, reset-before, reset-after, cut, garbage, empty, delay, hang, redirect, html, endless, slow"}`},
		{"POST", "/_fake/faults", `{"kind":"boom"`, "", 400, `{"error":"unexpected end of JSON input"}`},
		{"POST", "/_fake/faults", "cut", "cross-site", 403, `{"error":"not from a page of another site"}`},
		{"POST", "/_fake/release", "", "", 204, ""},
		{"GET", "/_fake/requests", "", "", 200, "[]"},
		{"DELETE", "/_fake/requests", "", "", 204, ""},
		{"GET", "/_fake/faults", "", "", 200, "[]"},
		{"GET", "/_fake/elsewhere", "", "", 201, `{"id":"vm-1","length":0}`},
	} {
		status, answer := call(test.method, test.path, test.body, "Sec-Fetch-Site", test.header)
		if status != test.status || answer != test.answer {
			t.Errorf("%s %s %s\ngot  %d %s\nwant %d %s", test.method, test.path, test.body, status, answer, test.status, test.answer)
		}
	}
	for i := range 3 {
		if _, err := s.post(t.Context(), fmt.Sprintf("/v1/%d", i)); err != nil {
			t.Fatal(err)
		}
	}
	_, answer := call("GET", "/_fake/requests?limit=2", "")
	if strings.Contains(answer, "secret") || strings.Contains(answer, `"body"`) || strings.Contains(answer, "/v1/0") ||
		!strings.Contains(answer, `"path":"/v1/2"`) || !strings.Contains(answer, `"body_bytes":4`) {
		t.Errorf("the log over HTTP: %s", answer)
	}
}
