package opensandbox

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/apiclient"
	"github.com/agentenv/terraform-provider-gpuvm/internal/clock"
)

const testKey = "k-0123456789abcdef"

// recorded is one request that a test server got.
type recorded struct {
	Method, Path, Query, Body, ContentType string
	Header                                 http.Header
}

// server is a loopback server that records what it is asked and answers as the test says.
type server struct {
	URL string

	mu       sync.Mutex
	requests []recorded
}

func (s *server) last(t *testing.T) recorded {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.requests) == 0 {
		t.Fatal("nothing was asked")
	}
	return s.requests[len(s.requests)-1]
}

func (s *server) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.requests)
}

func serve(t testing.TB, handler http.HandlerFunc) (*Client, *server) {
	t.Helper()
	s := &server{}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		s.requests = append(s.requests, recorded{r.Method, r.URL.EscapedPath(), r.URL.RawQuery, string(body), r.Header.Get("Content-Type"), r.Header.Clone()})
		s.mu.Unlock()
		handler(w, r)
	}))
	t.Cleanup(web.Close)
	s.URL = web.URL
	base, err := BaseURL(web.URL, "http")
	if err != nil {
		t.Fatal(err)
	}
	transport, err := apiclient.New(apiclient.Config{
		BaseURL:        base,
		Credential:     apiclient.Credential{Header: KeyHeader, Secret: testKey},
		RequestTimeout: 10 * time.Second,
		Clock:          clock.NewInstant(time.Now()),
	})
	if err != nil {
		t.Fatal(err)
	}
	return New(transport, base), s
}

// answer gives the same answer to everything.
func answer(status int, contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

const jsonType = "application/json"
