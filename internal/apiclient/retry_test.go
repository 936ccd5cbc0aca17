package apiclient

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/clock"
)

func TestRetriesByStatus(t *testing.T) {
	t.Parallel()
	all := []int{http.StatusBadRequest, 401, 403, 404, 408, 409, 410, 412, 422, 425, 429, 500, 501, 502, 503, 504}
	idempotently := []int{408, 425, 429, 500, 502, 503, 504}
	for _, c := range []struct {
		name       string
		methods    []string
		policy     RetryPolicy
		retryAfter string
		repeated   []int
	}{
		{"idempotent", []string{"GET", "HEAD", "PUT", "DELETE", "OPTIONS"}, RetryByMethod, "", idempotently},
		{"not idempotent", []string{"POST", "PATCH"}, RetryByMethod, "", []int{429}},
		{"not idempotent, told when", []string{"POST", "PATCH"}, RetryByMethod, "7", []int{429, 503}},
		{"only unsent", []string{"GET", "PUT"}, RetryUnsent, "", []int{429}},
		{"only unsent, told when", []string{"GET", "POST"}, RetryUnsent, "0", []int{429, 503}},
		{"never", []string{"GET", "POST"}, RetryNever, "1", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, status := range all {
				for _, method := range c.methods {
					s := serve(t, false, func(w http.ResponseWriter, _ *http.Request, _ int) {
						if c.retryAfter != "" {
							w.Header().Set("Retry-After", c.retryAfter)
						}
						w.WriteHeader(status)
					})
					e := failing(t, clientOf(t, s), Request{Method: method, Path: []string{"x"}, Retry: c.policy})
					want := 1
					if slices.Contains(c.repeated, status) {
						want = 5
					}
					if s.count() != want || e.Attempts != want || e.Status != status {
						t.Errorf("%s answered by %d: %d requests, %d attempts, want %d", method, status, s.count(), e.Attempts, want)
					}
				}
			}
		})
	}
}

func TestSuccessAfterRetries(t *testing.T) {
	t.Parallel()
	s := serve(t, false, func(w http.ResponseWriter, _ *http.Request, n int) {
		if n < 4 {
			w.WriteHeader(http.StatusBadGateway)
		}
	})
	c := clientOf(t, s)
	if _, err := c.Do(t.Context(), get("x"), nil); err != nil {
		t.Fatal(err)
	}
	slept := c.clock.(*clock.Fake).Slept()
	if len(slept) != 3 {
		t.Fatalf("slept %v", slept)
	}
	for n, d := range slept {
		if d > time.Second<<n {
			t.Errorf("slept %v: the delay no. %d is above %s", slept, n, time.Second<<n)
		}
	}
}

func TestWithRetry(t *testing.T) {
	t.Parallel()
	s := serve(t, false, func(w http.ResponseWriter, _ *http.Request, _ int) { w.WriteHeader(500) })
	c := clientOf(t, s)
	if e := failing(t, c.WithRetry(1, 0, 0), get("x")); e.Attempts != 2 || len(c.clock.(*clock.Fake).Slept()) != 0 {
		t.Errorf("%d attempts, slept %v", e.Attempts, c.clock.(*clock.Fake).Slept())
	}
	if e := failing(t, c.WithRetry(-1, 0, 0), get("x")); e.Attempts != 1 {
		t.Errorf("%d attempts", e.Attempts)
	}
	if e := failing(t, c, get("x")); e.Attempts != 5 {
		t.Errorf("%d attempts of the client that it was derived from", e.Attempts)
	}
}

func TestBackoff(t *testing.T) {
	t.Parallel()
	const s = time.Second
	for _, c := range []struct {
		min, max time.Duration
		n        int
		share    float64
		want     time.Duration
	}{
		{s, 30 * s, 0, .5, s / 2}, {s, 30 * s, 0, 0, 0}, {s, 30 * s, 3, .25, 2 * s}, {s, 30 * s, 5, .5, 15 * s}, {s, 30 * s, 1 << 30, .5, 15 * s},
		{0, 30 * s, 9, .5, 0}, {s, 0, 0, .5, 0}, {5 * s, s, 0, .5, s / 2}, {-s, 30 * s, 3, .5, 0},
	} {
		if got := backoff(c.min, c.max, c.n, c.share); got != c.want {
			t.Errorf("backoff(%s, %s, %d, %v) = %s, want %s", c.min, c.max, c.n, c.share, got, c.want)
		}
	}
}

func TestRetryAfterIsRead(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		value, date string
		want        time.Duration
	}{
		{"", "", -1}, {"7", "", 7 * time.Second}, {" 0 ", "", 0}, {"86400", "", 24 * time.Hour},
		{"10000000000", "", maxRetryAfter * time.Second}, {"99999999999999999999999", "", maxRetryAfter * time.Second}, {"-1", "", -1}, {"+1", "", -1}, {"1.5", "", -1}, {"soon", "", -1}, {"0x10", "", -1},
		{"Sun, 01 Mar 2026 12:00:30 GMT", "", 30 * time.Second},
		{"Sunday, 01-Mar-26 12:00:30 GMT", "", 30 * time.Second},
		{"Sun Mar  1 12:00:30 2026", "", 30 * time.Second},
		{"Sun, 01 Mar 2026 11:00:00 GMT", "", 0},
		{"Sun, 01 Mar 2026 12:00:30 GMT", "Sun, 01 Mar 2026 12:00:20 GMT", 10 * time.Second}, // this machine's clock is off
		{"Sun, 01 Mar 2026 12:00:30 GMT", "now", 30 * time.Second},
		{"Fri, 31 Dec 9999 23:59:59 GMT", "", maxRetryAfter * time.Second},
	} {
		header := http.Header{"Retry-After": {c.value}, "Date": {c.date}}
		if got := parseRetryAfter(header, now); got != c.want {
			t.Errorf("%q at %q: %s, want %s", c.value, c.date, got, c.want)
		}
	}
}

func TestRetryAfterIsObeyedInFull(t *testing.T) {
	t.Parallel()
	start := time.Now()
	for _, value := range []string{"120", start.Add(120 * time.Second).UTC().Format(http.TimeFormat)} {
		s := serve(t, false, func(w http.ResponseWriter, _ *http.Request, n int) {
			if n == 1 {
				w.Header().Set("Date", start.UTC().Format(http.TimeFormat))
				w.Header().Set("Retry-After", value)
				w.WriteHeader(http.StatusServiceUnavailable)
			}
		})
		c := clientOf(t, s)
		if _, err := c.Do(t.Context(), post("x"), nil); err != nil {
			t.Fatal(err)
		}
		if slept := c.clock.(*clock.Fake).Slept(); len(slept) != 1 || slept[0] != 120*time.Second {
			t.Errorf("%s: slept %v, although retry_max_delay_seconds is no bound for it", value, slept)
		}
	}
}

func TestRetryAfterBeyondTheDeadlineFailsAtOnce(t *testing.T) {
	t.Parallel()
	s := serve(t, false, func(w http.ResponseWriter, _ *http.Request, _ int) {
		w.Header().Set("Retry-After", "120")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	c := clientOf(t, s)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, err := c.Do(ctx, post("x"), nil)
	e := asError(t, err)
	if e.Status != 429 || e.RetryAfter != 2*time.Minute || e.Open() || !strings.Contains(err.Error(), "2m0s, after the deadline") || ctx.Err() != nil {
		t.Errorf("got %v", err)
	}
	// So does a request that another one's 429 would hold back for too long.
	_, err = c.Do(ctx, post("y"), nil)
	e = asError(t, err)
	if e.Status != 0 || e.Open() || !IsTransient(e) || e.Attempts != 1 || !strings.Contains(err.Error(), "not sent: the next attempt would come in") {
		t.Errorf("got %v", err)
	}
	if slept := c.clock.(*clock.Fake).Slept(); s.count() != 1 || len(slept) != 0 {
		t.Errorf("%d requests, slept %v", s.count(), slept)
	}
}

func TestHoldBack(t *testing.T) {
	t.Parallel()
	limited := func(w http.ResponseWriter, _ *http.Request, n int) {
		if n == 1 {
			w.Header().Set("Retry-After", "10")
			w.WriteHeader(http.StatusTooManyRequests)
		}
	}
	s, other := serve(t, false, limited), serve(t, false, func(http.ResponseWriter, *http.Request, int) {})
	c := clientOf(t, s)
	elsewhere, err := c.At(other.URL, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	same, err := c.At(s.URL+"/sandbox", nil, false)
	if err != nil {
		t.Fatal(err)
	}
	manual := clock.NewManual(time.Now())
	c.clock = manual // of the whole family
	if e := failing(t, c, Request{Method: "GET", Retry: RetryNever}); e.Status != 429 {
		t.Fatal(e)
	}
	if _, err := elsewhere.Do(t.Context(), get(), nil); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	for range 20 {
		go func() {
			_, err := same.Do(t.Context(), get(), nil)
			done <- err
		}()
	}
	for len(manual.Slept()) < 20 {
		runtime.Gosched() // until all of them wait
	}
	if s.count() != 1 {
		t.Fatalf("%d requests reached the service, which had asked for 10 s of peace", s.count())
	}
	manual.Advance(10*time.Second - 1)
	if s.count() != 1 {
		t.Error("some waited less than they should")
	}
	manual.Advance(1 + time.Second)
	for range 20 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	for _, d := range manual.Slept() {
		if d < 10*time.Second || d > 11*time.Second {
			t.Errorf("held back for %s", d)
		}
	}
}

func TestRefusedConnectionIsTriedAgain(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	_ = listener.Close()
	for _, method := range []string{"GET", "POST"} {
		e := failing(t, must(t, testConfig("http://"+address)), Request{Method: method, Path: []string{"v1"}, JSON: 1})
		if e.Attempts != 5 || e.Open() || !IsTransient(e) || !errors.Is(e, syscall.ECONNREFUSED) || e.Status != 0 {
			t.Errorf("%s: %+v", method, e)
		}
		if text := e.Error(); !strings.HasPrefix(text, method+" /v1: not sent: dial tcp "+address) || !strings.HasSuffix(text, "(5 attempts)") {
			t.Error(text)
		}
	}
	// It came up meanwhile.
	config := testConfig("http://" + address)
	config.Clock = &hookedClock{Fake: clock.NewInstant(time.Now()), hook: func() {
		if listener, err = net.Listen("tcp", address); err == nil {
			server := &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})}
			go func() { _ = server.Serve(listener) }()
			t.Cleanup(func() { _ = server.Close() })
		}
	}}
	answer, doErr := must(t, config).Do(t.Context(), post("v1"), nil)
	if err != nil { // another process has taken the port
		return
	}
	if doErr != nil || answer.Status != 200 {
		t.Error(doErr)
	}
}

// hookedClock lets something happen during the first sleep.
type hookedClock struct {
	*clock.Fake
	hook func()
}

func (c *hookedClock) Sleep(ctx context.Context, d time.Duration) error {
	if c.hook != nil {
		c.hook()
		c.hook = nil
	}
	return c.Fake.Sleep(ctx, d)
}

func TestInterruptBetweenAttempts(t *testing.T) {
	t.Parallel()
	cause := errors.New("interrupted by the user")
	ctx, cancel := context.WithCancelCause(t.Context())
	s := serve(t, false, func(w http.ResponseWriter, _ *http.Request, _ int) {
		w.WriteHeader(503)
		_, _ = fmt.Fprint(w, `{"error":"overloaded"}`)
	})
	config := testConfig(s.URL)
	config.Clock = &hookedClock{Fake: clock.NewInstant(time.Now()), hook: func() { cancel(cause) }}
	_, err := must(t, config).Do(ctx, get("x"), nil)
	e := asError(t, err)
	if !errors.Is(err, cause) || !errors.Is(err, context.Canceled) || e.Status != 503 || IsTransient(e) || s.count() != 1 {
		t.Errorf("got %+v", e)
	}
	if want := "GET /x: HTTP 503: overloaded: interrupted by the user"; err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
}

func TestLog(t *testing.T) {
	t.Parallel()
	s := serve(t, false, func(w http.ResponseWriter, _ *http.Request, n int) {
		w.Header().Set("X-Request-ID", "r-"+token)
		if n == 1 {
			w.WriteHeader(502)
		}
	})
	var lines []string
	config := testConfig(s.URL + "/p")
	config.Log = func(_ context.Context, message string, f map[string]any) {
		lines = append(lines, fmt.Sprint(message, " ", f["method"], " ", f["path"], " ", f["status"], " ", f["attempt"], " ", f["request_id"], " ", f["error"]))
	}
	r := get("vms", token)
	r.Query = map[string][]string{"q": {token}}
	if _, err := must(t, config).Do(t.Context(), r, nil); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"HTTP request GET /p/vms/(redacted) 502 1 r-(redacted) <nil>",
		"HTTP request GET /p/vms/(redacted) 200 2 r-(redacted) <nil>",
	}
	if !slices.Equal(lines, want) {
		t.Errorf("got %q, want %q", lines, want)
	}
}

func TestPausesEndWithTheOperationThatARequestOutlives(t *testing.T) {
	t.Parallel()
	s := serve(t, false, func(w http.ResponseWriter, _ *http.Request, _ int) {
		w.Header().Set("Retry-After", "7200")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	hour, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	c := clientOf(t, s)
	for range 2 { // the second one is held back by what the first has learnt
		_, err := c.Do(PauseWithin(t.Context(), hour), post("x"), nil)
		if e := asError(t, err); e.Open() || !strings.Contains(e.Error(), "2h0m0s, after the deadline") {
			t.Errorf("got %v", e)
		}
	}
	if s.count() != 1 {
		t.Errorf("sent %d times", s.count())
	}
}
