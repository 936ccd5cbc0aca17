package opensandbox

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// deviation is where the real server doesn't do what its own description says, so that the fake doesn't either. Each has the sentence of
// the reference, or the place in the real server's source, that it stands on.
type deviation struct {
	description string
	operation   string // regular expression for "METHOD /path/{template} STATUS"
	violation   string // regular expression for what is wrong
	reason      string
}

var deviations = []deviation{
	{"lifecycle", ` 422$`, `^status`, `"body-model failures are 422 {"detail":[...]}"`},
	{"lifecycle", ` 429$`, `^status`, `"obey Retry-After": a gateway in front may slow clients down; the newer description has 429 for create`},
	{"lifecycle", ` 503$`, `^status`, `"503 when over its concurrency limit"`},
	{"lifecycle", ` (401|405)$`, `^method`, `the framework's own answer for a method that a route hasn't; "a 401 comes before" it`},
	{"lifecycle", `^POST /sandboxes 404$`, `^status`, `"Snapshots: unknown 404", also when a sandbox is made of it`},
	{"lifecycle", `^POST /sandboxes 403$`, `^status`, `"Create may answer 403 KUBERNETES::QUOTA_EXCEEDED" (newer generation)`},
	{"lifecycle", `^POST /sandboxes 504$`, `^status`, `"else 504 and it deletes the workload"`},
	{"lifecycle", `^POST /sandboxes 202$`, `missing property 'entrypoint'`, `a pool's create without an entrypoint answers without one: null members are left out`},
	{"lifecycle", `^POST /sandboxes/{sandboxId}/snapshots 501$`, `^status`, `"SNAPSHOT:: NOT_IMPLEMENTED (501)"`},
	{"lifecycle", `.`, `^X-Request-ID`, `"X-Request-ID: the client's is echoed, else 32 hex digits", which is no UUID in its usual form`},
	{"execd", ` 401$`, `^status`, `the access token's refusal isn't described`},
	{"execd", ` 404$`, `^(status|content type|method)`, `the web framework's own answer for what is no route`},
	{"execd", `^POST /files/upload 500$`, `^status`, `an owner or a mode that can't be is a RUNTIME_ERROR in execd's source`},
	{"egress", ` 502$`, `^status`, `execd's own proxy, when no sidecar listens`},
	{"egress", `^PUT /policy`, `^method`, `"PUT replaces the whole"`},
	{"egress", `^GET /policy 200$`, `^/policy/egress: .*null`, `"after PUT without rules egress is null"`},
	{"egress", `^GET /policy 200$`, `^/policy/defaultAction: `, `"defaultAction: maybe is accepted"`},
}

// accepted are requests that the description forbids and the real server takes.
var accepted = []deviation{
	{"", "", `^/networkPolicy/defaultAction: `, `"Silently accepted: defaultAction: maybe"`},
	{"", "", `^/platform/(os|arch): `, `the server brings the platform into lower case before it looks at it`},
	{"", "", `^/env/.*: .*null`, `the server's model has nullable values and drops them`},
	{"", "", `^/image/auth: `, `members that the server's model doesn't know are dropped`},
}

// excused reports whether the violation is one of the known ones.
func excused(list []deviation, description, operation, violation string) bool {
	for _, d := range list {
		if d.description == description && regexp.MustCompile(d.operation).MatchString(operation) && regexp.MustCompile(d.violation).MatchString(violation) {
			return true
		}
	}
	return false
}

var (
	uuidForm   = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
	insidePath = regexp.MustCompile(`^/direct/[^/]+/(\d+)(?:/proxy/(\d+))?(/.*)?$`)
)

// described finds the description that a request falls under, and its path there. Pools, diagnostics and the proxy have none here.
func described(path string) (name, inner string) {
	if parts := insidePath.FindStringSubmatch(path); parts != nil {
		port := parts[1]
		if parts[2] != "" {
			port = parts[2]
		}
		return map[string]string{"44772": "execd", "18080": "egress"}[port], parts[3]
	}
	inner = strings.TrimPrefix(path, "/v1")
	if strings.HasPrefix(inner, "/gateway") || strings.Contains(inner, "/proxy/") || strings.Contains(inner, "/diagnostics/") {
		return "", ""
	}
	return "lifecycle", inner
}

// conform holds an answer of any test against the official description, when there is one, and a create that was accepted against the
// description of its request.
func conform(t *testing.T, request *http.Request, a answer) {
	t.Helper()
	name, path := described(request.URL.Path)
	all := descriptions(t)
	if all == nil || name == "" {
		return
	}
	d := all[name]
	template, found := d.operation(path)
	if !found {
		return
	}
	operation := fmt.Sprintf("%s %s %d", request.Method, template, a.status)
	violations := d.violations(request.Method, template, a)
	if id := a.header.Get("X-Request-ID"); name == "lifecycle" && !uuidForm.MatchString(id) {
		violations = append(violations, "X-Request-ID: "+id)
	}
	for _, violation := range violations {
		if !excused(deviations, name, operation, violation) {
			t.Errorf("not as %s describes it: %s: %s: %s", name, operation, violation, a.body)
		}
	}
	if operation == "POST /sandboxes 202" {
		conformCreate(t, d, request)
	}
}

func conformCreate(t *testing.T, d *description, request *http.Request) {
	t.Helper()
	reader, err := request.GetBody()
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	for _, violation := range d.check("/components/schemas/CreateSandboxRequest", text) {
		if !excused(accepted, "", "", violation) {
			t.Errorf("a create that the description forbids was accepted: %s: %s", violation, text)
		}
	}
}

// TestConformance drives both manners through every operation of the lifecycle description. The answers are held against it where they
// come in, as those of all tests are.
func TestConformance(t *testing.T) {
	t.Parallel()
	all := descriptions(t)
	if all == nil {
		t.Logf("%s isn't set: there was no official API description to hold the fake against", specsVariable)
		return
	}
	for _, options := range []Options{{}, {Kubernetes: true}, {Newer: true, Kubernetes: true, Ingress: IngressURI}, {Async: true}} {
		c := serve(t, options)
		c.everyOperation()
	}
	d := all["lifecycle"]
	paths, _ := d.document["paths"].(map[string]any)
	d.mu.Lock()
	defer d.mu.Unlock()
	for template, operations := range paths {
		methods, _ := operations.(object)
		for method := range methods {
			if method == "parameters" {
				continue
			}
			good := 0
			for status := range map[string]bool{"200": true, "202": true, "204": true} {
				good += d.seen[strings.ToUpper(method)+" "+template+" "+status]
			}
			if good == 0 {
				t.Errorf("no good answer of %s %s was held against the description", method, template)
			}
		}
	}
	held := 0
	for _, count := range d.seen {
		held += count
	}
	t.Logf("%d answers were held against the official description so far", held)
}

func (c *client) everyOperation() {
	id := c.create(object{"timeout": 600, "metadata": object{"a": "1"}, "platform": object{"os": "linux", "arch": "amd64"}, "networkPolicy": object{"defaultAction": "deny"}})
	path := "/v1/sandboxes/" + id
	c.get(path).want(http.StatusOK)
	c.get("/v1/sandboxes").want(http.StatusOK)
	c.patch(id, `{"b":"2"}`).want(http.StatusOK)
	c.do("POST", path+"/renew-expiration", object{"expiresAt": "2026-06-15T13:00:00Z"}).want(http.StatusOK)
	c.get(path + "/endpoints/18080").want(http.StatusOK)
	snapshot := c.do("POST", path+"/snapshots", object{"name": "s"}).want(http.StatusAccepted).text("id")
	c.get("/v1/snapshots/" + snapshot).want(http.StatusOK)
	c.get("/v1/snapshots").want(http.StatusOK)
	c.get("/v1/sandboxes/" + c.create(object{"image": nil, "entrypoint": nil, "snapshotId": snapshot})).want(http.StatusOK)
	c.do("POST", path+"/pause", nil).want(http.StatusAccepted)
	c.get(path).want(http.StatusOK)
	c.do("POST", path+"/resume", nil).want(http.StatusAccepted)
	c.do("POST", path+"/resume", nil).want(http.StatusConflict)
	c.do("DELETE", path, nil).want(http.StatusNoContent)
	c.get(path).want(http.StatusNotFound)
	for _, sandbox := range c.service.Sandboxes() {
		c.do("DELETE", "/v1/sandboxes/"+sandbox.ID, nil).want(http.StatusNoContent)
	}
	c.do("DELETE", "/v1/snapshots/"+snapshot, nil).want(http.StatusNoContent)
}

// Every deviation names its reason.
func TestDeviationsAreNamed(t *testing.T) {
	t.Parallel()
	for _, d := range append(append([]deviation(nil), deviations...), accepted...) {
		if d.reason == "" || d.violation == "" {
			t.Errorf("a deviation without a reason: %+v", d)
		}
	}
	if text, err := json.Marshal(Secret{"x"}); err != nil || string(text) != `"(secret)"` {
		t.Errorf("a secret prints as %s, %v", text, err)
	}
}
