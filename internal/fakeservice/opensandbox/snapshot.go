package opensandbox

import (
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/machine"
)

// States of a snapshot.
const (
	snapshotCreating = "Creating"
	snapshotDeleting = "Deleting"
	snapshotReady    = "Ready"
	snapshotFailed   = "Failed"
)

// snapshot is an image made of a sandbox: its files, and with Docker its labels and environment too, as they were at create.
type snapshot struct {
	id, sandbox, name string
	status            Status
	created, changed  time.Time
	ready             time.Time // when it leaves Creating
	labels, env       map[string]string
	files             *machine.Machine
}

type snapshotView struct {
	ID        string     `json:"id"`
	SandboxID string     `json:"sandboxId"`
	Name      string     `json:"name,omitempty"`
	Status    statusView `json:"status"`
	CreatedAt timestamp  `json:"createdAt"`
}

func (snap *snapshot) view() snapshotView {
	return snapshotView{snap.id, snap.sandbox, snap.name, statusView{snap.status, optional(snap.changed)}, timestamp(snap.created)}
}

// settleSnapshots lets those become ready that are due. The caller holds the lock.
func (s *Service) settleSnapshots() {
	now := s.clock.Now()
	for _, snap := range s.snapshots {
		if snap.status.State == snapshotCreating && !snap.ready.After(now) {
			snap.changed = snap.ready
			snap.status = Status{snapshotReady, "snapshot_runtime_ready", "Docker snapshot image created successfully."}
			if s.options.Kubernetes {
				snap.status.Message = "Kubernetes snapshot is ready."
			}
		}
	}
}

func (s *Service) findSnapshot(id string) (*snapshot, *failure) {
	s.settleSnapshots()
	for _, snap := range s.snapshots {
		if snap.id == id {
			return snap, nil
		}
	}
	return nil, fail(http.StatusNotFound, "SNAPSHOT::NOT_FOUND", "Snapshot %s not found", id)
}

// createSnapshot accepts a snapshot of a running sandbox; it is Ready some time later.
func (s *Service) createSnapshot(w http.ResponseWriter, r *http.Request, parameters []string) *failure {
	var c checker
	object := c.bodyModel(r, false)
	var name string
	if c.ok(0) {
		name, _ = c.text(object, body, "name", false, minLength(1))
	}
	if !c.ok(0) {
		c.write(w)
		return nil
	}
	s.mu.Lock()
	sb, problem := s.lookUp(parameters[0])
	switch {
	case problem != nil:
	case s.status(sb).State != string(running):
		problem = fail(http.StatusConflict, "SNAPSHOT::INVALID_SOURCE_STATE", "Snapshot can only be created from a Running sandbox.")
	case s.options.NoSnapshots:
		problem = fail(http.StatusNotImplemented, "SNAPSHOT::NOT_IMPLEMENTED", "Snapshot creation is not supported by this runtime.")
	}
	s.mu.Unlock()
	if problem != nil {
		return problem
	}
	files := s.disk(sb).Clone()

	s.mu.Lock()
	now := s.clock.Now()
	snap := &snapshot{
		id: s.ids.uuid(), sandbox: sb.id, name: name, created: now, changed: now, ready: now.Add(s.options.SnapshotDelay), files: files,
		status: Status{snapshotCreating, "snapshot_accepted", "Snapshot creation accepted."},
		labels: maps.Clone(sb.labels), env: maps.Clone(sb.request.Env),
	}
	s.snapshots = append(s.snapshots, snap)
	view := snap.view()
	s.mu.Unlock()
	w.Header().Set("Location", "/v1/snapshots/"+snap.id)
	writeJSON(w, http.StatusAccepted, view)
	return nil
}

func (s *Service) getSnapshot(w http.ResponseWriter, _ *http.Request, parameters []string) *failure {
	s.mu.Lock()
	defer s.mu.Unlock()
	snap, problem := s.findSnapshot(parameters[0])
	if problem != nil {
		return problem
	}
	writeJSON(w, http.StatusOK, snap.view())
	return nil
}

// listSnapshots filters by source and by state, whose case counts here, newest first.
func (s *Service) listSnapshots(w http.ResponseWriter, r *http.Request, _ []string) *failure {
	var c checker
	page, size := c.queryPage(r)
	if !c.ok(0) {
		c.write(w)
		return nil
	}
	query := r.URL.Query()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settleSnapshots()
	found := []snapshotView{}
	for _, snap := range slices.Backward(s.snapshots) {
		source, states := query.Get("sandboxId"), query["state"]
		switch {
		case source != "" && source != snap.sandbox:
		case len(states) > 0 && !slices.Contains(states, snap.status.State):
		case s.options.Newer && query.Has("name") && query.Get("name") != snap.name:
		default:
			found = append(found, snap.view())
		}
	}
	items, pagination := paginate(found, page, size)
	writeJSON(w, http.StatusOK, struct {
		Items      []snapshotView `json:"items"`
		Pagination pageView       `json:"pagination"`
	}{items, pagination})
	return nil
}

// deleteSnapshot removes a snapshot. With Docker one that a sandbox was made of stays, in state Deleting, until that sandbox is gone.
func (s *Service) deleteSnapshot(w http.ResponseWriter, _ *http.Request, parameters []string) *failure {
	s.mu.Lock()
	defer s.mu.Unlock()
	snap, problem := s.findSnapshot(parameters[0])
	switch {
	case problem != nil:
		return problem
	case snap.status.State == snapshotCreating:
		return fail(http.StatusConflict, "SNAPSHOT::INVALID_STATE", "Snapshot %s is still being created and cannot be deleted", snap.id)
	}
	if snap.status.State != snapshotDeleting {
		snap.status, snap.changed = Status{snapshotDeleting, "snapshot_delete_requested", "Snapshot deletion requested."}, s.clock.Now()
	}
	used := func(sb *sandbox) bool { return sb.request.SnapshotID == snap.id }
	if !s.options.Kubernetes && slices.ContainsFunc(s.live(), used) {
		return fail(http.StatusConflict, "SNAPSHOT::DELETE_CONFLICT", "snapshot image cannot be deleted due to a conflict")
	}
	s.dropSnapshot(snap)
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (s *Service) dropSnapshot(snap *snapshot) {
	s.snapshots = slices.DeleteFunc(s.snapshots, func(other *snapshot) bool { return other == snap })
	snap.files.Close() // nothing runs in a snapshot: this returns at once
}
