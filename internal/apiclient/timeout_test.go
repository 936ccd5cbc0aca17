package apiclient

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestSlowAnswersEndWithTheAttempt(t *testing.T) {
	t.Parallel()
	drip := func(w http.ResponseWriter, r *http.Request) {
		for {
			_, _ = io.WriteString(w, "x")
			w.(http.Flusher).Flush()
			select {
			case <-time.After(5 * time.Millisecond):
			case <-r.Context().Done():
				return
			}
		}
	}
	protocols(t, func(t *testing.T, http2 bool) {
		for name, handle := range map[string]func(w http.ResponseWriter, r *http.Request){
			"hangs": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
			"drips": drip,
		} {
			s := serve(t, http2, func(w http.ResponseWriter, r *http.Request, _ int) { handle(w, r) })
			c := clientOf(t, s)
			c.timeout = time.Hour
			r := post("x")
			r.Timeout = 50 * time.Millisecond
			e := failing(t, c, r)
			var timeout interface{ Timeout() bool }
			if !e.Open() || !IsTransient(e) || !errors.As(e, &timeout) || errors.Is(e, context.DeadlineExceeded) ||
				!strings.Contains(e.Error(), "no complete answer within 50ms") {
				t.Errorf("%s: %v", name, e)
			}
			if r.Method = "GET"; failing(t, c, r).Attempts != 5 {
				t.Errorf("%s: a GET wasn't tried again", name)
			}
		}
	})
}

// A service that can't be reached in time has not been sent anything.
func TestTimeoutWhileConnectingLeavesNothingOpen(t *testing.T) {
	t.Parallel()
	ctx := WithDialer(t.Context(), func(ctx context.Context, _, _ string) (net.Conn, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	config := testConfig("http://vm.example")
	c := must(t, config)
	r := post("vms")
	r.Timeout = 5 * time.Millisecond
	_, err := c.Do(ctx, r, nil)
	if e := asError(t, err); e.Open() || e.Attempts != 5 || !strings.Contains(err.Error(), "not sent: no complete answer within 5ms") {
		t.Error(err)
	}
	c.transport.(*http.Transport).CloseIdleConnections() // ends the dials
}

func TestNoTimeoutLeavesOnlyTheContext(t *testing.T) {
	t.Parallel()
	protocols(t, func(t *testing.T, http2 bool) {
		arrived := make(chan struct{})
		s := serve(t, http2, func(_ http.ResponseWriter, r *http.Request, _ int) {
			close(arrived)
			<-r.Context().Done()
		})
		c := clientOf(t, s)
		c.timeout = time.Nanosecond
		cause := errors.New("interrupted by the user")
		ctx, cancel := context.WithCancelCause(t.Context())
		go func() {
			<-arrived
			cancel(cause)
		}()
		r := get("x")
		r.Timeout = NoTimeout
		_, err := c.Do(ctx, r, nil)
		if e := asError(t, err); !errors.Is(err, cause) || !errors.Is(err, context.Canceled) || !e.Open() || s.count() != 1 {
			t.Errorf("got %v", err)
		}
	})
}

func TestDeadlineOfTheOperation(t *testing.T) {
	t.Parallel()
	s := serve(t, false, func(_ http.ResponseWriter, r *http.Request, _ int) { <-r.Context().Done() })
	cause := errors.New("timeouts.create of 50ms")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, cause)
	defer cancel()
	_, err := clientOf(t, s).Do(ctx, get("x"), nil)
	if !errors.Is(err, cause) || !errors.Is(err, context.DeadlineExceeded) || s.count() != 1 {
		t.Errorf("got %v", err)
	}
}

func TestStream(t *testing.T) {
	t.Parallel()
	protocols(t, func(t *testing.T, http2 bool) {
		next := make(chan string)
		s := serve(t, http2, func(w http.ResponseWriter, r *http.Request, n int) {
			if n == 1 {
				w.WriteHeader(http.StatusTooManyRequests)
				return
			}
			for {
				w.(http.Flusher).Flush()
				select {
				case event := <-next:
					_, _ = io.WriteString(w, event)
				case <-r.Context().Done():
					close(next)
					return
				}
			}
		})
		c := clientOf(t, s)
		r := post("command")
		r.Timeout = 10 * time.Second // of the header
		cause := errors.New("interrupted")
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		resp, err := c.Stream(ctx, r)
		if err != nil {
			t.Fatal(err)
		}
		for _, event := range []string{"one", "two"} {
			next <- event
			got := make([]byte, 3)
			if _, err := io.ReadFull(resp.Body, got); err != nil || string(got) != event {
				t.Errorf("read %s, %v", got, err)
			}
		}
		cancel(cause)
		if _, err := resp.Body.Read(make([]byte, 1)); !errors.Is(err, cause) {
			t.Errorf("after the interrupt: %v", err)
		}
		_ = resp.Body.Close()
		if _, open := <-next; open {
			t.Error("the service wasn't told that nobody listens")
		}
	})
}

func TestStreamTimeoutIsOneOfTheHeader(t *testing.T) {
	t.Parallel()
	headerSent := make(chan struct{})
	s := serve(t, false, func(w http.ResponseWriter, r *http.Request, n int) {
		if n == 1 {
			<-r.Context().Done()
			return
		}
		w.(http.Flusher).Flush()
		<-headerSent
		_, _ = io.WriteString(w, "late")
	})
	c := clientOf(t, s)
	r := get("events")
	r.Timeout = 200 * time.Millisecond
	resp, err := c.Stream(t.Context(), r) // the first attempt times out
	if err != nil {
		t.Fatal(err)
	}
	<-time.After(2 * r.Timeout) // the bound must be seen to be past
	close(headerSent)
	if body, err := io.ReadAll(resp.Body); err != nil || string(body) != "late" {
		t.Errorf("read %q, %v", body, err)
	}
	_ = resp.Body.Close()
}

func TestStreamErrors(t *testing.T) {
	t.Parallel()
	s := serve(t, false, func(w http.ResponseWriter, _ *http.Request, _ int) {
		w.WriteHeader(http.StatusConflict)
		_, _ = io.WriteString(w, `{"code":"DOCKER::SANDBOX_NOT_RUNNING","message":"it is paused"}`)
	})
	resp, err := clientOf(t, s).Stream(t.Context(), post("command"))
	if e := asError(t, err); resp != nil || e.Status != 409 || e.Code != "DOCKER::SANDBOX_NOT_RUNNING" || e.Text != "it is paused" {
		t.Errorf("got %+v", e)
	}
}
