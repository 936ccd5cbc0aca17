package opensandbox

import (
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/clock"
)

func newPool(name string, most int) object {
	return object{"name": name, "template": object{"spec": object{}}, "capacitySpec": object{"bufferMax": 2, "bufferMin": 1, "poolMax": most, "poolMin": 1}}
}

func fromPool(more object) object {
	request := object{"extensions": object{"poolRef": "warm"}}
	for key, value := range more {
		request[key] = value
	}
	return request
}

// "Pools (K8s only): POST /pools 201 {name, template, capacitySpec}; GET (no template; status); PUT capacity only; DELETE 204".
func TestPools(t *testing.T) {
	t.Parallel()
	c := serve(t, Options{Kubernetes: true, PoolDelay: time.Second})
	created := c.do("POST", "/v1/pools", newPool("warm", 3)).want(http.StatusCreated)
	if _, there := created.json()["status"]; there {
		t.Errorf("a pool that isn't reconciled has a status: %s", created)
	}
	c.do("POST", "/v1/pools", newPool("warm", 3)).wantError(http.StatusConflict, "KUBERNETES::POOL_ALREADY_EXISTS")
	c.clock.Advance(time.Second)
	want := `{"name":"warm","capacitySpec":{"bufferMax":2,"bufferMin":1,"poolMax":3,"poolMin":1},"status":{"total":1,"allocated":0,"available":1,"revision":"warm-1"},"createdAt":"2026-06-15T12:00:00Z"}`
	if got := c.get("/v1/pools/warm").want(http.StatusOK).String(); got != want {
		t.Errorf("GET: %s", got)
	}
	if got := c.get("/v1/pools").want(http.StatusOK).String(); got != `{"items":[`+want+`]}` {
		t.Errorf("list: %s", got)
	}
	changed := c.do("PUT", "/v1/pools/warm", object{"capacitySpec": object{"bufferMax": 2, "bufferMin": 0, "poolMax": 9, "poolMin": 4}}).want(http.StatusOK)
	if got := changed.object("capacitySpec")["poolMax"]; got != 9.0 {
		t.Errorf("PUT: %s", changed)
	}
	if got := c.do("PUT", "/v1/pools/warm", object{}).details(); !reflect.DeepEqual(got, []string{"body.capacitySpec: missing: Field required"}) {
		t.Errorf("PUT without capacity: %q", got)
	}
	if got := c.do("POST", "/v1/pools", newPool("No", -1)).details(); len(got) != 2 {
		t.Errorf("bad pool: %q", got)
	}
	if pools := c.service.Pools(); len(pools) != 1 || pools[0].Template != `{"spec":{}}` || pools[0].Capacity.PoolMin != 4 {
		t.Errorf("accessor: %+v", pools)
	}
	c.do("DELETE", "/v1/pools/warm", nil).want(http.StatusNoContent)
	for _, method := range []string{"GET", "DELETE"} {
		c.do(method, "/v1/pools/warm", nil).wantError(http.StatusNotFound, "KUBERNETES::POOL_NOT_FOUND")
	}
}

// "POOL_NOT_SUPPORTED (501)" with Docker.
func TestDockerHasNoPools(t *testing.T) {
	t.Parallel()
	c := serve(t, Options{})
	const code = "KUBERNETES::POOL_NOT_SUPPORTED"
	c.get("/v1/pools").wantError(http.StatusNotImplemented, code)
	c.get("/v1/pools/warm").wantError(http.StatusNotImplemented, code)
	c.do("POST", "/v1/pools", newPool("warm", 1)).wantError(http.StatusNotImplemented, code)
	c.do("PUT", "/v1/pools/warm", object{"capacitySpec": newPool("", 1)["capacitySpec"]}).wantError(http.StatusNotImplemented, code)
	c.do("DELETE", "/v1/pools/warm", nil).wantError(http.StatusNotImplemented, code)
}

// "a pool's image.uri is unknown; entrypoint: pool []"; image, entrypoint and resources are optional with a pool (public #882, #885).
func TestSandboxOfAPool(t *testing.T) {
	t.Parallel()
	c := serve(t, Options{Kubernetes: true, Clock: clock.NewInstant(start)})
	c.service.AddPool("warm", Capacity{BufferMin: 1, PoolMax: 1}, true)
	id := c.do("POST", "/v1/sandboxes", fromPool(object{"env": object{"A": "1"}})).want(http.StatusAccepted).text("id")
	read := c.get("/v1/sandboxes/" + id)
	if read.text("image", "uri") != "unknown" || !strings.Contains(read.String(), `"entrypoint":[]`) {
		t.Errorf("GET: %s", read)
	}
	url, _ := c.endpoint(id, "44772")
	if output, _ := c.run(url, "echo $A"); output != "1\n" {
		t.Errorf("env: %q", output)
	}
	if got := c.get("/v1/pools/warm").object("status"); got["allocated"] != 1.0 || got["available"] != 0.0 {
		t.Errorf("pool: %v", got)
	}
	c.do("POST", "/v1/sandboxes", fromPool(nil)).wantError(http.StatusGatewayTimeout, "KUBERNETES::POD_READY_TIMEOUT")
	if got := c.do("POST", "/v1/sandboxes", fromPool(object{"snapshotId": "s"})).details(); !reflect.DeepEqual(got, []string{"body: value_error: Value error, snapshotId cannot be used together with poolRef."}) {
		t.Errorf("with a snapshot: %q", got)
	}
	c.do("POST", "/v1/sandboxes", fromPool(object{"platform": object{"os": "linux", "arch": "amd64"}})).wantError(http.StatusBadRequest, "SANDBOX::INVALID_PARAMETER")
}

// "pool without execd is Running" (public #1692).
func TestPoolWithoutExecd(t *testing.T) {
	t.Parallel()
	c := serve(t, Options{Kubernetes: true})
	c.service.AddPool("warm", Capacity{PoolMax: 1}, false)
	id := c.do("POST", "/v1/sandboxes", fromPool(nil)).want(http.StatusAccepted).text("id")
	if c.state(id) != "Running" {
		t.Errorf("state %s", c.state(id))
	}
	c.get("/v1/sandboxes/" + id + "/proxy/44772/ping").want(http.StatusBadGateway)
}
