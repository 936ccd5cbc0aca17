package conformance

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"
)

// What is asked for: the contract's own example, but for the ports and labels, which must come back.
const (
	portA = 8080
	portB = 18765
	// spareTTL is what a machine may live beside its boot and the long command: it bounds what a failed clean-up costs.
	spareTTL = 15 * time.Minute
)

// create is one create request.
type create struct {
	key  string
	body []byte
}

// machine is one that a create has made.
type machine struct {
	id   string
	made time.Time
	by   create
}

func (r *run) labels() map[string]string {
	return map[string]string{"purpose": "conformance-check", "run": r.tag}
}

// newCreate asks for a machine of an image, with a fresh key (a UUID, RFC 9562 version 4).
func (r *run) newCreate(image string, ttl time.Duration) create {
	body, err := json.Marshal(map[string]any{
		"image": image, "cpu": 1, "memory_mb": 8192, "disk_gb": 10, "ttl_seconds": int64(ttl / time.Second),
		"ports": []int{portA, portB}, "labels": r.labels(), "priority": nil,
	})
	if err != nil { // nothing in it can fail to be JSON
		panic(err)
	}
	return create{uuid(), body}
}

func uuid() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	text := hex.EncodeToString(b[:])
	return text[:8] + "-" + text[8:12] + "-" + text[12:16] + "-" + text[16:20] + "-" + text[20:]
}

// ttl is long enough for everything that is done with the main machine.
func (r *run) ttl() time.Duration { return r.BootTimeout + r.LongCommand + spareTTL }

// post sends a create and notes what it may have made, whatever its answer looks like.
func (r *run) post(ctx context.Context, c create) (*machine, *exchange) {
	return r.postAs(ctx, c, request{})
}

// postAs is post with the credentials of q.
func (r *run) postAs(ctx context.Context, c create, q request) (*machine, *exchange) {
	q.method, q.body, q.contentType, q.uncut = "POST", c.body, "application/json", true
	q.header = map[string]string{"Idempotency-Key": c.key}
	x := r.do(ctx, q)
	id := x.text("id")
	switch {
	case usable(id):
		r.standing[id] = true
	case x.ok():
		r.unnamed = append(r.unnamed, c)
		return nil, x
	case x.err != nil || x.status >= 500:
		r.lost = append(r.lost, c)
		return nil, x
	default:
		return nil, x
	}
	if x.ok() {
		r.machines = append(r.machines, x)
	}
	return &machine{id: id, made: x.ended, by: c}, x
}

// usable says whether an id can stand as one segment of a path.
func usable(id string) bool { return id != "" && id != "." && id != ".." }

// get asks for a machine, willing to wait for so many seconds for its status to change.
func (r *run) get(ctx context.Context, id string, wait time.Duration) *exchange {
	q := request{method: "GET", path: []string{id}}
	if wait > 0 {
		q.header = map[string]string{"Prefer": "wait=" + strconv.Itoa(int(wait/time.Second))}
		q.limit = wait + r.RequestTimeout
	}
	x := r.do(ctx, q)
	if x.is(200) {
		r.machines = append(r.machines, x)
	}
	return x
}

// remove asks for the end of a machine, once.
func (r *run) remove(ctx context.Context, id string) *exchange {
	return r.do(ctx, request{method: "DELETE", path: []string{id}})
}

// untilGone asks for a machine until the service knows it no more, and gives the last answer.
func (r *run) untilGone(ctx context.Context, id string) *exchange {
	start := r.Clock.Now()
	for {
		x := r.get(ctx, id, 0)
		waited := r.Clock.Now().Sub(start)
		if x.is(404) {
			delete(r.standing, id)
			return x
		}
		if waited >= graceOfEnd || r.Clock.Sleep(ctx, pause(waited)) != nil {
			return x
		}
	}
}

// pause grows with what was waited already, up to 2 s.
func pause(waited time.Duration) time.Duration {
	return min(200*time.Millisecond+waited/4, 2*time.Second)
}

// cleanUp deletes every machine that may stand, in a context of its own, and says what is left.
func (r *run) cleanUp(ctx context.Context) []string {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUpTimeout)
	defer cancel()
	var left []string
	lost := r.lost
	r.lost = nil
	for _, c := range r.unnamed { // asking again would only make another one
		left = append(left, r.mayStand(c))
	}
	for _, c := range lost {
		left = append(left, r.findLost(ctx, c)...)
	}
	for _, id := range slices.Sorted(maps.Keys(r.standing)) {
		deleted := r.remove(ctx, id)
		if deleted.is(404) {
			continue
		}
		if last := r.untilGone(ctx, id); !last.is(404) {
			left = append(left, r.redact(fmt.Sprintf("%s may still stand: DELETE got %s, then GET %s. It ends with its ttl_seconds.", id, deleted.came(), last.came())))
		}
	}
	return left
}

// findLost asks a second time for what a create without a usable answer may have made: under the same key, as the contract has
// it, so that a service which knows keys tells the first one's id.
func (r *run) findLost(ctx context.Context, c create) []string {
	_, x := r.post(ctx, c)
	if x.ok() && x.header.Get("Idempotency-Replayed") != "" && len(r.lost) == 0 {
		return nil
	}
	if !x.ok() && x.err == nil && x.status < 500 {
		return nil // it refuses that request, so it has made nothing of it
	}
	r.lost = nil
	return []string{r.mayStand(c)}
}

func (r *run) mayStand(c create) string {
	return fmt.Sprintf("a machine whose id no answer told may stand, with the labels purpose=conformance-check, run=%s and the Idempotency-Key %s. It ends with its ttl_seconds.", r.tag, c.key)
}
