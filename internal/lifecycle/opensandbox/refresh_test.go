package opensandbox

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/apiclient"
	api "github.com/agentenv/terraform-provider-gpuvm/internal/apiclient/opensandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/faults"
	fake "github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/opensandbox"
)

// fleet makes n sandboxes and forgets the requests that took.
func fleet(t *testing.T, w *world, n int) []string {
	t.Helper()
	var ids []string
	for range n {
		sandbox, err := w.API.CreateSandbox(t.Context(), api.CreateRequest{
			Image: &api.Image{URI: "python:3.11"}, Entrypoint: []string{"tail", "-f", "/dev/null"}, ResourceLimits: map[string]string{"cpu": "1"},
		}, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, sandbox.ID)
	}
	w.server.Faults().Reset()
	return ids
}

// refreshAll reads all at once, ten at a time, as Terraform does.
func refreshAll(t *testing.T, w *world, ids []string) {
	t.Helper()
	var wait sync.WaitGroup
	limit := make(chan struct{}, 10)
	for _, id := range ids {
		limit <- struct{}{}
		wait.Go(func() {
			defer func() { <-limit }()
			if sandbox, err := w.Refresh(t.Context(), id); err != nil || sandbox.ID != id {
				t.Errorf("%s: read %q, %v", id, sandbox.ID, err)
			}
		})
	}
	wait.Wait()
}

// asked counts the listings' pages and the single reads.
func asked(w *world) (pages, reads int) {
	for _, request := range w.server.Faults().Requests() {
		if strings.HasSuffix(request.Path, "/sandboxes") {
			pages++
		} else {
			reads++
		}
	}
	return pages, reads
}

func TestManyReadsShareAListing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fake.Options{})
	ids := fleet(t, w, 500)
	refreshAll(t, w, ids)
	pages, reads := asked(w)
	if pages < 1 || pages > 6 || reads > 2*manyReads {
		t.Errorf("%d pages and %d single reads for %d sandboxes", pages, reads, len(ids))
	}
}

func TestFewReadsAskEachForItself(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fake.Options{})
	ids := fleet(t, w, manyReads-1)
	refreshAll(t, w, ids)
	if pages, reads := asked(w); pages != 0 || reads != len(ids) {
		t.Errorf("%d pages and %d single reads", pages, reads)
	}
}

func TestAListedAnswerIsUsedOnceAndNotWhereItMayBeWrong(t *testing.T) {
	t.Parallel()
	for title, change := range map[string]func(*testing.T, *world, string){
		"read again": func(t *testing.T, w *world, id string) { refreshAll(t, w, []string{id}) },
		"renewed":    func(t *testing.T, w *world, id string) { _, _ = w.Renew(t.Context(), id, time.Hour) },
		"patched": func(t *testing.T, w *world, id string) {
			_, _ = w.PatchMetadata(t.Context(), id, map[string]string{"a": "b"}, nil)
		},
		"paused":        func(t *testing.T, w *world, id string) { _, _ = w.Pause(t.Context(), id) },
		"too long ago":  func(_ *testing.T, w *world, _ string) { w.clock.Advance(listingAge) },
		"made after it": func(*testing.T, *world, string) {},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, fake.Options{})
			ids := fleet(t, w, manyReads+10)
			refreshAll(t, w, ids[:manyReads])
			id := ids[manyReads]
			if title == "made after it" {
				id = fleet(t, w, 1)[0]
			}
			change(t, w, id)
			_, before := asked(w)
			if _, err := w.Refresh(t.Context(), id); err != nil {
				t.Fatal(err)
			}
			if _, after := asked(w); after != before+1 {
				t.Errorf("%d requests were sent for it, want one", after-before)
			}
		})
	}
}

func TestWhatAListingCannotTellIsAskedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fake.Options{})
	ids := fleet(t, w, manyReads+2)
	w.server.Fail(ids[0], "out of luck")
	w.server.Kill(ids[1])
	refreshAll(t, w, ids[2:])
	if sandbox, err := w.Refresh(t.Context(), ids[0]); err != nil || sandbox.Status.State != api.StateFailed {
		t.Errorf("the failed one: %v, %v", sandbox.Status, err)
	}
	if _, err := w.Refresh(t.Context(), ids[1]); !apiclient.IsGone(err) {
		t.Errorf("the one that is gone: %v", err)
	}
}

func TestAListingThatFailsCostsNothingButItself(t *testing.T) {
	t.Parallel()
	for _, kind := range []faults.Kind{"status", "garbage", "cut", "empty", "reset-before"} {
		t.Run(fmt.Sprint(kind), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, fake.Options{})
			ids := fleet(t, w, 40)
			fault := faults.Fault{Path: "/v1/sandboxes", Kind: kind, Times: -1}
			if kind == "status" {
				fault.Status = 501
			}
			w.server.Faults().Order(fault)
			refreshAll(t, w, ids)
		})
	}
}
