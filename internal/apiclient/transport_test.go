package apiclient

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
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

// raw answers each connection with a text and closes it, which it says where the text is HTTP.
func raw(t *testing.T, answer string) *Client {
	t.Helper()
	answer = strings.Replace(answer, "\r\n", "\r\nConnection: close\r\n", 1)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			if r, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
				_, _ = io.Copy(io.Discard, r.Body) // what isn't read would make the close a reset
			}
			_, _ = io.WriteString(conn, answer)
			_ = conn.Close()
		}
	}()
	return must(t, testConfig("http://"+listener.Addr().String()))
}

func TestUnusableAnswers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer   string
		status   int
		want     string
		garbled  bool
		attempts int // of a GET
	}{
		"cut":            {"HTTP/1.1 201 Created\r\nContent-Length: 20\r\n\r\n{\"id\":", 201, "HTTP 201 Created: the answer was cut short: unexpected EOF", false, 5},
		"cut in a chunk": {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n{\"id\"", 200, "cut short", false, 5},
		"cut header":     {"HTTP/1.1 201 Crea", 0, "no answer: ", false, 5},
		"nothing":        {"", 0, "no answer: EOF", false, 5},
		"not HTTP":       {"SSH-2.0-OpenSSH_9.6\r\n", 0, "malformed HTTP", false, 5},
		"half of a JSON": {"HTTP/1.1 201 Created\r\n\r\n{\"id\":", 201, "is not the JSON that was asked for (6 bytes of type \"\")", true, 5},
		"a page":         {"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\n<html>", 200, "(6 bytes of type \"text/html\"): invalid character '<'", true, 5},
		"no body":        {"HTTP/1.1 204 No Content\r\n\r\n", 204, "(0 bytes of", true, 5},
		"another shape":  {"HTTP/1.1 201 Created\r\nContent-Length: 8\r\n\r\n{\"id\":1}", 201, "cannot unmarshal number", true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out struct{ ID string }
			for method, attempts := range map[string]int{"GET": c.attempts, "POST": 1} {
				answer, err := raw(t, c.answer).Do(t.Context(), Request{Method: method, Path: []string{"v1"}, JSON: 1}, &out)
				e := asError(t, err)
				if e.Status != c.status || errors.Is(err, ErrGarbled) != c.garbled || !strings.Contains(err.Error(), c.want) || e.Attempts != attempts || !e.Open() {
					t.Errorf("%s: %+v: %v", method, e, err)
				}
				if (answer != nil) != (c.status != 0) || answer != nil && answer.Status != c.status {
					t.Errorf("answer %+v", answer)
				}
			}
		})
	}
}

func TestCutErrorIsStillItsStatus(t *testing.T) {
	t.Parallel()
	e := failing(t, raw(t, "HTTP/1.1 404 Not Found\r\nContent-Length: 200\r\n\r\n{\"error\":\"no such"), get("v1"))
	if !IsGone(e) || e.Attempts != 1 || e.Err != nil || !strings.Contains(e.Error(), "not valid JSON") {
		t.Errorf("got %v", e)
	}
}

// endless writes until the client has gone.
func endless(w http.ResponseWriter, chunk []byte) {
	for {
		if _, err := w.Write(chunk); err != nil {
			return
		}
	}
}

func TestAnswersAreBounded(t *testing.T) {
	t.Parallel()
	protocols(t, func(t *testing.T, http2 bool) {
		for _, status := range []int{200, 404} {
			s := serve(t, http2, func(w http.ResponseWriter, _ *http.Request, _ int) {
				w.WriteHeader(status)
				endless(w, bytes.Repeat([]byte("x"), 64<<10))
			})
			r := get("endless")
			r.MaxAnswer = 1 << 20
			answer, err := clientOf(t, s).Do(t.Context(), r, nil)
			e := asError(t, err)
			if e.Attempts != 1 || IsTransient(e) || len(answer.Body) > 1<<20 || len(err.Error()) > 700 {
				t.Errorf("%d: %d bytes, %v", status, len(answer.Body), err)
			}
			if status == 200 && !strings.Contains(err.Error(), "longer than 1048576 bytes") {
				t.Error(err)
			}
		}
	})
}

func TestAnswerAsLongAsAllowed(t *testing.T) {
	t.Parallel()
	s := serve(t, false, func(w http.ResponseWriter, _ *http.Request, _ int) { _, _ = io.WriteString(w, "12345") })
	for limit, fits := range map[int64]bool{4: false, 5: true, 0: true, 1<<63 - 1: true} {
		r := get("x")
		r.MaxAnswer = limit
		answer, err := clientOf(t, s).Do(t.Context(), r, nil)
		if (err == nil) != fits || fits && string(answer.Body) != "12345" {
			t.Errorf("limit %d: %s, %v", limit, answer.Body, err)
		}
	}
}

// A service that compresses unasked gets no megabyte out of a kilobyte.
func TestGzipBombStaysSmall(t *testing.T) {
	t.Parallel()
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	_, _ = z.Write(make([]byte, 64<<20))
	_ = z.Close()
	for _, status := range []int{200, 500} {
		s := serve(t, false, func(w http.ResponseWriter, r *http.Request, _ int) {
			if r.Header.Get("Accept-Encoding") != "" {
				t.Error("compression was asked for")
			}
			w.Header().Set("Content-Encoding", "gzip")
			w.WriteHeader(status)
			_, _ = w.Write(bomb.Bytes())
		})
		var out any
		answer, err := clientOf(t, s).Do(t.Context(), Request{Method: "POST", Path: []string{"x"}}, &out)
		if e := asError(t, err); !e.Open() || len(answer.Body) > bomb.Len() || len(err.Error()) > 700 {
			t.Errorf("%d: %d bytes, %v", status, len(answer.Body), err)
		}
	}
}

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
