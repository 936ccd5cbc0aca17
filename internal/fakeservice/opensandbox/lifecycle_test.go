package opensandbox

import (
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"
)

func (c *client) patch(id string, body any) answer {
	c.t.Helper()
	return c.do("PATCH", "/v1/sandboxes/"+id+"/metadata", body)
}

// "A metadata key deleted by PATCH comes back with the next PATCH if it was set at create".
func TestDeletedMetadataComesBack(t *testing.T) {
	t.Parallel()
	c := serve(t, Options{})
	id := c.create(object{"metadata": object{"a": "1", "b": "2"}})
	for _, step := range []struct {
		patch string
		want  object
	}{
		{`{"a":null,"c":"3"}`, object{"b": "2", "c": "3"}},
		{`{"d":"4"}`, object{"a": "1", "b": "2", "c": "3", "d": "4"}},
		{`{"a":null,"c":null}`, object{"b": "2", "d": "4"}},
		{`{}`, object{"a": "1", "b": "2", "d": "4"}},
		{`{"a":null,"b":null,"d":null}`, nil},
	} {
		got := c.patch(id, step.patch).want(http.StatusOK).json()["metadata"]
		if metadata, _ := got.(object); !reflect.DeepEqual(metadata, step.want) {
			t.Errorf("%s: %v, want %v", step.patch, got, step.want)
		}
		if read := c.get("/v1/sandboxes/" + id).json()["metadata"]; !reflect.DeepEqual(read, got) {
			t.Errorf("%s: GET tells %v", step.patch, read)
		}
	}
}

// "PATCH with a reserved key: code INVALID_METADATA_LABEL; create: SANDBOX::INVALID_METADATA_LABEL".
func TestPatchRefusals(t *testing.T) {
	t.Parallel()
	c := serve(t, Options{})
	id := c.create(nil)
	c.patch(id, `{"opensandbox.io/id":"x"}`).wantError(http.StatusBadRequest, "INVALID_METADATA_LABEL")
	c.patch(id, `{"opensandbox.io/id":null}`).wantError(http.StatusBadRequest, "INVALID_METADATA_LABEL")
	c.patch(id, `{"a":"x y"}`).wantError(http.StatusBadRequest, "SANDBOX::INVALID_METADATA_LABEL")
	c.patch("nobody", `{"a":"x"}`).wantError(http.StatusNotFound, "DOCKER::SANDBOX_NOT_FOUND")
	if got := c.patch(id, `{"a":1}`).details(); !reflect.DeepEqual(got, []string{"body.a: string_type: Input should be a valid string"}) {
		t.Errorf("a number: %q", got)
	}
	c.patch(id, `[]`).details()
	c.patch(id, ``).details()
}

// "Renew may shorten, may pass the maximum; past time 400 DOCKER::INVALID_EXPIRATION; manual-cleanup sandbox 409 with that same code".
func TestRenew(t *testing.T) {
	t.Parallel()
	c := serve(t, Options{MaxTimeout: 600})
	id, manual := c.create(object{"timeout": 600}), c.create(nil)
	renew := func(id, until string) answer {
		return c.do("POST", "/v1/sandboxes/"+id+"/renew-expiration", object{"expiresAt": until})
	}
	renew(id, "2026-06-16T12:00:00Z").want(http.StatusOK)
	renew(id, "2026-06-15T12:02:00Z").want(http.StatusOK)
	const code = "DOCKER::INVALID_EXPIRATION"
	renew(id, "2026-06-15T12:00:00Z").wantError(http.StatusBadRequest, code)
	renew(manual, "2026-06-16T12:00:00Z").wantError(http.StatusConflict, code)
	renew("nobody", "2026-06-15T11:00:00Z").wantError(http.StatusNotFound, "DOCKER::SANDBOX_NOT_FOUND")
	renew(id, "soon").details()
	c.do("POST", "/v1/sandboxes/"+id+"/renew-expiration", object{}).details()
	c.clock.Advance(2 * time.Minute)
	c.get("/v1/sandboxes/" + id).want(http.StatusNotFound)
}

// "A Docker server's restart forgets renewals: read back after renewing".
func TestRestartForgetsRenewals(t *testing.T) {
	t.Parallel()
	c := serve(t, Options{})
	id := c.create(object{"timeout": 600})
	c.do("POST", "/v1/sandboxes/"+id+"/renew-expiration", object{"expiresAt": "2026-06-16T12:00:00Z"}).want(http.StatusOK)
	c.service.Restart()
	if got := c.get("/v1/sandboxes/" + id).text("expiresAt"); got != "2026-06-15T12:10:00.123456Z" {
		t.Errorf("expiresAt %s", got)
	}
}

// "Pause: 202 and Paused at once. Pause when paused: 500. Pause when exited: 409. Resume when running: 409." "PATCH of metadata and
// renewal work while Paused." "TTL runs on while Paused".
func TestPauseAndResume(t *testing.T) {
	t.Parallel()
	c := serve(t, Options{})
	id, ended := c.create(object{"timeout": 600}), c.create(object{"entrypoint": []string{"true"}})
	act := func(id, what string) answer { return c.do("POST", "/v1/sandboxes/"+id+"/"+what, nil) }
	act(id, "resume").wantError(http.StatusConflict, "DOCKER::SANDBOX_NOT_PAUSED")
	if got := act(id, "pause").want(http.StatusAccepted); len(got.body) != 0 {
		t.Errorf("pause answers %q", got)
	}
	if c.state(id) != "Paused" {
		t.Errorf("state %s", c.state(id))
	}
	act(id, "pause").wantError(http.StatusInternalServerError, "DOCKER::SANDBOX_PAUSE_FAILED")
	act(ended, "pause").wantError(http.StatusConflict, "DOCKER::SANDBOX_NOT_RUNNING")
	act(ended, "resume").wantError(http.StatusConflict, "DOCKER::SANDBOX_NOT_PAUSED")
	act("nobody", "pause").want(http.StatusNotFound)
	c.patch(id, `{"a":"1"}`).want(http.StatusOK)
	c.do("POST", "/v1/sandboxes/"+id+"/renew-expiration", object{"expiresAt": "2026-06-15T12:01:00Z"}).want(http.StatusOK)
	act(id, "resume").want(http.StatusAccepted)
	if c.state(id) != "Running" {
		t.Errorf("state %s", c.state(id))
	}
	act(id, "pause").want(http.StatusAccepted)
	c.clock.Advance(time.Minute)
	c.get("/v1/sandboxes/" + id).want(http.StatusNotFound)
}

// Docker freezes: a call to what is inside waits for the resume.
func TestCallsWaitWhileDockerIsPaused(t *testing.T) {
	t.Parallel()
	c := serve(t, Options{})
	id := c.create(nil)
	execd, _ := c.endpoint(id, "44772")
	c.do("POST", "/v1/sandboxes/"+id+"/pause", nil).want(http.StatusAccepted)
	arrived := make(chan struct{}, 2)
	c.service.Faults().OnRequest(func(faultsRecord) { arrived <- struct{}{} })
	pinged := make(chan answer)
	go func() {
		got, _ := c.try(c.direct().request("GET", execd+"/ping", nil))
		pinged <- got
	}()
	<-arrived
	select {
	case got := <-pinged:
		t.Fatalf("a frozen execd answered %d", got.status)
	default:
	}
	c.do("POST", "/v1/sandboxes/"+id+"/resume", nil).want(http.StatusAccepted)
	(<-pinged).want(http.StatusOK)
}

// "Two deletes at once: one 204, the other 500 DOCKER::SANDBOX_DELETE_FAILED "removal already in progress"; GET then 404".
func TestTwoDeletesAtOnce(t *testing.T) {
	t.Parallel()
	c := serve(t, Options{DeleteDelay: time.Second})
	id := c.create(nil)
	first := make(chan answer)
	go func() {
		got, _ := c.try(c.request("DELETE", "/v1/sandboxes/"+id, nil))
		first <- got
	}()
	waitUntil(t, func() bool { return len(c.clock.Slept()) == 1 })
	second := c.do("DELETE", "/v1/sandboxes/"+id, nil).wantError(http.StatusInternalServerError, "DOCKER::SANDBOX_DELETE_FAILED")
	if !strings.Contains(second.text("message"), "already in progress") {
		t.Errorf("message: %s", second)
	}
	c.clock.Advance(time.Second)
	if got := (<-first).want(http.StatusNoContent); len(got.body) != 0 {
		t.Errorf("204 with %q", got)
	}
	c.get("/v1/sandboxes/"+id).wantError(http.StatusNotFound, "DOCKER::SANDBOX_NOT_FOUND")
	c.do("DELETE", "/v1/sandboxes/"+id, nil).wantError(http.StatusNotFound, "DOCKER::SANDBOX_NOT_FOUND")
}

// What happens outside the API: someone removes, stops or changes a sandbox.
func TestFromOutside(t *testing.T) {
	t.Parallel()
	c := serve(t, Options{})
	killed, exited, broken, odd := c.create(nil), c.create(nil), c.create(nil), c.create(object{"timeout": 60})
	c.service.Kill(killed)
	c.service.Exit(exited, 137)
	c.service.Fail(broken, "the disk broke")
	c.service.SetStatus(odd, Status{State: "Hibernated", Reason: "NIGHT"})
	if c.service.Kill(killed) {
		t.Error("killed twice")
	}
	c.get("/v1/sandboxes/" + killed).want(http.StatusNotFound)
	for id, want := range map[string]string{exited: "Sandbox container exited with code 137.", broken: "the disk broke", odd: ""} {
		if got := c.get("/v1/sandboxes/"+id).text("status", "message"); got != want {
			t.Errorf("message %q, want %q", got, want)
		}
	}
	if got, _ := c.list("state=hibernated"); !reflect.DeepEqual(got, []string{odd}) {
		t.Errorf("an odd state: %v", got)
	}
	c.service.SetStatus(odd, Status{})
	c.service.SetExpiry(odd, start.Add(time.Hour))
	if got := c.get("/v1/sandboxes/" + odd); got.text("expiresAt") != "2026-06-15T13:00:00.123456Z" || got.text("status", "state") != "Running" {
		t.Errorf("%s", got)
	}
	c.service.Expire(odd)
	c.get("/v1/sandboxes/" + odd).want(http.StatusNotFound)
}

// The same seed gives the same ids, another one others.
func TestSeed(t *testing.T) {
	t.Parallel()
	ids := map[string]int{}
	for _, seed := range []int64{7, 7, 8} {
		c := serve(t, Options{Seed: seed})
		ids[c.create(nil)]++
	}
	if len(ids) != 2 {
		t.Errorf("ids: %v", ids)
	}
}

// Thousands of sandboxes are no burden.
func TestThousandsOfSandboxes(t *testing.T) {
	t.Parallel()
	c := serve(t, Options{})
	for i := range 2000 {
		c.create(object{"metadata": object{"n": fmt.Sprint(i)}, "timeout": 60 + i})
	}
	if got, page := c.list("pageSize=200&page=10&metadata=n%3D7"); got != nil || page["totalItems"] != 1.0 {
		t.Errorf("%v, %v", got, page)
	}
	c.clock.Advance(time.Hour)
	if n := len(c.service.Sandboxes()); n != 0 {
		t.Errorf("%d are left", n)
	}
}
