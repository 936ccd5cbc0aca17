package opensandbox

import (
	"encoding/json"
	"net/http"
	"time"
)

// Capacity is how many pods a pool keeps.
type Capacity struct {
	BufferMax int64 `json:"bufferMax"`
	BufferMin int64 `json:"bufferMin"`
	PoolMax   int64 `json:"poolMax"`
	PoolMin   int64 `json:"poolMin"`
}

// pool is a pool of pods that wait for sandboxes. Only a Kubernetes server has pools.
type pool struct {
	name     string
	template json.RawMessage
	capacity Capacity
	created  time.Time
	revision int
	noExecd  bool // its pods run no execd, though their sandboxes are Running (public #1692)
}

type poolView struct {
	Name         string      `json:"name"`
	CapacitySpec Capacity    `json:"capacitySpec"`
	Status       *poolStatus `json:"status,omitempty"`
	CreatedAt    timestamp   `json:"createdAt"`
}

type poolStatus struct {
	Total     int64  `json:"total"`
	Allocated int64  `json:"allocated"`
	Available int64  `json:"available"`
	Revision  string `json:"revision"`
}

// allocatedOf counts the sandboxes that have a pod of the pool. The caller holds the lock.
func (s *Service) allocatedOf(p *pool) int {
	count := 0
	for _, sb := range s.live() {
		if sb.request.poolRef() == p.name {
			count++
		}
	}
	return count
}

func (s *Service) poolView(p *pool) poolView {
	view := poolView{Name: p.name, CapacitySpec: p.capacity, CreatedAt: timestamp(p.created.Truncate(time.Second))}
	if s.clock.Now().Before(p.created.Add(s.options.PoolDelay)) { // not yet reconciled
		return view
	}
	taken := int64(s.allocatedOf(p))
	total := min(max(p.capacity.PoolMin, taken+p.capacity.BufferMin), p.capacity.PoolMax)
	view.Status = &poolStatus{total, taken, max(0, total-taken), p.name + "-" + string(rune('0'+p.revision%10))}
	return view
}

func (s *Service) noPools() *failure {
	if s.options.Kubernetes {
		return nil
	}
	return fail(http.StatusNotImplemented, "KUBERNETES::POOL_NOT_SUPPORTED", "Pool management is only available when runtime.type is 'kubernetes'.")
}

func (s *Service) findPool(name string) (*pool, *failure) {
	if problem := s.noPools(); problem != nil {
		return nil, problem
	}
	if p := s.pools[name]; p != nil {
		return p, nil
	}
	return nil, fail(http.StatusNotFound, "KUBERNETES::POOL_NOT_FOUND", "Pool '%s' not found.", name)
}

func (c *checker) capacity(object map[string]any) Capacity {
	value, place, found := c.member(object, body, "capacitySpec", true)
	if !found {
		return Capacity{}
	}
	spec, ok := c.model(value, place)
	if !ok {
		return Capacity{}
	}
	var capacity Capacity
	capacity.BufferMax, _ = c.whole(spec, place, "bufferMax", true, 0, unbounded)
	capacity.BufferMin, _ = c.whole(spec, place, "bufferMin", true, 0, unbounded)
	capacity.PoolMax, _ = c.whole(spec, place, "poolMax", true, 0, unbounded)
	capacity.PoolMin, _ = c.whole(spec, place, "poolMin", true, 0, unbounded)
	return capacity
}

func (s *Service) createPool(w http.ResponseWriter, r *http.Request, _ []string) *failure {
	var c checker
	object := c.bodyModel(r, true)
	p := &pool{revision: 1}
	if c.ok(0) {
		p.name, _ = c.text(object, body, "name", true, claimName...)
		if value, place, found := c.member(object, body, "template", true); found {
			if _, ok := value.(map[string]any); !ok {
				c.add("dict_type", place, "Input should be a valid dictionary", value, nil)
			}
			if template, err := json.Marshal(value); err == nil { // it was JSON a moment ago
				p.template = template
			}
		}
		p.capacity = c.capacity(object)
	}
	if !c.ok(0) {
		c.write(w)
		return nil
	}
	if problem := s.noPools(); problem != nil {
		return problem
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pools[p.name] != nil {
		return fail(http.StatusConflict, "KUBERNETES::POOL_ALREADY_EXISTS", "Pool '%s' already exists.", p.name)
	}
	p.created = s.clock.Now()
	s.pools[p.name] = p
	writeJSON(w, http.StatusCreated, s.poolView(p))
	return nil
}

func (s *Service) listPools(w http.ResponseWriter, _ *http.Request, _ []string) *failure {
	if problem := s.noPools(); problem != nil {
		return problem
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	items := []poolView{}
	for _, name := range sortedKeys(s.pools) {
		items = append(items, s.poolView(s.pools[name]))
	}
	writeJSON(w, http.StatusOK, map[string]any{"items": items})
	return nil
}

func (s *Service) getPool(w http.ResponseWriter, _ *http.Request, parameters []string) *failure {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, problem := s.findPool(parameters[0])
	if problem != nil {
		return problem
	}
	writeJSON(w, http.StatusOK, s.poolView(p))
	return nil
}

// updatePool changes the capacity, which is all that can be changed.
func (s *Service) updatePool(w http.ResponseWriter, r *http.Request, parameters []string) *failure {
	var c checker
	object := c.bodyModel(r, true)
	var capacity Capacity
	if c.ok(0) {
		capacity = c.capacity(object)
	}
	if !c.ok(0) {
		c.write(w)
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p, problem := s.findPool(parameters[0])
	if problem != nil {
		return problem
	}
	p.capacity = capacity
	writeJSON(w, http.StatusOK, s.poolView(p))
	return nil
}

func (s *Service) deletePool(w http.ResponseWriter, _ *http.Request, parameters []string) *failure {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, problem := s.findPool(parameters[0])
	if problem != nil {
		return problem
	}
	delete(s.pools, p.name)
	w.WriteHeader(http.StatusNoContent)
	return nil
}
