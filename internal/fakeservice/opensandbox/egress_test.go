package opensandbox

import (
	"net/http"
	"strings"
	"testing"
)

// egress starts a sandbox with a policy and gives what its sidecar's endpoint tells.
func egress(t *testing.T, options Options, policy object) (all *client, id, url string, header []string) {
	t.Helper()
	all = serve(t, options)
	id = all.create(object{"networkPolicy": policy})
	url, header = all.endpoint(id, "18080")
	return all, id, url + "/policy", header
}

// "18080 with a network policy adds header OPENSANDBOX-EGRESS-AUTH"; "no token: 401 text/plain".
func TestEgressToken(t *testing.T) {
	t.Parallel()
	all, id, url, header := egress(t, Options{APIKey: "secret-key"}, object{"defaultAction": "deny"})
	if len(header) != 2 || header[0] != "OPENSANDBOX-EGRESS-AUTH" || len(header[1]) != 32 {
		t.Fatalf("headers of the endpoint: %v", header)
	}
	c := all.direct()
	c.get(url, header...).want(http.StatusOK)
	got := c.get(url).want(http.StatusUnauthorized)
	if got.String() != "unauthorized\n" || !strings.HasPrefix(got.header.Get("Content-Type"), "text/plain") {
		t.Errorf("401: %q, %v", got, got.header)
	}
	if _, header := all.endpoint(id, "44772"); header != nil {
		t.Errorf("another port has headers: %v", header)
	}
	if _, header := all.endpoint(all.create(nil), "18080"); header != nil {
		t.Errorf("a sandbox without a policy has headers: %v", header)
	}
	proxied := all.url + "/sandboxes/" + id + "/proxy/18080/policy" // the proxy doesn't add the token for anyone
	c.get(proxied).want(http.StatusUnauthorized)
	c.get(proxied, header...).want(http.StatusOK)
}

// "PATCH puts the new rules first; after PUT without rules egress is null; defaultAction: maybe is accepted".
func TestEgressPolicy(t *testing.T) {
	t.Parallel()
	all, id, url, header := egress(t, Options{}, object{"defaultAction": "Deny", "egress": []object{{"action": "allow", "target": "a.example"}, {"action": "deny", "target": "b.example"}}})
	c := all.direct()
	const ok = `{"status":"ok","mode":"enforcing","enforcementMode":"dns"`
	want := func(policy string) {
		t.Helper()
		if got := c.get(url, header...).want(http.StatusOK).String(); got != ok+`,"policy":`+policy+`}` {
			t.Errorf("policy: %s\nwant %s", got, policy)
		}
	}
	want(`{"egress":[{"action":"allow","target":"a.example"},{"action":"deny","target":"b.example"}],"defaultAction":"deny"}`)
	got := c.do("PATCH", url, `[{"action":"allow","target":"B.example"},{"action":"deny","target":"c.example"},{"action":"allow","target":"c.example"}]`, header...).want(http.StatusOK)
	if got.String() != ok+`}` {
		t.Errorf("PATCH: %s", got)
	}
	want(`{"egress":[{"action":"allow","target":"B.example"},{"action":"deny","target":"c.example"},{"action":"allow","target":"a.example"}],"defaultAction":"deny"}`)
	c.do("DELETE", url, `["b.EXAMPLE","nobody"]`, header...).want(http.StatusOK)
	want(`{"egress":[{"action":"deny","target":"c.example"},{"action":"allow","target":"a.example"}],"defaultAction":"deny"}`)
	c.do("PUT", url, `{"defaultAction":"maybe"}`, header...).want(http.StatusOK)
	want(`{"egress":null,"defaultAction":"maybe"}`)
	c.do("PUT", url, `{"defaultAction":"allow","egress":[]}`, header...).want(http.StatusOK)
	if got := c.get(url, header...).String(); got != `{"status":"ok","mode":"allow_all","enforcementMode":"dns","policy":{"egress":[],"defaultAction":"allow"}}` {
		t.Errorf("allow all: %s", got)
	}
	if got := c.do("PUT", url, "", header...).want(http.StatusOK); got.text("reason") == "" || got.text("mode") != "deny_all" {
		t.Errorf("reset: %s", got)
	}
	for method, body := range map[string]string{"PUT": `{"egress":[{"action":"maybe","target":"a"}]}`, "PATCH": `[]`, "DELETE": `[]`} {
		if got := c.do(method, url, body, header...).want(http.StatusBadRequest); !strings.HasPrefix(got.header.Get("Content-Type"), "text/plain") {
			t.Errorf("%s: %v", method, got.header)
		}
	}
	sandbox, _ := all.service.Sandbox(id)
	if sandbox.Policy.DefaultAction != "deny" || sandbox.Policy.Egress != nil {
		t.Errorf("policy of the accessor: %+v", sandbox.Policy)
	}
	all.service.SetPolicy(id, NetworkPolicy{DefaultAction: "allow"})
	if got := c.get(url, header...).text("mode"); got != "allow_all" {
		t.Errorf("changed from outside: %s", got)
	}
}

// "Runtime rules vanish on pause/resume (public #1366): reconcile after resume".
func TestEgressRulesVanishOnResume(t *testing.T) {
	t.Parallel()
	for _, kubernetes := range []bool{false, true} {
		all, id, url, header := egress(t, Options{Kubernetes: kubernetes}, object{"defaultAction": "deny"})
		all.direct().do("PUT", url, `{"defaultAction":"allow"}`, header...).want(http.StatusOK)
		for _, what := range []string{"pause", "resume"} {
			all.do("POST", "/v1/sandboxes/"+id+"/"+what, nil).want(http.StatusAccepted)
		}
		all.state(id)
		url, header = all.endpoint(id, "18080")
		if got := all.direct().get(url+"/policy", header...).want(http.StatusOK).text("mode"); got != "deny_all" {
			t.Errorf("kubernetes %t: after the resume the mode is %s", kubernetes, got)
		}
	}
}

// A sandbox without a policy has no sidecar.
func TestNoSidecarWithoutAPolicy(t *testing.T) {
	t.Parallel()
	c := serve(t, Options{})
	url, _ := c.endpoint(c.create(nil), "18080")
	c.direct().get(url + "/policy").want(http.StatusBadGateway)
}
