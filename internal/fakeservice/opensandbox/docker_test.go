package opensandbox

import (
	"net/http"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"
)

// "Create answers 202 with state already Running, no Location, no image", and GET never echoes what was asked for.
func TestCreateAnswersRunning(t *testing.T) {
	t.Parallel()
	c := serve(t, Options{})
	got := c.do("POST", "/v1/sandboxes", plain(object{
		"timeout": 600, "env": object{"A": "1"}, "metadata": object{"team": "x", "empty": ""}, "extensions": object{"k": "v"}, "networkPolicy": object{"defaultAction": "deny"},
	})).want(http.StatusAccepted)
	if got.text("status", "state") != "Running" || got.header.Get("Location") != "" || got.json()["image"] != nil {
		t.Errorf("create: %s, %v", got, got.header)
	}
	if id := got.text("id"); !regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(id) {
		t.Errorf("id %q is no UUID of version 4", id)
	}
	read := c.get("/v1/sandboxes/" + got.text("id")).want(http.StatusOK)
	for _, word := range []string{"env", "resourceLimits", "networkPolicy", "extensions", "timeout", "volumes", "secureAccess"} {
		if _, echoed := read.json()[word]; echoed {
			t.Errorf("GET echoes %s", word)
		}
	}
	if want := (object{"team": "x", "empty": ""}); !reflect.DeepEqual(read.json()["metadata"], want) {
		t.Errorf("metadata: %v", read.json()["metadata"])
	}
}

// "createdAt of create and of GET differ by milliseconds to 2 s: never compare them".
func TestCreatedAtDiffers(t *testing.T) {
	t.Parallel()
	c := serve(t, Options{})
	created := c.do("POST", "/v1/sandboxes", plain(nil)).want(http.StatusAccepted)
	read := c.get("/v1/sandboxes/" + created.text("id"))
	apart := moment(t, read.text("createdAt")).Sub(moment(t, created.text("createdAt")))
	if apart <= 0 || apart > 2*time.Second {
		t.Errorf("apart by %v", apart)
	}
}

// "Timestamps end in Z with six digits of fraction, or none (renewed to a whole second)." "No timeout: expiresAt is missing, not null".
func TestTimestamps(t *testing.T) {
	t.Parallel()
	c := serve(t, Options{})
	manual := c.get("/v1/sandboxes/" + c.create(object{"metadata": object{}}))
	if _, there := manual.json()["expiresAt"]; there {
		t.Errorf("expiresAt of a sandbox that never expires: %s", manual)
	}
	id := c.create(object{"timeout": 60})
	if got := c.get("/v1/sandboxes/" + id).text("expiresAt"); got != "2026-06-15T12:01:00.123456Z" {
		t.Errorf("expiresAt %s", got)
	}
	renewed := c.do("POST", "/v1/sandboxes/"+id+"/renew-expiration", object{"expiresAt": "2026-06-15T14:30:00+02:00"}).want(http.StatusOK)
	if renewed.String() != `{"expiresAt":"2026-06-15T12:30:00Z"}` || c.get("/v1/sandboxes/"+id).text("expiresAt") != "2026-06-15T12:30:00Z" {
		t.Errorf("renewed: %s", renewed)
	}
}

// "metadata: {} is missing in GET", while create echoes it.
func TestEmptyMetadata(t *testing.T) {
	t.Parallel()
	c := serve(t, Options{})
	created := c.do("POST", "/v1/sandboxes", plain(object{"metadata": object{}})).want(http.StatusAccepted)
	if _, there := created.json()["metadata"]; !there {
		t.Errorf("create: %s", created)
	}
	if _, there := c.get("/v1/sandboxes/" + created.text("id")).json()["metadata"]; there {
		t.Error("GET tells empty metadata")
	}
}

// "image.uri is the image's first tag: busybox comes back busybox:latest, or another alias." "Docker adds the image's LABELs".
func TestImageIsToldByItsFirstTagAndItsLabelsAreMetadata(t *testing.T) {
	t.Parallel()
	c := serve(t, Options{Images: map[string]Image{
		"app": {FirstTag: "registry.example/app:1.2", Labels: map[string]string{"maintainer": "someone", "org.opencontainers.image.title": "hidden", "com.docker.x": "hidden", "team": "image"}},
	}})
	for asked, shown := range map[string]string{
		"busybox": "busybox:latest", "docker.io/library/busybox:1": "busybox:1", "localhost:5000/a/b": "localhost:5000/a/b:latest",
		"python@sha256:0123456789abcdef0123": "sha256:0123456789",
	} {
		id := c.create(object{"image": object{"uri": asked}})
		if got := c.get("/v1/sandboxes/"+id).text("image", "uri"); got != shown {
			t.Errorf("%s is shown as %s, want %s", asked, got, shown)
		}
	}
	read := c.get("/v1/sandboxes/" + c.create(object{"image": object{"uri": "app"}, "metadata": object{"team": "mine"}}))
	if read.text("image", "uri") != "registry.example/app:1.2" {
		t.Errorf("image: %s", read)
	}
	if want := (object{"maintainer": "someone", "team": "mine"}); !reflect.DeepEqual(read.json()["metadata"], want) {
		t.Errorf("metadata: %v", read.json()["metadata"])
	}
}

// "Running is not healthy": an entrypoint that doesn't exist, and ones that end with 0 and with 3.
func TestEntrypointThatEnds(t *testing.T) {
	t.Parallel()
	c := serve(t, Options{ExitDelay: time.Second})
	for _, test := range []struct {
		entrypoint             []string
		state, reason, message string
	}{
		{[]string{"/no-such-program"}, "Failed", "CONTAINER_EXITED_ERROR", "Sandbox container exited with code 127."},
		{[]string{"true"}, "Terminated", "CONTAINER_EXITED", "Sandbox container exited successfully."},
		{[]string{"sh", "-c", "echo bye; exit 3"}, "Failed", "CONTAINER_EXITED_ERROR", "Sandbox container exited with code 3."},
	} {
		created := c.do("POST", "/v1/sandboxes", plain(object{"entrypoint": test.entrypoint})).want(http.StatusAccepted)
		if created.text("status", "state") != "Running" {
			t.Errorf("%v: create: %s", test.entrypoint, created)
		}
		c.clock.Advance(time.Second)
		read := c.get("/v1/sandboxes/" + created.text("id"))
		if read.text("status", "state") != test.state || read.text("status", "reason") != test.reason || read.text("status", "message") != test.message {
			t.Errorf("%v: %s", test.entrypoint, read)
		}
	}
	for _, entrypoint := range [][]string{{"python", "/app/main.py"}, {"sh", "-c", "node server.js"}, {"sleep", "infinity"}, {"bash", "-c", "while true; do sleep 1; done"}} {
		id := c.create(object{"entrypoint": entrypoint})
		c.clock.Advance(time.Second)
		if got := c.state(id); got != "Running" {
			t.Errorf("%v: %s", entrypoint, got)
		}
	}
}

// "A container that exited stays Terminated or Failed until its TTL or a delete." "Docker and K8s delete, GET then 404".
func TestExpiry(t *testing.T) {
	t.Parallel()
	c := serve(t, Options{})
	ended, runs, forever := c.create(object{"entrypoint": []string{"false"}, "timeout": 120}), c.create(object{"timeout": 60}), c.create(nil)
	c.clock.Advance(time.Minute)
	c.get("/v1/sandboxes/"+runs).wantError(http.StatusNotFound, "DOCKER::SANDBOX_NOT_FOUND")
	if c.state(ended) != "Failed" {
		t.Error("an ended sandbox vanished before its time")
	}
	c.clock.Advance(time.Minute)
	c.get("/v1/sandboxes/" + ended).want(http.StatusNotFound)
	c.get("/v1/sandboxes/" + forever).want(http.StatusOK)
	if n := len(c.service.Sandboxes()); n != 1 {
		t.Errorf("%d sandboxes are left", n)
	}
}

// "Image can't be pulled: 500; memory 1Ki: 500: neither will heal by itself." Nothing is left behind.
func TestWhatDockerCantStart(t *testing.T) {
	t.Parallel()
	c := serve(t, Options{Images: map[string]Image{"private": {PullError: "401 unauthorized"}}, MaxSandboxes: 1})
	try := func(more object) answer { return c.do("POST", "/v1/sandboxes", plain(more)) }
	const pull, begin = "DOCKER::SANDBOX_IMAGE_PULL_FAILED", "DOCKER::SANDBOX_START_FAILED"
	try(object{"image": object{"uri": "no-such-image:1"}}).wantError(http.StatusInternalServerError, pull)
	try(object{"image": object{"uri": "private"}}).wantError(http.StatusInternalServerError, pull)
	try(object{"resourceLimits": object{"memory": "1Ki"}}).wantError(http.StatusInternalServerError, begin)
	try(object{"networkPolicy": object{"egress": []object{{"action": "maybe", "target": "a"}}}}).wantError(http.StatusInternalServerError, begin)
	c.service.FailPulls(1)
	c.service.FailStarts(1)
	try(nil).wantError(http.StatusInternalServerError, pull)
	try(nil).wantError(http.StatusInternalServerError, begin)
	if n := len(c.service.Sandboxes()); n != 0 {
		t.Fatalf("%d sandboxes are left", n)
	}
	try(nil).want(http.StatusAccepted)
	try(nil).wantError(http.StatusInternalServerError, begin) // the disk is full
}

// "It blocks the whole server while it works: parallel creates queue." "No cleanup when the client goes away".
func TestCreateBlocksTheServerAndOutlivesItsClient(t *testing.T) {
	t.Parallel()
	c := serve(t, Options{PullDelay: time.Minute})
	arrived := make(chan string, 4)
	c.service.Faults().OnRequest(func(r faultsRecord) { arrived <- r.Method })
	ctx, leave := withCancel(t)
	gone := make(chan error)
	go func() {
		request := c.request("POST", "/v1/sandboxes", plain(nil)) //nolint:contextcheck // the next line gives it its context
		_, err := c.try(request.WithContext(ctx))
		gone <- err
	}()
	<-arrived
	waitUntil(t, func() bool { return len(c.clock.Slept()) == 1 }) // it holds the server from before that on
	read := make(chan answer)
	go func() {
		got, _ := c.try(c.request("GET", "/v1/sandboxes", nil))
		read <- got
	}()
	<-arrived
	leave()
	if err := <-gone; err == nil {
		t.Error("create answered at once")
	}
	select {
	case got := <-read:
		t.Fatalf("answered during a create: %s", got)
	default:
	}
	c.clock.Advance(time.Minute)
	got := <-read
	if items, _ := got.want(http.StatusOK).json()["items"].([]any); len(items) != 1 {
		t.Errorf("the sandbox whose client had gone: %s", got)
	}
}

// "By switch": create answers Pending and the sandbox runs later, or fails with what stood in the way.
func TestAsyncCreate(t *testing.T) {
	t.Parallel()
	c := serve(t, Options{Async: true, PullDelay: time.Minute, ExecdDelay: time.Second})
	good := c.do("POST", "/v1/sandboxes", plain(nil)).want(http.StatusAccepted)
	bad := c.do("POST", "/v1/sandboxes", plain(object{"image": object{"uri": "no-such-image"}})).want(http.StatusAccepted)
	ends := c.create(object{"entrypoint": []string{"false"}})
	if good.text("status", "state") != "Pending" || c.state(good.text("id")) != "Pending" || c.state(ends) != "Pending" {
		t.Errorf("create: %s", good)
	}
	c.clock.Advance(time.Minute)
	if c.state(good.text("id")) != "Running" || c.state(ends) != "Failed" {
		t.Error("it doesn't run, or doesn't end")
	}
	ping := "/v1/sandboxes/" + good.text("id") + "/proxy/44772/ping"
	c.get(ping).want(http.StatusBadGateway)
	c.clock.Advance(time.Second)
	c.get(ping).want(http.StatusOK)
	read := c.get("/v1/sandboxes/" + bad.text("id"))
	if read.text("status", "reason") != "PROVISIONING_ERROR" || !strings.Contains(read.text("status", "message"), "no-such-image") {
		t.Errorf("failed: %s", read)
	}
}
