package opensandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	api "github.com/agentenv/terraform-provider-gpuvm/internal/apiclient/opensandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/faults"
	fake "github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/opensandbox"
)

func TestRenew(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fake.Options{})
	spec := w.spec()
	ttl := int64(36000)
	spec.Request.TimeoutSeconds = &ttl
	id := w.mustCreate(t, spec).Sandbox.ID
	w.server.Faults().Order(faults.Fault{Method: "POST", Kind: faults.ResetAfter})
	for _, ttl := range []time.Duration{48 * time.Hour, time.Hour} {
		sandbox, err := w.Renew(t.Context(), id, ttl)
		left := sandbox.ExpiresAt.Sub(w.clock.Now())
		if err != nil || left > ttl || left < ttl-30*time.Second || sandbox.ExpiresAt.Nanosecond() != 0 {
			t.Errorf("%s left of %s, %v", left, ttl, err)
		}
	}
}

func TestRenewThatDoesNotLast(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fake.Options{})
	spec := w.spec()
	ttl := int64(3600)
	spec.Request.TimeoutSeconds = &ttl
	id := w.mustCreate(t, spec).Sandbox.ID
	remove := w.server.Faults().OnRequest(func(r faults.Record) {
		if r.Method == http.MethodGet {
			w.server.Restart() // a Docker server forgets renewals
		}
	})
	defer remove()
	if _, err := w.Renew(t.Context(), id, 48*time.Hour); err == nil || !strings.Contains(err.Error(), "still says") {
		t.Errorf("error %v", err)
	}
}

func TestRenewOfASandboxThatNeverExpires(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fake.Options{})
	id := w.mustCreate(t, w.spec()).Sandbox.ID
	_, err := w.Renew(t.Context(), id, time.Hour)
	var never *NeverExpiresError
	if !errors.As(err, &never) || !strings.Contains(err.Error(), "ttl_seconds") {
		t.Errorf("error %v", err)
	}
}

func TestPatchMetadata(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fake.Options{})
	spec := w.spec()
	spec.Request.Metadata = map[string]string{"a": "1", "b": "2"}
	made := w.mustCreate(t, spec)
	id := made.Sandbox.ID
	w.server.Faults().Order(faults.Fault{Method: "PATCH", Kind: faults.Cut})
	if _, err := w.PatchMetadata(t.Context(), id, map[string]string{"c": "3"}, []string{"a"}); err != nil {
		t.Fatal(err)
	}
	// a comes back with a patch that doesn't name it, so the caller names it every time.
	sandbox, err := w.PatchMetadata(t.Context(), id, map[string]string{"c": "4"}, []string{"a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	delete(sandbox.Metadata, CreateIDKey)
	if fmt.Sprint(sandbox.Metadata) != "map[c:4]" {
		t.Errorf("metadata %v", sandbox.Metadata)
	}
	if held, _ := w.server.Sandbox(id); held.Metadata[CreateIDKey] != made.CreateID {
		t.Errorf("the marker is gone: %v", held.Metadata)
	}
}

func TestPauseAndResume(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]fake.Options{
		"docker":     {},
		"kubernetes": {Kubernetes: true, PauseDelay: 20 * time.Second, ResumeDelay: 30 * time.Second},
	} {
		for _, fault := range []faults.Fault{{}, {Kind: faults.ResetAfter}, {Kind: faults.ResetBefore}, {Status: 503}, {Status: 429, RetryAfter: "9"}} {
			t.Run(fmt.Sprintf("%s %s %d", name, fault.Kind, fault.Status), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, options)
				spec := w.spec()
				spec.Request.NetworkPolicy = &api.NetworkPolicy{DefaultAction: "deny", Egress: []api.NetworkRule{{Action: "allow", Target: "a.example.com"}}}
				id := w.mustCreate(t, spec).Sandbox.ID
				policy := api.NetworkPolicy{DefaultAction: "deny", Egress: []api.NetworkRule{{Action: "allow", Target: "z.example.com"}, {Action: "deny", Target: "b.example.com"}}}
				if err := w.ReplaceNetworkPolicy(t.Context(), id, policy); err != nil {
					t.Fatal(err)
				}
				spoil := func(path string) {
					if fault.Kind != "" || fault.Status != 0 {
						fault.Method, fault.Path = "POST", "/v1/sandboxes/*/"+path
						w.server.Faults().Order(fault)
					}
				}
				for range 2 { // the second time it is so already
					spoil("pause")
					if sandbox, err := w.Pause(t.Context(), id); err != nil || sandbox.Status.State != api.StatePaused {
						t.Fatalf("%+v, %v", sandbox.Status, err)
					}
				}
				for range 2 {
					spoil("resume")
					usable, err := w.Resume(t.Context(), id, Resumption{Policy: &policy, Ports: []int64{8080}, VNCPort: 6080})
					if err != nil || usable.Sandbox.Status.State != api.StateRunning || usable.Ports[8080] == "" || usable.VNCURL == "" {
						t.Fatalf("%+v, %v", usable, err)
					}
				}
				got, err := w.NetworkPolicy(t.Context(), id)
				if err != nil || fmt.Sprint(got) != fmt.Sprint(policy) {
					t.Errorf("policy %v, %v", got, err)
				}
			})
		}
	}
}

func TestWhatCantBePausedOrResumed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fake.Options{})
	id := w.mustCreate(t, w.spec()).Sandbox.ID
	w.server.Exit(id, 3)
	_, err := w.Pause(t.Context(), id)
	var refused *RefusedError
	if !errors.As(err, &refused) || refused.Status.State != api.StateFailed || !strings.Contains(err.Error(), "can't become Paused") {
		t.Errorf("error %v", err)
	}
	if _, err := w.Resume(t.Context(), id, Resumption{}); !errors.As(err, &refused) {
		t.Errorf("error %v", err)
	}
}

func TestPolicyOfASandboxWithoutSidecar(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fake.Options{})
	id := w.mustCreate(t, w.spec()).Sandbox.ID
	if _, err := w.NetworkPolicy(t.Context(), id); err == nil {
		t.Error("no error")
	}
}

func TestPools(t *testing.T) {
	t.Parallel()
	template := json.RawMessage(`{"spec":{"containers":[{"name":"sandbox","image":"busybox"}]}}`)
	for _, fault := range []faults.Fault{{}, {Kind: faults.ResetAfter}, {Kind: faults.Cut}, {Kind: faults.Empty}, {Kind: faults.ResetBefore}, {Status: 500}, {Kind: faults.StatusAfter, Status: 504}} {
		t.Run(fmt.Sprintf("%s %d", fault.Kind, fault.Status), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, fake.Options{Kubernetes: true})
			if fault.Kind != "" || fault.Status != 0 {
				fault.Method = "POST"
				w.server.Faults().Order(fault)
			}
			pool, err := w.CreatePool(t.Context(), "warm", template, api.Capacity{BufferMax: 1, PoolMax: 3})
			if err != nil || pool.Name != "warm" || pool.Capacity.PoolMax != 3 {
				t.Fatalf("%+v, %v", pool, err)
			}
			if _, err := w.CreatePool(t.Context(), "warm", template, api.Capacity{}); err == nil || !strings.Contains(err.Error(), "exists already") {
				t.Errorf("a second one of the name: %v", err)
			}
			for range 2 {
				if err := w.DeletePool(t.Context(), "warm"); err != nil {
					t.Error(err)
				}
			}
			if left := w.server.Pools(); len(left) > 0 {
				t.Errorf("the server holds %v", left)
			}
		})
	}
}

func TestPoolWhoseOutcomeStaysUnknown(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fake.Options{Kubernetes: true})
	w.server.Faults().Order(
		faults.Fault{Method: "POST", Path: "/v1/pools", Kind: faults.ResetAfter},
		faults.Fault{Method: "GET", Path: "/v1/pools/warm", Status: 503, Skip: 1, Times: -1},
		faults.Fault{Method: "POST", Path: "/v1/pools", Status: 503, Skip: 1, Times: -1},
	)
	_, err := w.CreatePool(t.Context(), "warm", json.RawMessage("{}"), api.Capacity{})
	var unseen *UnseenError
	if !errors.As(err, &unseen) {
		t.Errorf("error %v", err)
	}
}

func TestSnapshots(t *testing.T) {
	t.Parallel()
	for _, fault := range lost {
		t.Run(fmt.Sprintf("%s %d", fault.Kind, fault.Status), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, fake.Options{SnapshotDelay: 3 * time.Second})
			id := w.mustCreate(t, w.spec()).Sandbox.ID
			// One of the same name is there already, and isn't taken for the new one.
			old, err := w.CreateSnapshot(t.Context(), SnapshotSpec{SandboxID: id, Name: "daily"})
			if err != nil {
				t.Fatal(err)
			}
			fault.Method, fault.Path = "POST", "/v1/sandboxes/*/snapshots"
			w.server.Faults().Order(fault)
			noted := ""
			snapshot, err := w.CreateSnapshot(t.Context(), SnapshotSpec{SandboxID: id, Name: "daily", Noted: func(id string) { noted = id }})
			if err != nil || snapshot.Status.State != api.SnapshotReady || noted != snapshot.ID || snapshot.ID == old.ID {
				t.Fatalf("%+v, noted %s, %v", snapshot, noted, err)
			}
			if held := w.server.Snapshots(); len(held) != 2 {
				t.Errorf("the server holds %v", held)
			}
			for range 2 {
				if err := w.DeleteSnapshot(t.Context(), snapshot.ID); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func TestSnapshotThatFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fake.Options{SnapshotDelay: time.Minute})
	id := w.mustCreate(t, w.spec()).Sandbox.ID
	ctx := w.interruptAt(t, func(r faults.Record) bool {
		return r.Method == http.MethodGet && strings.HasPrefix(r.Path, "/v1/snapshots/")
	})
	_, err := w.CreateSnapshot(ctx, SnapshotSpec{SandboxID: id})
	var failure *CreateError
	if !errors.As(err, &failure) || failure.Object != "snapshot" || !strings.Contains(err.Error(), "interrupted by the user") {
		t.Fatalf("error %v", err)
	}
	// It can't be deleted while it is being made, which takes longer than a clean-up waits.
	if held := w.server.Snapshots(); len(held) != 1 || failure.Fate != FateUndeleted || !failure.Stands() || failure.ID != held[0].ID {
		t.Errorf("the server holds %v: %v", held, err)
	}
	if _, err := w.CreateSnapshot(t.Context(), SnapshotSpec{SandboxID: "no-such"}); !errors.As(err, &failure) || failure.Fate != FateNeverMade {
		t.Errorf("error %v", err)
	}
}

func TestSnapshotInUse(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fake.Options{})
	source := w.mustCreate(t, w.spec()).Sandbox.ID
	snapshot, err := w.CreateSnapshot(t.Context(), SnapshotSpec{SandboxID: source})
	if err != nil {
		t.Fatal(err)
	}
	spec := w.spec()
	spec.Request.Image, spec.Request.Entrypoint, spec.Request.SnapshotID = nil, nil, snapshot.ID
	restored, err := w.Create(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	var inUse *SnapshotInUseError
	if err := w.DeleteSnapshot(t.Context(), snapshot.ID); !errors.As(err, &inUse) {
		t.Errorf("error %v", err)
	}
	if err := w.Delete(t.Context(), restored.Sandbox.ID); err != nil {
		t.Fatal(err)
	}
	if err := w.DeleteSnapshot(t.Context(), snapshot.ID); err != nil {
		t.Error(err)
	}
}
