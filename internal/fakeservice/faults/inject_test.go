package faults_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/clock"
	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/faults"
)

var start = time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)

// service is a server that counts what it has handled, behind a set of faults.
type service struct {
	t       *testing.T
	set     *faults.Set
	clock   *clock.Fake
	url     string
	client  *http.Client
	handled atomic.Int64
}

func newService(t *testing.T) *service {
	t.Helper()
	s := &service{t: t, clock: clock.NewInstant(start)}
	s.set = faults.New(s.clock)
	server := httptest.NewServer(s.set.Wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.handled.Add(1)
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Errorf("the service can't read the body: %v", err)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintf(w, `{"id":"vm-1","length":%d}`, len(body))
	})))
	t.Cleanup(server.Close)
	s.url, s.client = server.URL, server.Client()
	return s
}

const whole = `{"id":"vm-1","length":4}`

// reply is an answer as far as it came.
type reply struct {
	status int
	major  int // of the protocol's version
	header http.Header
	body   string
}

// post sends a request; the error may come after the start of an answer.
func (s *service) post(ctx context.Context, path string) (reply, error) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+path, strings.NewReader("body"))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer secret")
	resp, err := s.client.Do(r)
	if err != nil {
		return reply{}, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return reply{resp.StatusCode, resp.ProtoMajor, resp.Header, string(body)}, err
}

func TestKinds(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		fault         faults.Fault
		handled       int64
		status        int
		body          string
		header, value string
		err           error
	}{
		"status":       {faults.Fault{Status: 503, RetryAfter: "2"}, 0, 503, `{"error":"Service Unavailable"}`, "Retry-After", "2", nil},
		"status body":  {faults.Fault{Status: 400, Body: "plain"}, 0, 400, "plain", "Content-Type", "text/plain; charset=utf-8", nil},
		"status after": {faults.Fault{Kind: faults.StatusAfter, Status: 504}, 1, 504, `{"error":"Gateway Timeout"}`, "", "", nil},
		"reset before": {faults.Fault{Kind: faults.ResetBefore}, 0, 0, "", "", "", syscall.ECONNRESET},
		"reset after":  {faults.Fault{Kind: faults.ResetAfter}, 1, 0, "", "", "", syscall.ECONNRESET},
		"cut":          {faults.Fault{Kind: faults.Cut}, 1, 201, whole[:len(whole)/2], "", "", io.ErrUnexpectedEOF},
		"garbage":      {faults.Fault{Kind: faults.Garbage}, 1, 201, "{\"id\": \"vm-\x01\xff<<<", "", "", nil},
		"garbage body": {faults.Fault{Kind: faults.Garbage, Body: "null", Status: 200}, 1, 200, "null", "", "", nil},
		"empty":        {faults.Fault{Kind: faults.Empty}, 1, 201, "{}", "Content-Type", "application/json", nil},
		"redirect":     {faults.Fault{Location: "/elsewhere", Status: 303}, 0, 303, "", "Location", "/elsewhere", nil},
		"html":         {faults.Fault{Kind: faults.HTML}, 0, 502, "<h1>502 Bad Gateway</h1>", "Content-Type", "text/html", nil},
		"delay":        {faults.Fault{Delay: time.Minute}, 1, 201, whole, "", "", nil},
		"slow":         {faults.Fault{Kind: faults.Slow}, 1, 201, whole, "Content-Type", "application/json", nil},
		"header":       {faults.Fault{Status: 429, Header: map[string]string{"X-Name": "v"}}, 0, 429, `{"error":"Too Many Requests"}`, "X-Name", "v", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t)
			s.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
			s.set.Order(test.fault)
			got, err := s.post(t.Context(), "/v1/vms")
			if !errors.Is(err, test.err) {
				t.Errorf("error %v, want %v", err, test.err)
			}
			if s.handled.Load() != test.handled {
				t.Errorf("handled %d, want %d", s.handled.Load(), test.handled)
			}
			page := test.fault.Kind == faults.HTML && strings.Contains(got.body, test.body)
			if got.status != test.status || (got.body != test.body && !page) {
				t.Errorf("got %d %q, want %d %q", got.status, got.body, test.status, test.body)
			}
			if value := got.header.Get(test.header); value != test.value {
				t.Errorf("%s is %q, want %q", test.header, value, test.value)
			}
			if got, err := s.post(t.Context(), "/v1/vms"); err != nil || got.body != whole {
				t.Errorf("the request after the fault: %q, %v", got.body, err)
			}
			if left := s.set.Pending(); len(left) != 0 {
				t.Errorf("still pending: %v", left)
			}
		})
	}
}

func TestDelaysWaitOnTheClock(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.set.Order(faults.Fault{Kind: faults.Delay, Delay: time.Minute, Times: -1}, faults.Fault{Status: 500})
	for _, want := range []int{500, 201} {
		got, err := s.post(t.Context(), "/v1/vms")
		if err != nil || got.status != want {
			t.Fatalf("got %v, %v, want %d", got, err, want)
		}
	}
	if got := s.clock.Slept(); len(got) != 2 || got[0] != time.Minute {
		t.Errorf("slept %v", got)
	}
}

func TestHang(t *testing.T) {
	t.Parallel()
	for _, before := range []bool{true, false} {
		s := newService(t)
		arrived := make(chan struct{})
		remove := s.set.OnRequest(func(faults.Record) { close(arrived) })
		s.set.Order(faults.Fault{Kind: faults.Hang, Before: before, Times: 2})
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-arrived
			cancel()
		}()
		if _, err := s.post(ctx, "/v1/vms"); !errors.Is(err, context.Canceled) {
			t.Errorf("a client that goes: %v", err)
		}
		remove()

		answered := make(chan string)
		arrivedAgain := make(chan struct{})
		remove = s.set.OnRequest(func(faults.Record) { close(arrivedAgain) })
		go func() {
			got, err := s.post(t.Context(), "/v1/vms")
			answered <- fmt.Sprint(got.body, err)
		}()
		<-arrivedAgain
		remove()
		for released := false; !released; {
			select {
			case got := <-answered:
				released = true
				if got != whole+"<nil>" {
					t.Errorf("after the release: %s", got)
				}
			default:
				s.set.Release() // it may hang only a moment after it has arrived
			}
		}
	}
}

func TestEndless(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.set.Order(faults.Fault{Kind: faults.Endless})
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/v1/vms/x", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := s.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if n, err := io.CopyN(io.Discard, resp.Body, 4<<20); err != nil {
		t.Errorf("it ended after %d bytes: %v", n, err)
	}
}

// TestHTTP2 sees that a connection which others share isn't torn down: only the stream is.
func TestHTTP2(t *testing.T) {
	t.Parallel()
	set := faults.New(clock.NewInstant(start))
	server := httptest.NewUnstartedServer(set.Wrap(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, whole)
	})))
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	s := &service{t: t, set: set, url: server.URL, client: server.Client()}
	set.Order(faults.Fault{Kind: faults.ResetAfter, Skip: 1}, faults.Fault{Kind: faults.Cut, Skip: 2})
	for i, wantErr := range []bool{false, true, true, false} {
		got, err := s.post(t.Context(), "/v1/vms")
		if (err != nil) != wantErr {
			t.Errorf("request %d: %q, %v", i, got.body, err)
		}
		if err == nil && got.major != 2 {
			t.Errorf("HTTP/%d", got.major)
		}
	}
	seen := map[string]bool{}
	for _, r := range set.Requests() {
		seen[r.ConnID] = true
	}
	if len(seen) != 1 {
		t.Errorf("connections: %v", seen)
	}
}
