package opensandbox

import (
	"context"
	"sync"
	"time"

	api "github.com/agentenv/terraform-provider-gpuvm/internal/apiclient/opensandbox"
)

// Sharing one listing among many reads. A request each is what few sandboxes cost; a fleet at a distance, or behind a rate
// limit, is read by pages instead.
const (
	// manyReads is after how many reads a listing is first tried.
	manyReads = 16
	// itemsPerRead bounds a listing on a server that holds far more than is read here: a page of 200 for each 4 single reads.
	itemsPerRead = 50
	// listingAge is for how long a listed answer may be used: far less than a refresh of a fleet takes.
	listingAge = 30 * time.Second
)

// listing is what one refresh has listed. A Lifecycle lives for one run of Terraform, so nothing in here is older than that.
type listing struct {
	mu      sync.Mutex
	reads   int           // that no listing has answered
	due     int           // the number of them at which to list next; 0 = manyReads
	running chan struct{} // closed at the end of the listing that is under way; nil = none is
	listed  map[string]listed
	written []string // changed from here while a listing was under way
}

type listed struct {
	sandbox api.Sandbox
	asked   time.Time // before the first page was asked for
}

// Refresh reads a sandbox, from a listing that concurrent reads share where there are many. What isn't listed, isn't plainly
// running, was changed from here since, or was read from the listing before is asked for by itself.
func (l *Lifecycle) Refresh(ctx context.Context, id string) (api.Sandbox, error) {
	if sandbox, ok := l.listing.take(id, l.clock.Now()); ok {
		return sandbox, nil
	}
	ended, list := l.listing.join()
	if list {
		l.list(ctx)
	} else if ended != nil {
		select {
		case <-ended:
		case <-ctx.Done():
			return api.Sandbox{}, context.Cause(ctx)
		}
	}
	if sandbox, ok := l.listing.take(id, l.clock.Now()); ok {
		return sandbox, nil
	}
	return l.API.Sandbox(ctx, id)
}

// join counts a read that no listing has answered. It gives the end of a listing to wait for, or says that the caller is to make one.
func (l *listing) join() (ended chan struct{}, list bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reads++
	if l.running == nil && l.reads >= max(l.due, manyReads) {
		l.running, l.due = make(chan struct{}), 2*l.reads
		return nil, true
	}
	return l.running, false
}

// list fills the listing, page by page. An error only ends it: each read can still ask for itself.
func (l *Lifecycle) list(ctx context.Context) {
	asked := l.clock.Now()
	found := map[string]listed{}
	defer func() { l.listing.end(found) }()
	for sandbox, err := range l.API.Sandboxes(ctx, api.SandboxFilter{}) {
		if err != nil || len(found) >= l.listing.budget() {
			return
		}
		found[sandbox.ID] = listed{sandbox, asked}
	}
}

func (l *listing) end(found map[string]listed) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range l.written {
		delete(found, id)
	}
	close(l.running)
	l.listed, l.running, l.written = found, nil, nil
}

func (l *listing) budget() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.reads * itemsPerRead
}

// take gives an answer out once: a second read of the same sandbox wants to know what has changed since.
func (l *listing) take(id string, now time.Time) (api.Sandbox, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	entry, ok := l.listed[id]
	delete(l.listed, id)
	return entry.sandbox, ok && entry.sandbox.Status.State == api.StateRunning && now.Sub(entry.asked) < listingAge
}

// changed takes a sandbox out of the listing: what was listed before a write isn't so any more.
func (l *listing) changed(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.listed, id)
	if l.running != nil {
		l.written = append(l.written, id)
	}
}
