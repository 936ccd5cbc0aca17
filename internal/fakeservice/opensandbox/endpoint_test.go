package opensandbox

import (
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"
)

// "Docker bridge: 8080 mapped, others host:execdPort/proxy/{port}", "Endpoints come without a scheme". The fake has one address, so
// the mapped ports are paths of it.
func TestDockerEndpoints(t *testing.T) {
	t.Parallel()
	c := serve(t, Options{})
	id := c.create(nil)
	host := strings.TrimPrefix(c.url, "http://")
	for port, want := range map[string]string{
		"8080":  host + "/direct/" + id + "/8080",
		"44772": host + "/direct/" + id + "/44772/proxy/44772",
		"5900":  host + "/direct/" + id + "/44772/proxy/5900",
	} {
		got := c.get("/v1/sandboxes/" + id + "/endpoints/" + port).want(http.StatusOK)
		if got.text("endpoint") != want {
			t.Errorf("port %s: %s", port, got)
		}
		if _, there := got.json()["headers"]; there {
			t.Errorf("port %s has headers: %s", port, got)
		}
	}
	proxied := c.get("/v1/sandboxes/" + id + "/endpoints/44772?use_server_proxy=true").want(http.StatusOK)
	if got := proxied.text("endpoint"); got != host+"/sandboxes/"+id+"/proxy/44772" {
		t.Errorf("proxied: %s", got)
	}
	sandbox, _ := c.service.Sandbox(id)
	if !reflect.DeepEqual(sandbox.Endpoints, []int{5900, 8080, 44772}) {
		t.Errorf("looked up: %v", sandbox.Endpoints)
	}
}

// "Endpoint of a port nobody listens on: 200 all the same, also for an exited sandbox. Port 0 or 70000: 400. expires: 400; with the
// server proxy 400".
func TestEndpointQuirks(t *testing.T) {
	t.Parallel()
	c := serve(t, Options{})
	id := c.create(object{"entrypoint": []string{"false"}})
	c.service.ClosePort(id, 9000)
	at := func(rest string) answer { return c.get("/v1/sandboxes/" + id + "/endpoints/" + rest) }
	at("9000").want(http.StatusOK)
	at("0").wantError(http.StatusBadRequest, "DOCKER::INVALID_PORT")
	at("70000").wantError(http.StatusBadRequest, "DOCKER::INVALID_PORT")
	at("99999999999999999999").wantError(http.StatusBadRequest, "DOCKER::INVALID_PORT")
	at("9000?expires=1893456000").wantError(http.StatusBadRequest, "SANDBOX::API_NOT_SUPPORTED")
	at("9000?expires=1893456000&use_server_proxy=true").wantError(http.StatusBadRequest, "SANDBOX::INVALID_PARAMETER")
	c.get("/v1/sandboxes/nobody/endpoints/80").wantError(http.StatusNotFound, "DOCKER::SANDBOX_NOT_FOUND")
	if got := at("web").details(); !reflect.DeepEqual(got, []string{"path.port: int_parsing: Input should be a valid integer, unable to parse string as an integer"}) {
		t.Errorf("a word: %q", got)
	}
	at("80?use_server_proxy=perhaps").details()
}

// The address that endpoints are built from can be given, for a fake behind another name.
func TestEndpointsOfAGivenURL(t *testing.T) {
	t.Parallel()
	c := serve(t, Options{URL: "https://sandbox.example:8443/"})
	id := c.create(nil)
	if got := c.get("/v1/sandboxes/" + id + "/endpoints/8080").text("endpoint"); got != "sandbox.example:8443/direct/"+id+"/8080" {
		t.Errorf("endpoint %s", got)
	}
}

// "The server-proxy route asks for no API key", by switch it does (public #1686).
func TestServerProxyAuthentication(t *testing.T) {
	t.Parallel()
	for asks, status := range map[bool]int{false: http.StatusOK, true: http.StatusUnauthorized} {
		c := serve(t, Options{APIKey: "secret-key", ProxyAuth: asks})
		id := c.create(nil)
		for _, prefix := range []string{"", "/v1"} {
			path := prefix + "/sandboxes/" + id + "/proxy/44772/ping"
			c.get(path).want(http.StatusOK)
			c.direct().get(path).want(status)
		}
	}
}

// The proxy keeps the server's credentials back and passes the rest on, both ways.
func TestServerProxyPassesOn(t *testing.T) {
	t.Parallel()
	c := serve(t, Options{APIKey: "secret-key"})
	id := c.create(nil)
	c.get("/v1/sandboxes/"+id+"/proxy/44772/ping", "Cookie", "a=b", "Authorization", "Bearer secret-key").want(http.StatusOK)
	if leaks := c.service.KeyLeaks(); leaks != nil {
		t.Errorf("the proxy passed the key on: %v", leaks)
	}
	url := c.url + "/sandboxes/" + id + "/proxy/44772"
	if output, code := c.run(url, "echo through; exit 4"); output != "through\n" || code != "4" {
		t.Errorf("command through the proxy: %q, %s", output, code)
	}
	c.do("POST", url+"/command", object{"command": ""}).wantError(http.StatusBadRequest, "INVALID_REQUEST_BODY")
	c.get("/v1/sandboxes/"+id+"/proxy/8080/a/b", "Upgrade", "websocket").want(http.StatusBadRequest)
	c.get("/v1/sandboxes/" + id + "/proxy/8080").want(http.StatusOK)
}

// "Proxy connect failure 502"; "A proxied call to an exited sandbox: 500 NETWORK_MODE_ENDPOINT_UNAVAILABLE"; public #1665: 502 before
// execd listens, or for ever after out-of-memory.
func TestServerProxyFailures(t *testing.T) {
	t.Parallel()
	c := serve(t, Options{ExecdDelay: 2 * time.Second})
	id, exited := c.create(nil), c.create(object{"entrypoint": []string{"false"}})
	ping := func(id string) answer { return c.get("/v1/sandboxes/" + id + "/proxy/44772/ping") }
	ping(id).wantError(http.StatusBadGateway, "GENERAL::UNKNOWN_ERROR")
	c.clock.Advance(2 * time.Second)
	ping(id).want(http.StatusOK)
	ping(exited).wantError(http.StatusInternalServerError, "DOCKER::NETWORK_MODE_ENDPOINT_UNAVAILABLE")
	ping("nobody").wantError(http.StatusNotFound, "DOCKER::SANDBOX_NOT_FOUND")
	c.service.RunOutOfMemory(id)
	ping(id).want(http.StatusBadGateway)
	if c.state(id) != "Running" {
		t.Error("out of memory shows in the state")
	}
	c.service.ClosePort(id, 9000)
	c.get("/v1/sandboxes/" + id + "/proxy/9000").want(http.StatusBadGateway)
	c.get("/v1/sandboxes/"+id+"/proxy/70000").wantError(http.StatusBadRequest, "DOCKER::INVALID_PORT")
}

// A direct endpoint whose process isn't there: the connection ends without an answer, and execd's proxy says 502.
func TestDirectFailures(t *testing.T) {
	t.Parallel()
	c := serve(t, Options{ExecdDelay: 2 * time.Second})
	id := c.create(nil)
	execd, _ := c.endpoint(id, "44772")
	web, _ := c.endpoint(id, "9000")
	direct := c.direct()
	if got, err := direct.try(direct.request("GET", execd+"/ping", nil)); err == nil {
		t.Errorf("execd answers before it listens: %d", got.status)
	}
	c.clock.Advance(2 * time.Second)
	direct.get(execd + "/ping").want(http.StatusOK)
	c.service.ClosePort(id, 9000)
	if got := direct.get(web).want(http.StatusBadGateway).String(); got != "Bad Gateway\n" {
		t.Errorf("502: %q", got)
	}
	if got, err := direct.try(direct.request("GET", c.url+"/direct/"+id+"/9000", nil)); err == nil {
		t.Errorf("a port that Docker doesn't map answers %d", got.status)
	}
	c.service.Kill(id)
	if got, err := direct.try(direct.request("GET", execd+"/ping", nil)); err == nil {
		t.Errorf("a removed sandbox answers %d", got.status)
	}
}

// "The API key goes to execd only in server-proxy mode, never to a direct endpoint": a request that brings it, under whatever name, is
// noted, and helps no more than one without.
func TestLeakedKeysAreNoted(t *testing.T) {
	t.Parallel()
	c := serve(t, Options{APIKey: "secret-key", ExecdToken: "execd-token"})
	id := c.create(nil)
	execd, _ := c.endpoint(id, "44772")
	c.direct().get(execd+"/ping", execdTokenHeader, "execd-token").want(http.StatusOK)
	if leaks := c.service.KeyLeaks(); leaks != nil {
		t.Fatalf("leaks: %v", leaks)
	}
	c.get(execd + "/ping").want(http.StatusUnauthorized)
	c.direct().get(execd+"/ping", execdTokenHeader, "secret-key").want(http.StatusUnauthorized)
	got := map[string]bool{}
	for _, leak := range c.service.KeyLeaks() {
		got[leak.Header] = leak.Sandbox == id
	}
	want := map[string]bool{http.CanonicalHeaderKey(apiKeyHeader): true, http.CanonicalHeaderKey(execdTokenHeader): true}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("leaks: %v", got)
	}
}
