package opensandbox

import (
	"net/http"
	"reflect"
	"strings"
	"testing"
)

// "resourceRequests in create (K8s only; omitted = requests equal limits)"; "extensions echoed by create and GET".
func TestNewerKeepsAndEchoes(t *testing.T) {
	t.Parallel()
	c := serve(t, Options{Newer: true, Kubernetes: true})
	created := c.do("POST", "/v1/sandboxes", plain(object{
		"resourceRequests": object{"cpu": "100m"}, "extensions": object{"imagePullPolicy": "Always"},
	})).want(http.StatusAccepted)
	want := object{"imagePullPolicy": "Always"}
	if got := c.get("/v1/sandboxes/" + created.text("id")).json()["extensions"]; !reflect.DeepEqual(got, want) || !reflect.DeepEqual(created.json()["extensions"], want) {
		t.Errorf("extensions: %v and %s", got, created)
	}
	sandbox, _ := c.service.Sandbox(created.text("id"))
	if sandbox.Requests["cpu"] != "100m" || sandbox.Limits["cpu"] != "1" {
		t.Errorf("requests %v, limits %v", sandbox.Requests, sandbox.Limits)
	}
}

// "lifecycle.preStart, lifecycle.periodic[], default 60 s each; never echoed". A hook that fails keeps the entrypoint from starting.
func TestNewerLifecycle(t *testing.T) {
	t.Parallel()
	c := serve(t, Options{Newer: true})
	id := c.create(object{"env": object{"A": "1"}, "lifecycle": object{
		"preStart": object{"command": []string{"sh", "-c", "echo $A > /tmp/prepared"}},
		"periodic": []object{{"name": "save", "schedule": "@every 30s", "command": []string{"true"}, "timeoutSeconds": 300}},
	}})
	if _, echoed := c.get("/v1/sandboxes/" + id).json()["lifecycle"]; echoed {
		t.Error("lifecycle is echoed")
	}
	sandbox, _ := c.service.Sandbox(id)
	if sandbox.Request.PreStart.TimeoutSeconds != 60 || sandbox.Request.Periodic[0].TimeoutSeconds != 300 || sandbox.Request.Periodic[0].Schedule != "@every 30s" {
		t.Errorf("hooks: %+v", sandbox.Request)
	}
	url, _ := c.endpoint(id, "44772")
	if output, _ := c.run(url, "cat /tmp/prepared"); output != "1\n" {
		t.Errorf("what the hook did: %q", output)
	}
	failing := c.create(object{"lifecycle": object{"preStart": object{"command": []string{"sh", "-c", "exit 9"}}}})
	if got := c.get("/v1/sandboxes/"+failing).text("status", "message"); !strings.Contains(got, "code 9") {
		t.Errorf("a failed hook: %s", got)
	}
	hook := func(more object) object { return object{"lifecycle": object{"preStart": more}} }
	for want, change := range map[string]object{
		"body.lifecycle.preStart.command: missing: Field required":                                               hook(object{}),
		"body.lifecycle.preStart.timeoutSeconds: less_than_equal: Input should be less than or equal to 10800":   hook(object{"command": []string{"a"}, "timeoutSeconds": 10801}),
		"body.lifecycle.periodic.0.timeoutSeconds: less_than_equal: Input should be less than or equal to 300":   {"lifecycle": object{"periodic": []object{{"name": "n", "schedule": "s", "command": []string{"a"}, "timeoutSeconds": 301}}}},
		"body.lifecycle.periodic.0.name: string_too_short: String should have at least 1 character":              {"lifecycle": object{"periodic": []object{{"name": "", "schedule": "s", "command": []string{"a"}}}}},
		"body.lifecycle.preStart.command: too_short: List should have at least 1 item after validation, not 0":   hook(object{"command": []string{}}),
		"body.lifecycle.preStart.timeoutSeconds: greater_than_equal: Input should be greater than or equal to 1": hook(object{"command": []string{"a"}, "timeoutSeconds": 0}),
		"body.lifecycle.periodic: value_error: Value error, periodic hook name \"n\" is not unique":              {"lifecycle": object{"periodic": []object{{"name": "n", "schedule": "s", "command": []string{"a"}}, {"name": "n", "schedule": "s", "command": []string{"a"}}}}},
	} {
		if got := c.do("POST", "/v1/sandboxes", plain(change)).details(); !reflect.DeepEqual(got, []string{want}) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// "Create may answer 429 with Retry-After (pool capacity), and 403 KUBERNETES::QUOTA_EXCEEDED"; "allocation {mode, poolRef, state} in
// GET"; "Pool mode rejects snapshotId, networkPolicy, platform, volumes, credentialProxy.enabled".
func TestNewerPools(t *testing.T) {
	t.Parallel()
	c := serve(t, Options{Newer: true, Kubernetes: true, MaxSandboxes: 2})
	c.service.AddPool("warm", Capacity{PoolMax: 1}, true)
	id := c.do("POST", "/v1/sandboxes", fromPool(nil)).want(http.StatusAccepted).text("id")
	if got := c.get("/v1/sandboxes/" + id).json()["allocation"]; !reflect.DeepEqual(got, object{"mode": "pool", "poolRef": "warm", "state": "allocated"}) {
		t.Errorf("allocation %v", got)
	}
	got := c.do("POST", "/v1/sandboxes", fromPool(nil)).wantError(http.StatusTooManyRequests, "KUBERNETES::POOL_CAPACITY_EXHAUSTED")
	if got.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	c.create(nil)
	c.do("POST", "/v1/sandboxes", plain(nil)).wantError(http.StatusForbidden, "KUBERNETES::QUOTA_EXCEEDED")
	for name, change := range map[string]object{
		"snapshotId":              {"snapshotId": "s"},
		"networkPolicy":           {"networkPolicy": object{}},
		"platform":                {"platform": object{"os": "linux", "arch": "amd64"}},
		"volumes":                 {"volumes": []object{{"name": "a", "mountPath": "/a", "pvc": object{"claimName": "c"}}}},
		"credentialProxy.enabled": {"credentialProxy": object{"enabled": true}},
		"lifecycle":               {"lifecycle": object{"preStart": object{"command": []string{"a"}}}},
	} {
		want := []string{"body: value_error: Value error, " + name + " cannot be used together with poolRef."}
		if got := c.do("POST", "/v1/sandboxes", fromPool(change)).details(); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// "credentialProxy needs the server's egress mode dns+nft".
func TestNewerCredentialProxy(t *testing.T) {
	t.Parallel()
	want := object{"networkPolicy": object{"defaultAction": "deny"}, "credentialProxy": object{"enabled": true}}
	c := serve(t, Options{Newer: true})
	c.do("POST", "/v1/sandboxes", plain(want)).wantError(http.StatusBadRequest, "SANDBOX::INVALID_PARAMETER")
	c = serve(t, Options{Newer: true, EgressMode: "dns+nft"})
	id := c.create(want)
	url, header := c.endpoint(id, "18080")
	if got := c.direct().get(url+"/policy", header...).text("enforcementMode"); got != "dns+nft" {
		t.Errorf("enforcement %s", got)
	}
	if sandbox, _ := c.service.Sandbox(id); !sandbox.Request.CredentialProxy {
		t.Error("credentialProxy isn't kept")
	}
}

// The mirror's answers have none of it.
func TestMirrorEchoesNothingNewer(t *testing.T) {
	t.Parallel()
	c := serve(t, Options{Kubernetes: true})
	c.service.AddPool("warm", Capacity{PoolMax: 1}, true)
	got := c.get("/v1/sandboxes/" + c.do("POST", "/v1/sandboxes", fromPool(nil)).text("id")).json()
	if got["extensions"] != nil || got["allocation"] != nil {
		t.Errorf("GET: %v", got)
	}
}
