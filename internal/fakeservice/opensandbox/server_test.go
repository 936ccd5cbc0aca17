package opensandbox

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"
)

// "Port 8080; routes at / and /v1; /health without auth; no api_key configured = no auth".
func TestRoutesStandAtTheRootAndBelowV1(t *testing.T) {
	t.Parallel()
	c := serve(t, Options{})
	id := c.create(nil)
	for _, path := range []string{"/sandboxes/", "/v1/sandboxes/"} {
		c.get(path + id).want(http.StatusOK)
	}
	if got := c.get("/health").want(http.StatusOK).String(); got != `{"status":"healthy"}` {
		t.Errorf("health: %s", got)
	}
	c.get("/v1/health").want(http.StatusNotFound)
}

// "401 MISSING_API_KEY, INVALID_API_KEY", "A 401 comes before a 404 for unknown routes", "/health without auth".
func TestAuthenticationComesFirst(t *testing.T) {
	t.Parallel()
	c := serve(t, Options{APIKey: "secret-key"})
	c.get("/v1/sandboxes").want(http.StatusOK)
	c.key = ""
	for _, path := range []string{"/v1/sandboxes", "/v1/nowhere", "/sandboxes/", "/v1/sandboxes/x/pause"} {
		c.get(path).wantError(http.StatusUnauthorized, "MISSING_API_KEY")
	}
	c.get("/health").want(http.StatusOK)
	c.key = "wrong"
	c.get("/v1/nowhere").wantError(http.StatusUnauthorized, "INVALID_API_KEY")
}

// "unknown route 404 {"detail":"Not Found"}; /sandboxes/ 307", and what the framework says of a method that a route hasn't.
func TestUnknownRoutes(t *testing.T) {
	t.Parallel()
	c := serve(t, Options{})
	if got := c.get("/v1/nowhere").want(http.StatusNotFound).String(); got != `{"detail":"Not Found"}` {
		t.Errorf("unknown route: %s", got)
	}
	got := c.get("/v1/sandboxes/?page=2").want(http.StatusTemporaryRedirect)
	if location := got.header.Get("Location"); location != c.url+"/v1/sandboxes?page=2" {
		t.Errorf("redirected to %s", location)
	}
	got = c.do("PUT", "/v1/sandboxes", nil).want(http.StatusMethodNotAllowed)
	if got.String() != `{"detail":"Method Not Allowed"}` || !strings.Contains(got.header.Get("Allow"), "POST") {
		t.Errorf("wrong method: %s, Allow %q", got, got.header.Get("Allow"))
	}
	c.get("/v1/sandboxes/a%2Fb").want(http.StatusNotFound) // the server decodes the path before it looks for a route
}

// "X-Request-ID: the client's is echoed, else 32 hex digits".
func TestRequestID(t *testing.T) {
	t.Parallel()
	c := serve(t, Options{APIKey: "secret-key"})
	if got := c.get("/v1/sandboxes", "X-Request-ID", " mine ").header.Get("X-Request-ID"); got != "mine" {
		t.Errorf("echoed %q", got)
	}
	c.key = ""
	for _, path := range []string{"/health", "/v1/sandboxes", "/v1/nowhere"} {
		if got := c.get(path).header.Get("X-Request-ID"); !regexp.MustCompile(`^[0-9a-f]{32}$`).MatchString(got) {
			t.Errorf("%s: request id %q", path, got)
		}
	}
}

// A server that slows its clients down says for how long.
func TestRateLimit(t *testing.T) {
	t.Parallel()
	c := serve(t, Options{RateLimit: 2, RateWindow: 1500 * time.Millisecond})
	c.get("/v1/sandboxes").want(http.StatusOK)
	c.get("/v1/sandboxes").want(http.StatusOK)
	got := c.get("/v1/sandboxes").wantError(http.StatusTooManyRequests, "RATE_LIMITED")
	if after := got.header.Get("Retry-After"); after != "2" {
		t.Errorf("Retry-After %q", after)
	}
	c.clock.Advance(1500 * time.Millisecond)
	c.get("/v1/sandboxes").want(http.StatusOK)
}

// "503 when over its concurrency limit", in the words of the web server, which are no JSON.
func TestConcurrencyLimit(t *testing.T) {
	t.Parallel()
	c := serve(t, Options{Kubernetes: true, ReadyDelay: time.Second, MaxConcurrent: 1})
	done := make(chan answer)
	go func() {
		got, _ := c.try(c.request("POST", "/v1/sandboxes", plain(nil)))
		done <- got
	}()
	waitUntil(t, func() bool { return len(c.service.Sandboxes()) == 1 })
	if got := c.get("/v1/sandboxes").want(http.StatusServiceUnavailable); got.String() != "Service Unavailable" {
		t.Errorf("503: %s", got)
	}
	c.clock.Advance(time.Second)
	(<-done).want(http.StatusAccepted)
	c.get("/v1/sandboxes").want(http.StatusOK)
}
