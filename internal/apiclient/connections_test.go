package apiclient

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"sync"
	"testing"
	"time"
)

// warm makes a connection that the next request reuses.
func warm(t *testing.T, c *Client) {
	t.Helper()
	if _, err := c.Do(t.Context(), get("warm"), nil); err != nil {
		t.Fatal(err)
	}
}

// A connection that breaks under a POST must not make net/http send it again by itself, whatever headers and body it has.
func TestBrokenReusedConnectionRepeatsNoPOST(t *testing.T) {
	t.Parallel()
	requests := map[string]Request{
		"body":             post("vms"),
		"key":              {Method: "POST", Path: []string{"vms"}, JSON: 1, Header: http.Header{"Idempotency-Key": {"k"}}},
		"key without body": {Method: "POST", Path: []string{"vms"}, Header: http.Header{"X-Idempotency-Key": {"k"}}},
		"PATCH":            {Method: "PATCH", Path: []string{"vms"}, JSON: 1, Header: http.Header{"Idempotency-Key": {"k"}}},
	}
	protocols(t, func(t *testing.T, http2 bool) {
		for name, r := range requests {
			s := serve(t, http2, func(_ http.ResponseWriter, r *http.Request, _ int) {
				if r.Method != http.MethodGet {
					reset(r)
				}
			})
			c := clientOf(t, s)
			warm(t, c)
			e := failing(t, c, r)
			if s.count() != 2 || s.last().ProtoMajor == 2 != http2 || s.connections != 1 {
				t.Fatalf("%s: %d requests over %d connections", name, s.count()-1, s.connections)
			}
			if !e.Open() || e.Status != 0 || e.Attempts != 1 || !IsTransient(e) {
				t.Errorf("%s: %+v", name, e)
			}
		}
	})
}

// Over HTTP/2 net/http repeats by itself what the server resets with REFUSED_STREAM or PROTOCOL_ERROR, the second of which proves nothing.
func TestResetStreamRepeatsNoPOST(t *testing.T) {
	t.Parallel()
	const protocolError, refusedStream = 1, 7
	for _, code := range []byte{protocolError, refusedStream} {
		for name, r := range map[string]Request{"with body": post("vms"), "without": {Method: "POST", Path: []string{"pause"}}} {
			s := serve(t, true, func(_ http.ResponseWriter, r *http.Request, n int) {
				if n > 1 { // the frame of RFC 9113 section 6.4; a client numbers its streams 1, 3, 5
					_, _ = r.Context().Value(connectionKey{}).(net.Conn).Write([]byte{0, 0, 4, 3, 0, 0, 0, 0, byte(2*n - 1), 0, 0, 0, code})
					<-r.Context().Done()
				}
			})
			c := clientOf(t, s)
			warm(t, c)
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			_, err := c.Do(ctx, r, nil)
			cancel()
			if e := asError(t, err); s.count() != 2 || !e.Open() || ctx.Err() == context.DeadlineExceeded {
				t.Errorf("%s, code %d: %d requests: %v", name, code, s.count()-1, err)
			}
			s.CloseClientConnections()
		}
	}
}

func TestResetIsRepeatedWhereIdempotent(t *testing.T) {
	t.Parallel()
	protocols(t, func(t *testing.T, http2 bool) {
		s := serve(t, http2, func(_ http.ResponseWriter, r *http.Request, n int) {
			if n < 4 {
				reset(r)
			}
		})
		c := clientOf(t, s)
		if _, err := c.Do(t.Context(), Request{Method: "PUT", Path: []string{"files"}, Body: []byte("x")}, nil); err != nil {
			t.Fatal(err)
		}
		if s.count() != 4 {
			t.Errorf("%d requests", s.count())
		}
	})
}

// go-retryablehttp closes all idle connections after each failure, also those of the requests that work.
func TestFailureLeavesOtherConnectionsAlone(t *testing.T) {
	t.Parallel()
	s := serve(t, false, func(w http.ResponseWriter, _ *http.Request, n int) {
		if n == 2 {
			_, _ = io.WriteString(w, "this is no JSON")
		}
	})
	c := clientOf(t, s).WithRetry(0, 0, 0)
	warm(t, c)
	unreachable, err := c.At(raw(t, "").base.String(), nil, false)
	if err != nil {
		t.Fatal(err)
	}
	if e := failing(t, unreachable, get("x")); e.Status != 0 {
		t.Error(e)
	}
	var out any
	if _, err := c.Do(t.Context(), get("x"), &out); !errors.Is(err, ErrGarbled) {
		t.Error(err)
	}
	warm(t, c)
	if s.connections != 1 {
		t.Errorf("%d connections", s.connections)
	}
}

// wire counts connections where they are made and closed.
type wire struct {
	mu           sync.Mutex
	dialled      int
	open, atOnce int
}

func (w *wire) dial(ctx context.Context, network, address string) (net.Conn, error) {
	w.change(1)
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		w.change(-1)
		return nil, err
	}
	return &countedConn{conn, sync.OnceFunc(func() { w.change(-1) })}, nil
}

func (w *wire) change(by int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dialled += max(0, by)
	w.open += by
	w.atOnce = max(w.atOnce, w.open)
}

//nolint:paralleltest // it counts goroutines
func TestConnectionsAreReused(t *testing.T) {
	before := runtime.NumGoroutine()
	const parallel, rounds = 50, 30
	for _, http2 := range []bool{false, true} {
		s := serve(t, http2, func(w http.ResponseWriter, r *http.Request, n int) {
			switch {
			case r.Method == http.MethodDelete:
				w.WriteHeader(http.StatusNoContent)
			case n%5 == 0: // an error, larger than what go-retryablehttp would drain
				w.WriteHeader([]int{404, 503, 500, 422}[n/5%4])
				_, _ = w.Write(bytes.Repeat([]byte("sorry "), 2000))
			default:
				_, _ = fmt.Fprintf(w, `{"id":"%d"}`, n)
			}
		})
		var wire wire
		ctx := WithDialer(t.Context(), wire.dial)
		c := clientOf(t, s)
		for range rounds {
			var group sync.WaitGroup
			for range parallel {
				group.Go(func() {
					var out struct{ ID string }
					_, _ = c.Do(ctx, get("vms"), &out)
					_, _ = c.Do(ctx, post("vms"), &out)
					_, _ = c.Do(ctx, Request{Method: "DELETE", Path: []string{"vms"}}, nil)
				})
			}
			group.Wait()
		}
		// net/http gives up one whose writing goroutine got no processor for 50 ms, so a few may be replaced where a machine is busy.
		if wire.atOnce > parallel || wire.dialled > parallel+10 {
			t.Errorf("HTTP/2 %v: %d connections, %d at once, for %d requests at once", http2, wire.dialled, wire.atOnce, parallel)
		}
		c.transport.(*http.Transport).CloseIdleConnections()
		s.Close()
	}
	for deadline := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<20)
			t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
		}
	}
}

// Connections whose dial takes longer than a request are where net/http alone makes more of them than it needs.
func TestSlowDialsMakeNoMoreConnectionsThanNeeded(t *testing.T) {
	t.Parallel()
	const parallel, rounds = 10, 30
	s := serve(t, false, func(http.ResponseWriter, *http.Request, int) {})
	var wire wire
	ctx := WithDialer(t.Context(), func(ctx context.Context, network, address string) (net.Conn, error) {
		<-time.After(20 * time.Millisecond)
		return wire.dial(ctx, network, address)
	})
	c := clientOf(t, s)
	var group sync.WaitGroup
	for range parallel {
		group.Go(func() {
			for range rounds {
				if _, err := c.Do(ctx, get("vms"), nil); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if wire.atOnce > parallel {
		t.Errorf("%d connections at once for %d requests at once", wire.atOnce, parallel)
	}
}
