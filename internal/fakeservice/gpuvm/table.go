package gpuvm

import (
	"container/heap"
	"fmt"
	"net/http"
	"time"
)

// queue orders machines by the time that each disappears (container/heap).
type queue []*vm //nolint:recvcheck // as container/heap wants it

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].end().Before(q[j].end()) }

func (q queue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].place, q[j].place = i, j
}

// Push and Pop are for container/heap only.
func (q *queue) Push(x any) {
	v := x.(*vm) //nolint:forcetypeassert // only this package pushes
	v.place = len(*q)
	*q = append(*q, v)
}

func (q *queue) Pop() any {
	old := *q
	last := old[len(old)-1]
	old[len(old)-1] = nil
	*q = old[:len(old)-1]
	return last
}

// end is when the machine disappears.
func (v *vm) end() time.Time {
	if !v.gone.IsZero() && v.gone.Before(v.expires) {
		return v.gone
	}
	return v.expires
}

// expire drops what has reached its end. Every look at the table starts with it; there is no timer. The caller holds the lock.
func (s *Service) expire(now time.Time) {
	for len(s.queue) > 0 && !now.Before(s.queue[0].end()) {
		s.drop(s.queue[0])
	}
}

// add puts a new machine into the table. The caller holds the lock.
func (s *Service) add(v *vm) {
	s.created++
	v.number = s.created
	s.vms[v.id] = v
	heap.Push(&s.queue, v)
}

// drop takes a machine out of the table and turns it off. The caller holds the lock.
func (s *Service) drop(v *vm) {
	delete(s.vms, v.id)
	heap.Remove(&s.queue, v.place)
	v.touch()
	v.inside.Close()
}

// retire deletes a machine: at once, or after DeleteDelay. The caller holds the lock.
func (s *Service) retire(v *vm, now time.Time) {
	if s.options.DeleteDelay == 0 {
		s.drop(v)
		return
	}
	if v.gone.IsZero() {
		v.gone = now.Add(s.options.DeleteDelay)
		heap.Fix(&s.queue, v.place)
	}
}

// find gives a machine with its status of now, or nil. The caller holds the lock.
func (s *Service) find(id string, now time.Time) *vm {
	s.expire(now)
	v := s.vms[id]
	if v != nil {
		v.settle(now)
	}
	return v
}

// withRunning calls use, under the lock, with a machine that commands and files can reach; else it answers with the error.
func (s *Service) withRunning(w http.ResponseWriter, r *http.Request, id string, use func(*vm)) bool {
	s.mu.Lock()
	v := s.find(id, s.clock.Now())
	status, text := 0, ""
	switch {
	case v == nil || !v.gone.IsZero():
		status, text = http.StatusNotFound, "no such vm"
	case v.status != Running:
		status, text = http.StatusConflict, fmt.Sprintf("vm is %s, not running", v.status)
	default:
		use(v)
	}
	s.mu.Unlock()
	if status != 0 {
		s.fail(w, r, status, "%s", text)
	}
	return status == 0
}

// newID draws an id that no machine has. The caller holds the lock.
func (s *Service) newID() string {
	for {
		id := fmt.Sprintf("vm-%08x", s.ids.Uint32())
		if s.vms[id] == nil {
			return id
		}
	}
}

// keys remembers the answers to creates by their Idempotency-Key, the newest maxKeys of them.
type keys struct {
	answers map[string]firstAnswer
	order   []string
}

// firstAnswer is what the first create with a key asked and was told.
type firstAnswer struct {
	request [32]byte // SHA-256 of its body
	body    []byte
}

func newKeys() keys { return keys{answers: map[string]firstAnswer{}} }

func (k *keys) remember(key string, a firstAnswer) {
	k.answers[key] = a
	k.order = append(k.order, key)
	if len(k.order) > maxKeys {
		delete(k.answers, k.order[0])
		k.order = k.order[1:]
	}
}
