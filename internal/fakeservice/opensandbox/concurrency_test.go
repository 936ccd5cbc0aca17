package opensandbox

import (
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"
)

// Clients that do everything at once, while time passes and sandboxes are killed from outside: every answer is one that the API has, and
// at the end nothing is left.
func TestEverythingAtOnce(t *testing.T) {
	t.Parallel()
	for _, options := range []Options{{}, {Kubernetes: true, Ingress: IngressURI}} {
		c := serve(t, options)
		var clients sync.WaitGroup
		for n := range uint64(8) {
			clients.Go(func() { c.wander(rand.New(rand.NewPCG(1, n))) })
		}
		clients.Wait()
		c.clock.Advance(time.Hour)
		if left := c.service.Sandboxes(); len(left) > 0 {
			t.Errorf("%d sandboxes are left", len(left))
		}
	}
}

// wander does random things to random sandboxes.
func (c *client) wander(random *rand.Rand) {
	known := []int{
		http.StatusOK, http.StatusAccepted, http.StatusNoContent, http.StatusBadRequest, http.StatusNotFound, http.StatusConflict,
		http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable,
	}
	sandbox := func() string {
		all := c.service.Sandboxes()
		if len(all) == 0 {
			return "nobody"
		}
		return all[random.IntN(len(all))].ID
	}
	for range 60 {
		path := "/v1/sandboxes/" + sandbox()
		request := []*http.Request{
			c.request("POST", "/v1/sandboxes", plain(object{"timeout": 60 + random.IntN(600), "networkPolicy": object{}})),
			c.request("GET", "/v1/sandboxes?pageSize=5", nil),
			c.request("GET", path, nil),
			c.request("PATCH", path+"/metadata", object{"a": "1"}),
			c.request("POST", path+"/pause", nil),
			c.request("POST", path+"/resume", nil),
			c.request("POST", path+"/snapshots", nil),
			c.request("GET", path+"/endpoints/18080", nil),
			c.request("GET", path+"/diagnostics/logs", nil),
			c.request("DELETE", path, nil),
		}[random.IntN(10)]
		if got, err := c.try(request); err != nil || !slices.Contains(known, got.status) {
			c.t.Errorf("%s %s: %v, %d: %s", request.Method, request.URL, err, got.status, got)
		}
		switch id := sandbox(); random.IntN(12) {
		case 0:
			c.clock.Advance(time.Duration(random.IntN(20)) * time.Second)
		case 1:
			c.service.Kill(id)
		case 2:
			c.service.Exit(id, random.IntN(2))
		case 3:
			c.service.Status("")
		case 4:
			c.service.Machine(id)
		}
	}
}

// Closing the service ends what waits in it: creates that pull, calls to frozen sandboxes, commands.
func TestCloseEndsWhatWaits(t *testing.T) {
	t.Parallel()
	c := serve(t, Options{PullDelay: time.Hour})
	created := make(chan answer)
	go func() {
		got, _ := c.try(c.request("POST", "/v1/sandboxes", plain(nil)))
		created <- got
	}()
	waitUntil(t, func() bool { return len(c.clock.Slept()) == 1 })
	c.service.Close()
	(<-created).want(http.StatusInternalServerError)

	c = serve(t, Options{})
	id := c.create(nil)
	execd, _ := c.endpoint(id, "44772")
	c.events(execd, object{"command": "sleep 1000", "background": true})
	c.do("POST", "/v1/sandboxes/"+id+"/pause", nil).want(http.StatusAccepted)
	arrived, pinged := make(chan struct{}, 1), make(chan error)
	c.service.Faults().OnRequest(func(faultsRecord) { arrived <- struct{}{} })
	go func() {
		_, err := c.try(c.direct().request("GET", execd+"/ping", nil))
		pinged <- err
	}()
	<-arrived
	c.service.Close()
	if err := <-pinged; err == nil {
		t.Error("a frozen execd answered")
	}
}
