package opensandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/apiclient"
	api "github.com/agentenv/terraform-provider-gpuvm/internal/apiclient/opensandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/poll"
)

// SnapshotSpec is the snapshot that is wanted.
type SnapshotSpec struct {
	SandboxID    string
	Name         string          // "" = none; names need not be unique
	ReadyTimeout time.Duration   // of the wait for it to be ready; 0 = the timeout of a sandbox's create
	KeepFailed   bool            // leave a snapshot whose create failed
	Noted        func(id string) // hears the id before anything else can fail
}

// CreateSnapshot takes exactly one snapshot of a running sandbox and waits until it is ready. On any failure the error is a
// *CreateError, which says what became of the snapshot.
func (l *Lifecycle) CreateSnapshot(ctx context.Context, spec SnapshotSpec) (snapshot api.Snapshot, err error) {
	failure := &CreateError{Object: "snapshot", Stage: StageSnapshot}
	defer func() {
		if crash := recover(); crash != nil {
			err = &PanicError{Value: crash}
		}
		if err != nil {
			failure.Err = err
			l.settleSnapshot(context.WithoutCancel(ctx), failure, spec.KeepFailed)
			snapshot, err = api.Snapshot{}, failure
		}
	}()

	// A snapshot can't be marked. What wasn't there before the request, and is there after it, is what it made.
	before, err := l.snapshotIDs(ctx, spec)
	if err != nil {
		return snapshot, err
	}
	snapshot, err = l.snapshotOnce(ctx, spec, before)
	if err != nil {
		failure.Fate = FateNeverMade
		if open(err) {
			failure.Fate = FateUnknown
		}
		return snapshot, err
	}
	failure.ID = snapshot.ID
	if spec.Noted != nil {
		spec.Noted(snapshot.ID)
	}
	if cause := context.Cause(ctx); cause != nil {
		return snapshot, cause
	}
	return l.awaitSnapshot(ctx, snapshot.ID, spec.ReadyTimeout)
}

// snapshotOnce asks for a snapshot until there is one. An interrupt waits for the answer: cutting it would lose the id.
func (l *Lifecycle) snapshotOnce(ctx context.Context, spec SnapshotSpec, before map[string]bool) (api.Snapshot, error) {
	longer, done := l.outlive(ctx, postGrace)
	defer done()
	retry := l.settings.Operations.Retry
	for n := 1; ; n++ {
		snapshot, err := l.API.CreateSnapshot(longer, spec.SandboxID, spec.Name)
		if err == nil {
			return snapshot, nil
		}
		if open(err) {
			found, lookErr := l.newSnapshot(context.WithoutCancel(ctx), spec, before)
			if lookErr != nil {
				return snapshot, &UnseenError{Lost: err, Err: lookErr}
			}
			if found.ID != "" {
				return found, nil
			}
		}
		if n > retry.Times || !tolerable(err) || ctx.Err() != nil || l.backOff(ctx, l.API, n, err) != nil {
			return snapshot, err
		}
	}
}

// newSnapshot looks for a snapshot of the sandbox and name that wasn't there before. The list may lag.
func (l *Lifecycle) newSnapshot(ctx context.Context, spec SnapshotSpec, before map[string]bool) (api.Snapshot, error) {
	var found api.Snapshot
	var first time.Time
	err := l.wait(ctx, "the list of snapshots of sandbox "+spec.SandboxID, listLag+l.settings.Operations.CloseTimeout, patiently, func(ctx context.Context) (poll.State, error) {
		for snapshot, err := range l.API.Snapshots(ctx, api.SnapshotFilter{SandboxID: spec.SandboxID}) {
			if err != nil {
				return poll.State{}, err
			}
			if matches(snapshot, spec) && !before[snapshot.ID] {
				found = snapshot
				return poll.State{Done: true}, nil
			}
		}
		now := l.clock.Now()
		if first.IsZero() {
			first = now
		}
		return poll.State{Done: now.Sub(first) >= listLag, Status: "none listed"}, nil
	})
	return found, err
}

func (l *Lifecycle) snapshotIDs(ctx context.Context, spec SnapshotSpec) (map[string]bool, error) {
	ids := map[string]bool{}
	for snapshot, err := range l.API.Snapshots(ctx, api.SnapshotFilter{SandboxID: spec.SandboxID}) {
		if err != nil {
			return nil, err
		}
		ids[snapshot.ID] = true
	}
	return ids, nil
}

func matches(s api.Snapshot, spec SnapshotSpec) bool {
	return s.ID != "" && s.SandboxID == spec.SandboxID && s.Name == spec.Name
}

func (l *Lifecycle) awaitSnapshot(ctx context.Context, id string, limit time.Duration) (api.Snapshot, error) {
	var snapshot api.Snapshot
	err := l.wait(ctx, "snapshot "+id+" to be ready", cmp.Or(limit, l.settings.Create.Timeout), nil, func(ctx context.Context) (poll.State, error) {
		latest, err := l.API.Snapshot(ctx, id)
		if err != nil {
			return poll.State{}, err
		}
		snapshot = latest
		if latest.Status.State == api.StateFailed {
			return poll.State{}, &StateError{ID: id, Status: latest.Status}
		}
		return poll.State{Done: latest.Status.State == api.SnapshotReady, Status: latest.Status.String()}, nil
	})
	return snapshot, err
}

// settleSnapshot decides what becomes of the snapshot of a failed create.
func (l *Lifecycle) settleSnapshot(ctx context.Context, failure *CreateError, keep bool) {
	switch {
	case failure.ID == "" && failure.Fate == "":
		failure.Fate = FateNeverMade
	case failure.ID == "":
	case keep:
		failure.Fate = FateKept
	default:
		failure.Fate = FateDeleted
		if failure.DeleteErr = l.deleteSnapshot(ctx, failure.ID, l.settings.Operations.CloseTimeout); failure.DeleteErr != nil {
			failure.Fate = FateUndeleted
		}
	}
}

// SnapshotInUseError is a snapshot that sandboxes still stand on.
type SnapshotInUseError struct {
	ID  string
	Err error
}

func (e *SnapshotInUseError) Error() string {
	return fmt.Sprintf("snapshot %s is in use: delete the sandboxes that were made from it first (%v)", e.ID, e.Err)
}

func (e *SnapshotInUseError) Unwrap() error { return e.Err }

// DeleteSnapshot ends a snapshot and waits until the server no longer knows it. One that is gone already is a success; one
// that is still being made is waited for.
func (l *Lifecycle) DeleteSnapshot(ctx context.Context, id string) error {
	return l.deleteSnapshot(ctx, id, longest)
}

func (l *Lifecycle) deleteSnapshot(ctx context.Context, id string, limit time.Duration) error {
	accepted := false
	return l.wait(ctx, "snapshot "+id+" to be gone", limit, untilGone, func(ctx context.Context) (poll.State, error) {
		if !accepted {
			err := l.API.DeleteSnapshot(ctx, id)
			failed, isAnswer := errors.AsType[*apiclient.Error](err)
			switch {
			case apiclient.IsGone(err):
				return poll.State{Done: true}, nil
			case isAnswer && failed.Status == http.StatusConflict && failed.Code == "SNAPSHOT::DELETE_CONFLICT":
				return poll.State{}, &SnapshotInUseError{ID: id, Err: err}
			case isAnswer && failed.Status == http.StatusConflict:
				return poll.State{Status: failed.Text}, nil
			case err != nil:
				return poll.State{}, err
			}
			accepted = true
		}
		snapshot, err := l.API.Snapshot(ctx, id)
		if apiclient.IsGone(err) {
			return poll.State{Done: true}, nil
		}
		return poll.State{Status: snapshot.Status.String()}, err
	})
}
