package opensandbox

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/machine"
)

// Sandbox is a sandbox as the service knows it: what was asked for, which no answer tells, and what GET tells.
type Sandbox struct {
	ID         string
	Request    CreateRequest // with Env completed by what a snapshot brought along
	Status     Status
	Metadata   map[string]string // as GET tells it
	Labels     map[string]string // of the container or the workload, reserved ones too
	Image      string            // as GET tells it
	Entrypoint []string
	Limits     map[string]string // the resource limits that the runtime applied
	Requests   map[string]string // Kubernetes: the resource requests
	Created    time.Time
	Expires    time.Time      // zero = never
	Policy     *NetworkPolicy // the sidecar's, as it stands now; nil without a sidecar
	Endpoints  []int          // ports whose endpoint was asked for
}

// Sandboxes lists the sandboxes that exist, oldest first.
func (s *Service) Sandboxes() []Sandbox {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]Sandbox, 0, len(s.order))
	for _, sb := range s.live() {
		list = append(list, s.export(sb))
	}
	return list
}

// Sandbox gives one sandbox.
func (s *Service) Sandbox(id string) (Sandbox, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sb := s.find(id)
	if sb == nil {
		return Sandbox{}, false
	}
	return s.export(sb), true
}

// Machine is the inside of a sandbox, or nil when there is no such sandbox.
func (s *Service) Machine(id string) *machine.Machine {
	s.mu.Lock()
	sb := s.find(id)
	s.mu.Unlock()
	if sb == nil {
		return nil
	}
	return s.machineOf(sb)
}

func (s *Service) export(sb *sandbox) Sandbox {
	result := Sandbox{
		ID: sb.id, Request: sb.request.clone(), Status: s.status(sb).Status, Metadata: maps.Clone(s.metadata(sb)), Labels: maps.Clone(sb.labels),
		Image: sb.image, Entrypoint: slices.Clone(sb.entrypoint), Created: sb.created, Expires: sb.expires(), Endpoints: slices.Sorted(maps.Keys(sb.lookedUp)),
	}
	if sb.egress != nil {
		policy := sb.egress.current()
		result.Policy = &policy
	}
	result.Limits, result.Requests = s.applied(sb.request)
	return result
}

// applied are the resources that reach the runtime: Docker reads three of them, Kubernetes all, with the gpu under its own name.
func (s *Service) applied(request CreateRequest) (limits, requests map[string]string) {
	if !s.options.Kubernetes {
		limits = maps.Clone(request.ResourceLimits)
		maps.DeleteFunc(limits, func(name, _ string) bool { return !slices.Contains([]string{"cpu", "memory", "gpu"}, name) })
		return limits, nil
	}
	translate := func(from map[string]string) map[string]string {
		to := maps.Clone(from)
		if count, given := to["gpu"]; given {
			delete(to, "gpu")
			to["nvidia.com/gpu"] = count
		}
		return to
	}
	limits = translate(request.ResourceLimits)
	if len(request.ResourceRequests) == 0 {
		return limits, maps.Clone(limits)
	}
	return limits, translate(request.ResourceRequests)
}

// Snapshot is a snapshot as the service knows it.
type Snapshot struct {
	ID, Sandbox, Name string
	Status            Status
	Created           time.Time
}

// Snapshots lists the snapshots, oldest first.
func (s *Service) Snapshots() []Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settleSnapshots()
	list := make([]Snapshot, 0, len(s.snapshots))
	for _, snap := range s.snapshots {
		list = append(list, Snapshot{snap.id, snap.sandbox, snap.name, snap.status, snap.created})
	}
	return list
}

// DropSnapshot removes a snapshot from outside.
func (s *Service) DropSnapshot(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if snap, problem := s.findSnapshot(id); problem == nil {
		s.dropSnapshot(snap)
	}
}

// Pool is a pool as the service knows it.
type Pool struct {
	Name      string
	Template  string // JSON
	Capacity  Capacity
	Allocated int
}

// Pools lists the pools by name.
func (s *Service) Pools() []Pool {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []Pool
	for _, name := range sortedKeys(s.pools) {
		p := s.pools[name]
		list = append(list, Pool{p.name, string(p.template), p.capacity, s.allocatedOf(p)})
	}
	return list
}

// AddPool makes a pool from outside; one without execd gives sandboxes that are Running and can't be used.
func (s *Service) AddPool(name string, capacity Capacity, execd bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pools[name] = &pool{name: name, template: []byte("{}"), capacity: capacity, created: s.clock.Now(), revision: 1, noExecd: !execd}
}

// KeyLeaks lists the requests that brought the API key into a sandbox.
func (s *Service) KeyLeaks() []KeyLeak {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.leaks)
}

func sortPorts(ports []PortLink) {
	slices.SortFunc(ports, func(a, b PortLink) int { return cmp.Compare(a.Port, b.Port) })
}
