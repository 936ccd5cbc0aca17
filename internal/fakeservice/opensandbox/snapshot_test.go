package opensandbox

import (
	"net/http"
	"reflect"
	"testing"
	"time"
)

func (c *client) snapshot(id string) string {
	c.t.Helper()
	return c.do("POST", "/v1/sandboxes/"+id+"/snapshots", nil).want(http.StatusAccepted).text("id")
}

// "Snapshots: 202 Creating, Ready in about a second; source paused 409; unknown 404".
func TestSnapshotLifecycle(t *testing.T) {
	t.Parallel()
	c := serve(t, Options{SnapshotDelay: time.Second})
	source := c.create(nil)
	path := "/v1/sandboxes/" + source + "/snapshots"
	got := c.do("POST", path, object{"name": "before-import"}).want(http.StatusAccepted)
	id := got.text("id")
	if got.text("status", "state") != "Creating" || got.text("sandboxId") != source || got.text("name") != "before-import" || got.header.Get("Location") != "/v1/snapshots/"+id {
		t.Errorf("create: %s, %v", got, got.header)
	}
	c.do("DELETE", "/v1/snapshots/"+id, nil).wantError(http.StatusConflict, "SNAPSHOT::INVALID_STATE")
	restore := plain(object{"image": nil, "snapshotId": id})
	c.do("POST", "/v1/sandboxes", restore).wantError(http.StatusConflict, "SNAPSHOT::NOT_READY")
	c.clock.Advance(time.Second)
	if got := c.get("/v1/snapshots/"+id).text("status", "state"); got != "Ready" {
		t.Errorf("state %s", got)
	}
	if got := c.do("POST", path, object{"name": ""}).details(); !reflect.DeepEqual(got, []string{"body.name: string_too_short: String should have at least 1 character"}) {
		t.Errorf("empty name: %q", got)
	}
	c.do("POST", "/v1/sandboxes/"+source+"/pause", nil).want(http.StatusAccepted)
	c.do("POST", path, nil).wantError(http.StatusConflict, "SNAPSHOT::INVALID_SOURCE_STATE")
	c.do("POST", "/v1/sandboxes/nobody/snapshots", nil).wantError(http.StatusNotFound, "DOCKER::SANDBOX_NOT_FOUND")
	c.do("DELETE", "/v1/snapshots/"+id, nil).want(http.StatusNoContent)
	for _, method := range []string{"GET", "DELETE"} {
		c.do(method, "/v1/snapshots/"+id, nil).wantError(http.StatusNotFound, "SNAPSHOT::NOT_FOUND")
	}
	c.do("POST", "/v1/sandboxes", restore).wantError(http.StatusNotFound, "SNAPSHOT::NOT_FOUND")
}

// "A restored sandbox inherits the source's create-time metadata and env and, where it sets none, its expiry"; "The create answer hides
// the expiry that a restored sandbox inherits; GET shows it"; "Restored GET has snapshotId, no image"; files come along.
func TestRestoredSandboxInherits(t *testing.T) {
	t.Parallel()
	c := serve(t, Options{Images: map[string]Image{"python:3.11": {Labels: map[string]string{"from": "image"}}}})
	source := c.create(object{"metadata": object{"a": "create", "b": "create"}, "env": object{"X": "source", "Y": "source"}, "timeout": 600})
	c.patch(source, `{"b":"patched","c":"patched"}`).want(http.StatusOK)
	url, _ := c.endpoint(source, "44772")
	c.run(url, "echo kept > /tmp/file")
	id := c.snapshot(source)
	c.run(url, "echo later > /tmp/file")

	created := c.do("POST", "/v1/sandboxes", plain(object{"image": nil, "entrypoint": nil, "snapshotId": id, "metadata": object{"a": "own"}, "env": object{"Y": "own"}})).want(http.StatusAccepted)
	if _, there := created.json()["expiresAt"]; there || !reflect.DeepEqual(created.json()["metadata"], object{"a": "own"}) {
		t.Errorf("create: %s", created)
	}
	if got := created.json()["entrypoint"]; !reflect.DeepEqual(got, []any{"tail", "-f", "/dev/null"}) {
		t.Errorf("entrypoint %v", got)
	}
	read := c.get("/v1/sandboxes/" + created.text("id"))
	if read.text("snapshotId") != id || read.json()["image"] != nil || read.text("expiresAt") != "2026-06-15T12:10:00.123456Z" {
		t.Errorf("GET: %s", read)
	}
	if want := (object{"a": "own", "b": "create", "from": "image"}); !reflect.DeepEqual(read.json()["metadata"], want) {
		t.Errorf("metadata: %v", read.json()["metadata"])
	}
	url, _ = c.endpoint(created.text("id"), "44772")
	if output, _ := c.run(url, "cat /tmp/file; echo $X $Y"); output != "kept\nsource own\n" {
		t.Errorf("files and env: %q", output)
	}
}

// "a source without expiry and a restore with one: renew answers 409".
func TestRenewOfASandboxWhoseSourceNeverExpires(t *testing.T) {
	t.Parallel()
	c := serve(t, Options{})
	id := c.create(object{"image": nil, "snapshotId": c.snapshot(c.create(nil)), "timeout": 600})
	if got := c.get("/v1/sandboxes/" + id).text("expiresAt"); got == "" {
		t.Error("no expiry")
	}
	c.do("POST", "/v1/sandboxes/"+id+"/renew-expiration", object{"expiresAt": "2026-06-16T12:00:00Z"}).wantError(http.StatusConflict, "DOCKER::INVALID_EXPIRATION")
	c.clock.Advance(10 * time.Minute)
	c.get("/v1/sandboxes/" + id).want(http.StatusNotFound)
}

// "delete while used 409 SNAPSHOT::DELETE_CONFLICT"; the real server has marked it Deleting by then, so it can't be restored any more.
func TestSnapshotInUse(t *testing.T) {
	t.Parallel()
	c := serve(t, Options{})
	id := c.snapshot(c.create(nil))
	restored := c.create(object{"image": nil, "snapshotId": id})
	c.do("DELETE", "/v1/snapshots/"+id, nil).wantError(http.StatusConflict, "SNAPSHOT::DELETE_CONFLICT")
	if got := c.get("/v1/snapshots/"+id).text("status", "state"); got != "Deleting" {
		t.Errorf("state %s", got)
	}
	c.do("POST", "/v1/sandboxes", plain(object{"image": nil, "snapshotId": id})).wantError(http.StatusConflict, "SNAPSHOT::NOT_READY")
	c.do("DELETE", "/v1/sandboxes/"+restored, nil).want(http.StatusNoContent)
	c.do("DELETE", "/v1/snapshots/"+id, nil).want(http.StatusNoContent)
}

// "list by sandboxId, state, page"; "sandbox states match whatever their case, snapshot states don't"; the newer generation has name.
func TestSnapshotList(t *testing.T) {
	t.Parallel()
	for _, newer := range []bool{false, true} {
		c := serve(t, Options{Newer: newer})
		source := c.create(nil)
		first, second, other := c.snapshot(source), c.snapshot(source), c.snapshot(c.create(nil))
		named := c.do("POST", "/v1/sandboxes/"+source+"/snapshots", object{"name": "n"}).text("id")
		byName := []string{named}
		if !newer {
			byName = []string{named, other, second, first} // the mirror doesn't know the parameter
		}
		for query, want := range map[string][]string{
			"":                                    {named, other, second, first},
			"sandboxId=" + source:                 {named, second, first},
			"state=Ready&pageSize=1&page=2":       {other},
			"state=ready":                         nil,
			"state=Creating&state=Failed":         nil,
			"name=n":                              byName,
			"sandboxId=nobody&state=Ready":        nil,
			"sandboxId=" + source + "&pageSize=2": {named, second},
		} {
			got := c.get("/v1/snapshots?" + query).want(http.StatusOK).ids()
			if !reflect.DeepEqual(got, want) {
				t.Errorf("newer %t, %q: %v, want %v", newer, query, got, want)
			}
		}
		c.get("/v1/snapshots?pageSize=201").details()
		if got := len(c.service.Snapshots()); got != 4 {
			t.Errorf("%d snapshots", got)
		}
		c.service.DropSnapshot(first)
		c.get("/v1/snapshots/" + first).want(http.StatusNotFound)
	}
}

// "SNAPSHOT:: NOT_IMPLEMENTED (501)", by switch.
func TestSnapshotsNotImplemented(t *testing.T) {
	t.Parallel()
	c := serve(t, Options{NoSnapshots: true})
	c.do("POST", "/v1/sandboxes/"+c.create(nil)+"/snapshots", nil).wantError(http.StatusNotImplemented, "SNAPSHOT::NOT_IMPLEMENTED")
}
