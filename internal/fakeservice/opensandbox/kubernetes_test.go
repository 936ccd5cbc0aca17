package opensandbox

import (
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/clock"
)

// "image.uri verbatim; entrypoint: K8s prefixes /opt/opensandbox/bootstrap.sh; metadata: every label of the resource that isn't
// reserved". "Resources: K8s gpu -> nvidia.com/gpu; other keys pass through".
func TestKubernetesEcho(t *testing.T) {
	t.Parallel()
	c := serve(t, Options{Kubernetes: true})
	created := c.do("POST", "/v1/sandboxes", plain(object{"metadata": object{"team": "x"}, "resourceLimits": object{"cpu": "500m", "gpu": "2", "gpu_type": "4"}})).want(http.StatusAccepted)
	if got := created.json()["entrypoint"]; !reflect.DeepEqual(got, []any{"tail", "-f", "/dev/null"}) {
		t.Errorf("create's entrypoint %v", got)
	}
	read := c.get("/v1/sandboxes/" + created.text("id"))
	if got := read.json()["entrypoint"]; !reflect.DeepEqual(got, []any{"/opt/opensandbox/bootstrap.sh", "tail", "-f", "/dev/null"}) {
		t.Errorf("entrypoint %v", got)
	}
	if read.text("image", "uri") != "python:3.11" || read.text("createdAt") != "2026-06-15T12:00:00Z" {
		t.Errorf("GET: %s", read)
	}
	if want := (object{"team": "x", "sandbox.opensandbox.io/template": "default"}); !reflect.DeepEqual(read.json()["metadata"], want) {
		t.Errorf("metadata %v", read.json()["metadata"])
	}
	sandbox, _ := c.service.Sandbox(created.text("id"))
	if want := map[string]string{"cpu": "500m", "nvidia.com/gpu": "2", "gpu_type": "4"}; !reflect.DeepEqual(sandbox.Limits, want) || !reflect.DeepEqual(sandbox.Requests, want) {
		t.Errorf("limits %v, requests %v", sandbox.Limits, sandbox.Requests)
	}
	c.get("/v1/sandboxes/nobody").wantError(http.StatusNotFound, "KUBERNETES::SANDBOX_NOT_FOUND")
}

// Labels can be changed on Kubernetes, so that a deleted key stays deleted.
func TestKubernetesMetadataStaysDeleted(t *testing.T) {
	t.Parallel()
	c := serve(t, Options{Kubernetes: true, ExtraLabels: map[string]string{}})
	id := c.create(object{"metadata": object{"a": "1"}})
	c.patch(id, `{"a":null}`).want(http.StatusOK)
	if got := c.patch(id, `{"b":"2"}`).json()["metadata"]; !reflect.DeepEqual(got, object{"b": "2"}) {
		t.Errorf("metadata %v", got)
	}
	c.patch(id, `{"opensandbox.io/x":"2"}`).wantError(http.StatusBadRequest, "INVALID_METADATA_LABEL")
}

// "K8s waits until Running/Allocated"; the workload can be seen meanwhile. "States: Pending, Allocated (not in the spec), Running".
func TestKubernetesCreateWaits(t *testing.T) {
	t.Parallel()
	c := serve(t, Options{Kubernetes: true, ReadyDelay: 5 * time.Second, AllocatedFor: 3 * time.Second})
	made := make(chan answer)
	go func() {
		got, _ := c.try(c.request("POST", "/v1/sandboxes", plain(nil)))
		made <- got
	}()
	waitUntil(t, func() bool { return len(c.clock.Slept()) == 1 })
	ids, _ := c.list("state=pending")
	if len(ids) != 1 {
		t.Fatalf("pending: %v", ids)
	}
	c.clock.Advance(5 * time.Second)
	created := (<-made).want(http.StatusAccepted)
	if created.text("status", "state") != "Running" || created.text("id") != ids[0] {
		t.Errorf("create: %s", created)
	}
	if got := c.state(ids[0]); got != "Allocated" {
		t.Errorf("GET says %s", got)
	}
	c.clock.Advance(3 * time.Second)
	if got := c.state(ids[0]); got != "Running" {
		t.Errorf("GET says %s", got)
	}
}

// "else 504 and it deletes the workload": a pod that is too slow, an image that can't be pulled (public #640), quota (public #1750).
func TestKubernetesCreateTimesOut(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		options Options
		change  object
		says    string
	}{
		"slow":     {Options{ReadyDelay: 2 * time.Minute}, nil, "Last state: Pending"},
		"image":    {Options{}, object{"image": object{"uri": "no-such-image"}}, "ImagePullBackOff"},
		"quota":    {Options{MaxSandboxes: 1}, nil, "QUOTA_EXCEEDED"},
		"no pool":  {Options{}, object{"image": nil, "entrypoint": nil, "extensions": object{"poolRef": "missing"}}, "Last state: Pending"},
		"ordered":  {Options{}, nil, "waiting for IP"},
		"timeouts": {Options{ReadyDelay: 2 * time.Second, CreateTimeout: time.Second}, nil, "Elapsed: 1.0s"},
	} {
		test.options.Kubernetes, test.options.Clock = true, clock.NewInstant(start)
		c := serve(t, test.options)
		left := 0
		if test.options.MaxSandboxes > 0 {
			c.create(nil)
			left = 1
		}
		if name == "ordered" {
			c.service.FailReadiness(1)
		}
		got := c.do("POST", "/v1/sandboxes", plain(test.change)).wantError(http.StatusGatewayTimeout, "KUBERNETES::POD_READY_TIMEOUT")
		if !strings.Contains(got.text("message"), test.says) {
			t.Errorf("%s: %s", name, got)
		}
		if n := len(c.service.Sandboxes()); n != left {
			t.Errorf("%s: %d sandboxes are left", name, n)
		}
	}
}

// What Kubernetes refuses that Docker swallows.
func TestKubernetesRefusals(t *testing.T) {
	t.Parallel()
	c := serve(t, Options{Kubernetes: true})
	try := func(more object) answer { return c.do("POST", "/v1/sandboxes", plain(more)) }
	const parameter = "SANDBOX::INVALID_PARAMETER"
	try(object{"resourceLimits": object{"cpu": "abc"}}).wantError(http.StatusInternalServerError, "KUBERNETES::API_ERROR")
	try(object{"resourceLimits": object{"gpu": "all"}}).wantError(http.StatusBadRequest, parameter)
	try(object{"volumes": []object{{"name": "opensandbox-bin", "mountPath": "/x", "pvc": object{"claimName": "c"}}}}).wantError(http.StatusBadRequest, parameter)
	try(object{"secureAccess": true}).wantError(http.StatusBadRequest, parameter)
	if n := len(c.service.Sandboxes()); n != 0 {
		t.Errorf("%d sandboxes are left", n)
	}
}

// "Pause/resume: K8s commits the root file system: processes and memory are lost, the id stays." "resolve endpoints again after resume."
// "Resume only from Paused".
func TestKubernetesPauseAndResume(t *testing.T) {
	t.Parallel()
	c := serve(t, Options{Kubernetes: true, PauseDelay: time.Second, ResumeDelay: time.Second})
	id := c.create(nil)
	url, _ := c.endpoint(id, "44772")
	c.run(url, "echo kept > /tmp/file")
	job := c.events(url, object{"command": "sleep 100000", "background": true})[0].Text
	act := func(what string) answer { return c.do("POST", "/v1/sandboxes/"+id+"/"+what, nil) }
	refused := func(what string) { t.Helper(); act(what).wantError(http.StatusConflict, "KUBERNETES::INVALID_STATE") }
	refused("resume")
	act("pause").want(http.StatusAccepted)
	if c.state(id) != "Pausing" {
		t.Errorf("state %s", c.state(id))
	}
	refused("pause")
	refused("resume")
	c.clock.Advance(time.Second)
	if c.state(id) != "Paused" {
		t.Errorf("state %s", c.state(id))
	}
	refused("pause")
	c.get("/v1/sandboxes/"+id+"/endpoints/44772").wantError(http.StatusNotFound, "KUBERNETES::POD_IP_NOT_AVAILABLE")
	act("resume").want(http.StatusAccepted)
	if c.state(id) != "Resuming" {
		t.Errorf("state %s", c.state(id))
	}
	refused("resume")
	c.clock.Advance(time.Second)
	if c.state(id) != "Running" {
		t.Errorf("state %s", c.state(id))
	}
	if got, err := c.try(c.request("GET", url+"/ping", nil)); err == nil {
		t.Errorf("the old address answers %d", got.status)
	}
	again, _ := c.endpoint(id, "44772")
	if output, _ := c.run(again, "cat /tmp/file"); output != "kept\n" {
		t.Errorf("file after resume: %q", output)
	}
	c.get(again + "/command/status/" + job).want(http.StatusNotFound)
	c.service.Exit(id, 1)
	refused("pause")
	refused("resume")
	if got := c.get("/v1/sandboxes/" + id); got.text("status", "state") != "Failed" || got.text("status", "reason") != "FAILED" {
		t.Errorf("failed: %s", got)
	}
}

// "On K8s GET may answer 200 for a moment after DELETE".
func TestKubernetesDeleteLingers(t *testing.T) {
	t.Parallel()
	c := serve(t, Options{Kubernetes: true, DeleteDelay: time.Second})
	id := c.create(nil)
	c.do("DELETE", "/v1/sandboxes/"+id, nil).want(http.StatusNoContent)
	c.get("/v1/sandboxes/" + id).want(http.StatusOK)
	c.do("DELETE", "/v1/sandboxes/"+id, nil).want(http.StatusNoContent)
	c.clock.Advance(time.Second)
	c.get("/v1/sandboxes/" + id).want(http.StatusNotFound)
	c.do("DELETE", "/v1/sandboxes/"+id, nil).wantError(http.StatusNotFound, "KUBERNETES::SANDBOX_NOT_FOUND")
}

// A Kubernetes server looks at the time before it looks for the sandbox, and uses Docker's code for both of its refusals.
func TestKubernetesRenew(t *testing.T) {
	t.Parallel()
	c := serve(t, Options{Kubernetes: true})
	renew := func(id, until string) answer {
		return c.do("POST", "/v1/sandboxes/"+id+"/renew-expiration", object{"expiresAt": until})
	}
	renew("nobody", "2020-01-01T00:00:00Z").wantError(http.StatusBadRequest, "DOCKER::INVALID_EXPIRATION")
	renew(c.create(nil), "2030-01-01T00:00:00Z").wantError(http.StatusConflict, "DOCKER::INVALID_EXPIRATION")
	id := c.create(object{"timeout": 60})
	renew(id, "2030-01-01T00:00:00Z").want(http.StatusOK)
	c.service.Restart()
	if got := c.get("/v1/sandboxes/" + id).text("expiresAt"); got != "2030-01-01T00:00:00Z" {
		t.Errorf("a Kubernetes server forgets nothing: %s", got)
	}
}

// "gateway {id}-{port}.{domain}, or {addr}/{id}/{port}, or header OpenSandbox-Ingress-To": each leads to the sandbox.
func TestGateways(t *testing.T) {
	t.Parallel()
	for _, ingress := range []Ingress{IngressURI, IngressHeader, IngressWildcard} {
		c := serve(t, Options{Kubernetes: true, Ingress: ingress})
		id := c.create(nil)
		url, header := c.endpoint(id, "44772")
		request := c.direct().request("GET", url+"/ping", nil, header...)
		if ingress == IngressWildcard { // no resolver knows the name here
			if want := "http://" + id + "-44772." + GatewayDomain; !strings.HasPrefix(url, want) {
				t.Errorf("endpoint %s", url)
			}
			request.Host = request.URL.Host
			request.URL.Host = strings.TrimPrefix(c.url, "http://")
		}
		got, err := c.try(request)
		if err != nil || got.status != http.StatusOK {
			t.Errorf("%s: %v, %v: %s", ingress, err, got.status, got)
		}
		if ingress != IngressWildcard {
			c.get("/gateway/nobody/80", ingressHeader, "nobody-80").want(http.StatusNotFound)
		}
		c.get("/gateway", ingressHeader, "nonsense").want(http.StatusBadRequest)
	}
}

// "headers for secure access" and "signed with ?expires=": a secured sandbox asks for its token, or a signature of the route.
func TestSecureAccess(t *testing.T) {
	t.Parallel()
	c := serve(t, Options{Kubernetes: true, Ingress: IngressURI})
	id, open := c.create(object{"secureAccess": true}), c.create(nil)
	url, header := c.endpoint(id, "44772")
	if len(header) != 2 || header[0] != "OpenSandbox-Secure-Access" || len(header[1]) != 32 {
		t.Fatalf("headers %v", header)
	}
	direct := c.direct()
	direct.get(url+"/ping", header...).want(http.StatusOK)
	got := direct.get(url + "/ping").want(http.StatusUnauthorized)
	if !strings.HasPrefix(got.String(), "OpenSandbox Ingress: ") {
		t.Errorf("401: %s", got)
	}
	direct.get(url+"/ping", secureAccessHeader, "wrong").want(http.StatusUnauthorized)
	proxied := c.url + "/v1/sandboxes/" + id + "/proxy/44772/ping" // the proxy adds no credentials of the endpoint
	direct.get(proxied).want(http.StatusUnauthorized)
	direct.get(proxied, header...).want(http.StatusOK)

	signed := c.get("/v1/sandboxes/" + id + "/endpoints/44772?expires=1781528400").want(http.StatusOK) // 2026-06-15T13:00:00Z
	if _, there := signed.json()["headers"]; there {
		t.Errorf("a signed endpoint has headers: %s", signed)
	}
	link := "http://" + signed.text("endpoint") + "/ping"
	direct.get(link).want(http.StatusOK)
	direct.get(link[:len(link)-len("a/ping")] + "b/ping").want(http.StatusUnauthorized)
	direct.get(link, secureAccessHeader, "wrong").want(http.StatusUnauthorized)
	c.clock.Advance(time.Hour)
	direct.get(link).want(http.StatusUnauthorized)

	c.get("/v1/sandboxes/"+id+"/endpoints/44772?expires=1").wantError(http.StatusBadRequest, "SANDBOX::INVALID_PARAMETER")
	if _, header := c.endpoint(open, "44772"); header != nil {
		t.Errorf("an open sandbox has headers: %v", header)
	}
	plain := serve(t, Options{Kubernetes: true})
	plain.get("/v1/sandboxes/"+plain.create(nil)+"/endpoints/80?expires=1893456000").wantError(http.StatusBadRequest, "SANDBOX::INVALID_PARAMETER")
}
