package apiclient

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/clock"
)

const token = "t0ken/with+odd=chars&more"

// service is a test server that knows what reached it.
type service struct {
	*httptest.Server
	mu          sync.Mutex
	requests    []*http.Request
	connections int
}

func (s *service) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.requests)
}

func (s *service) last() *http.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests[len(s.requests)-1]
}

// connectionKey is under which a request's context has its connection.
type connectionKey struct{}

// serve starts a service; handle gets the number of the request, from 1.
func serve(t *testing.T, http2 bool, handle func(w http.ResponseWriter, r *http.Request, n int)) *service {
	t.Helper()
	s := &service{}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // net/http sees a client go only once it has the whole request
		r.Body = io.NopCloser(bytes.NewReader(body))
		s.mu.Lock()
		s.requests = append(s.requests, r)
		n := len(s.requests)
		s.mu.Unlock()
		handle(w, r, n)
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // of the connections that are to break
	s.Config.ConnContext = func(ctx context.Context, conn net.Conn) context.Context {
		s.mu.Lock()
		s.connections++
		s.mu.Unlock()
		return context.WithValue(ctx, connectionKey{}, conn)
	}
	if http2 {
		s.EnableHTTP2 = true
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(s.Close)
	return s
}

// reset breaks a request's connection as a crash of the service would.
func reset(r *http.Request) {
	conn := r.Context().Value(connectionKey{}).(net.Conn)
	if secure, ok := conn.(interface{ NetConn() net.Conn }); ok {
		conn = secure.NetConn()
	}
	_ = conn.(*net.TCPConn).SetLinger(0)
	_ = conn.Close()
}

func testConfig(url string) Config {
	return Config{
		BaseURL: url, Credential: Credential{Header: "Authorization", Scheme: "Bearer ", Secret: token}, UserAgent: "test/1",
		RequestTimeout: time.Minute, MaxRetries: 4, RetryMinDelay: time.Second, RetryMaxDelay: 30 * time.Second,
		Clock: clock.NewInstant(time.Now()),
	}
}

func clientOf(t *testing.T, s *service) *Client {
	t.Helper()
	config := testConfig(s.URL)
	if s.TLS != nil {
		config.CACertificate = pemOf(s.Certificate().Raw, "CERTIFICATE")
	}
	return must(t, config)
}

func must(t *testing.T, config Config) *Client {
	t.Helper()
	c, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// failing does a request that must fail with an *Error.
func failing(t *testing.T, c *Client, r Request) *Error {
	t.Helper()
	_, err := c.Do(t.Context(), r, nil)
	return asError(t, err)
}

func asError(t *testing.T, err error) *Error {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want an *Error", err)
	}
	return e
}

func get(path ...string) Request { return Request{Method: http.MethodGet, Path: path} }

func post(path ...string) Request {
	return Request{Method: http.MethodPost, Path: path, JSON: map[string]string{"image": "ubuntu"}}
}

// protocols runs a test over HTTP/1.1 and HTTP/2.
func protocols(t *testing.T, run func(t *testing.T, http2 bool)) {
	t.Helper()
	for name, http2 := range map[string]bool{"HTTP/1.1": false, "HTTP/2": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, http2)
		})
	}
}
