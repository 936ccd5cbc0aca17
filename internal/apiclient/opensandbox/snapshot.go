package opensandbox

import (
	"context"
	"iter"
	"net/http"
	"net/url"

	"github.com/agentenv/terraform-provider-gpuvm/internal/apiclient"
)

// States of a snapshot, besides StateFailed.
const (
	SnapshotCreating = "Creating"
	SnapshotReady    = "Ready"
	SnapshotDeleting = "Deleting"
)

// Snapshot is the server's answer about one snapshot.
type Snapshot struct {
	ID        string `json:"id"`
	SandboxID string `json:"sandboxId"`
	Name      string `json:"name,omitempty"`
	Status    Status `json:"status"`
	CreatedAt Time   `json:"createdAt"`
}

func (s Snapshot) check(asked string) error {
	switch {
	case s.ID == "" || s.ID == "." || s.ID == "..":
		return &MalformedError{Asked: asked, Reason: "the snapshot has no usable id"}
	case s.Status.State == "":
		return &MalformedError{Asked: asked, Reason: "the snapshot has no status.state"}
	}
	return nil
}

// CreateSnapshot asks for a snapshot of a running sandbox, once. name may be empty.
func (c *Client) CreateSnapshot(ctx context.Context, sandboxID, name string) (Snapshot, error) {
	path := []string{"sandboxes", sandboxID, "snapshots"}
	body := struct {
		Name string `json:"name,omitempty"`
	}{name}
	var snapshot Snapshot
	_, err := c.http.Do(ctx, apiclient.Request{Method: http.MethodPost, Path: path, JSON: body}, &snapshot)
	if err != nil {
		return Snapshot{}, err
	}
	return snapshot, snapshot.check(asked(http.MethodPost, path...))
}

// Snapshot reads a snapshot.
func (c *Client) Snapshot(ctx context.Context, id string) (Snapshot, error) {
	var snapshot Snapshot
	if err := c.get(ctx, &snapshot, "snapshots", id); err != nil {
		return Snapshot{}, err
	}
	return snapshot, snapshot.check(asked(http.MethodGet, "snapshots", id))
}

// SnapshotFilter picks snapshots of one sandbox that are in one of States, whose case counts. Empty: all.
type SnapshotFilter struct {
	SandboxID string
	States    []string
}

// Snapshots lists all pages, asking for each as it is reached. An error ends the list.
func (c *Client) Snapshots(ctx context.Context, filter SnapshotFilter) iter.Seq2[Snapshot, error] {
	query := url.Values{"state": filter.States}
	if filter.SandboxID != "" {
		query.Set("sandboxId", filter.SandboxID)
	}
	return list(ctx, c, "snapshots", query, func(s Snapshot) string { return s.ID })
}

// DeleteSnapshot asks for the snapshot's end. One that is still being made, or that a sandbox uses, answers 409.
func (c *Client) DeleteSnapshot(ctx context.Context, id string) error {
	return c.send(ctx, http.MethodDelete, "snapshots", id)
}
