package subject

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	fake "github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/opensandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/provider"
	core "github.com/agentenv/terraform-provider-gpuvm/internal/terraformcore"
)

// OpenSandboxSnapshot is opensandbox_snapshot.
var OpenSandboxSnapshot = &Type{
	Name: "opensandbox_snapshot", Provider: provider.OpenSandbox("test"), Start: startSnapshots, Tempers: []string{"no-diagnostics"},
	Smallest: map[string]any{"sandbox_id": parentSandbox},
	Values: map[string][]any{
		"sandbox_id": {parentSandbox}, "name": {"before", "after the tests"},
		"timeouts": {map[string]any{}, map[string]any{"create": "2m", "delete": "2m"}},
	},
	Settings: OpenSandboxSandbox.Settings, Disturbances: []string{"delete"},
	Requests: []Request{
		{"POST", "/v1/sandboxes/*/snapshots"}, {"GET", "/v1/snapshots"}, {"GET", "/v1/snapshots/*"}, {"DELETE", "/v1/snapshots/*"},
	},
	Tells: []Request{{"POST", "/v1/sandboxes/*/snapshots"}, {"GET", "/v1/snapshots/*"}}, Needed: OpenSandboxSandbox.Needed,
	Secret:         []map[string]any{{"sandbox_id": parentSandbox}},
	SecretSettings: secretSettings(),
}

// snapshots is a server with one sandbox, which its tests take snapshots of.
type snapshots struct {
	*openSandboxService
	parent string
}

func startSnapshots(temper map[string]bool) Service {
	s := startInSandbox(temper).(*inside)                        //nolint:forcetypeassert // it makes no other
	return &snapshots{s.Service.(*openSandboxService), s.parent} //nolint:forcetypeassert // likewise
}

func (s *snapshots) Standing() []string {
	var ids []string
	for _, one := range s.Snapshots() {
		ids = append(ids, one.ID)
	}
	return ids
}

func (s *snapshots) Make() (string, map[string]any) {
	var made struct{ ID string }
	s.ask(http.MethodPost, "/v1/sandboxes/"+s.parent+"/snapshots", map[string]any{"name": "before"}, &made)
	return made.ID, map[string]any{"sandbox_id": s.parent, "name": "before"}
}

func (s *snapshots) Disturb(_, id string) bool {
	s.DropSnapshot(id)
	return true
}

func (s *snapshots) InDoubt(detail, _ string) bool {
	return strings.Contains(detail, "may have made a snapshot")
}

func (*snapshots) TTL(string) int64 { return 0 }

func (s *snapshots) Differences(o *core.Object, _ bool) []string {
	for _, one := range s.Snapshots() {
		if one.ID == o.ID() {
			if name, ok := o.Attribute("name").(string); ok && name != one.Name {
				return []string{fmt.Sprintf("its name is %q, in the state %q", one.Name, name)}
			}
			return nil
		}
	}
	return []string{"it doesn't stand"}
}

// OpenSandboxPool is opensandbox_pool.
var OpenSandboxPool = &Type{
	Name: "opensandbox_pool", Provider: provider.OpenSandbox("test"), Named: true, Start: startPools, Tempers: []string{"newer", "no-diagnostics"},
	Smallest: map[string]any{"name": "gpu", "template": `{"spec":{}}`, "capacity": capacity(1, 2, 1, 5)},
	Values: map[string][]any{
		"name": {"gpu", "cpu"}, "template": {`{"spec":{}}`, `{ "spec": {} }`, `{"spec":{"a":1}}`}, "capacity": {capacity(1, 2, 1, 5), capacity(0, 0, 0, 0), capacity(3, 3, 1, 9)},
	},
	Settings: OpenSandboxSandbox.Settings, Disturbances: []string{"delete", "resize"},
	Requests: []Request{{"POST", "/v1/pools"}, {"GET", "/v1/pools/*"}, {"PUT", "/v1/pools/*"}, {"DELETE", "/v1/pools/*"}},
	Tells:    []Request{{"POST", "/v1/pools"}, {"GET", "/v1/pools/*"}, {"PUT", "/v1/pools/*"}}, Needed: []string{"name", "capacitySpec", "bufferMin", "bufferMax", "poolMin", "poolMax"},
	Secret:         []map[string]any{{"name": "gpu", "template": `{"spec":{}}`, "capacity": capacity(1, 2, 1, 5)}},
	SecretSettings: secretSettings(),
}

func capacity(bufferMin, bufferMax, poolMin, poolMax int) map[string]any {
	return map[string]any{"buffer_min": bufferMin, "buffer_max": bufferMax, "pool_min": poolMin, "pool_max": poolMax}
}

// pools is a server with pools.
type pools struct{ *openSandboxService }

func startPools(temper map[string]bool) Service {
	on := map[string]bool{"kubernetes": true}
	for name, is := range temper {
		on[name] = is
	}
	return &pools{startOpenSandbox(on).(*openSandboxService)} //nolint:forcetypeassert // it makes no other
}

func (s *pools) Standing() []string {
	var names []string
	for _, pool := range s.Pools() {
		if pool.Name != warmPool {
			names = append(names, pool.Name)
		}
	}
	return names
}

func (s *pools) Make() (string, map[string]any) {
	s.AddPool("gpu", fake.Capacity{BufferMin: 1, BufferMax: 2, PoolMin: 1, PoolMax: 5}, true)
	return "gpu", OpenSandboxPool.Smallest
}

func (s *pools) Disturb(kind, id string) bool {
	if !slices.Contains(s.Standing(), id) {
		return false
	}
	if kind == "resize" {
		s.AddPool(id, fake.Capacity{BufferMin: 0, BufferMax: 9, PoolMin: 0, PoolMax: 9}, true)
		return true
	}
	s.ask(http.MethodDelete, "/v1/pools/"+id, nil, nil)
	return true
}

// InDoubt: a pool is found by its name, which is the user's own.
func (s *pools) InDoubt(detail, id string) bool { return strings.Contains(detail, id) }

func (*pools) TTL(string) int64 { return 0 }

func (s *pools) Differences(o *core.Object, _ bool) []string {
	for _, pool := range s.Pools() {
		if pool.Name != o.ID() {
			continue
		}
		state, _ := o.Attribute("capacity").(map[string]any)
		if is := fmt.Sprint(pool.Capacity.BufferMax); fmt.Sprint(state["buffer_max"]) != is {
			return []string{fmt.Sprintf("buffer_max is %v in the state, %s at the server", state["buffer_max"], is)}
		}
		return nil
	}
	return []string{"it doesn't stand"}
}
