package opensandbox

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/apiclient"
)

// States of a sandbox. Servers have more of them, and add to them: one that isn't listed here isn't final.
const (
	StatePending    = "Pending"
	StateAllocated  = "Allocated" // Kubernetes, not in the specification: taken from a pool, not running yet
	StateRunning    = "Running"
	StatePausing    = "Pausing"
	StatePaused     = "Paused"
	StateResuming   = "Resuming"
	StateStopping   = "Stopping"
	StateTerminated = "Terminated" // its process ended with exit code 0, or it was ended
	StateFailed     = "Failed"
)

// Sandbox is the server's answer about one sandbox. It never tells env, resources, volumes, network policy, image
// credentials or timeout.
type Sandbox struct {
	ID         string            `json:"id"`
	Image      *Image            `json:"image,omitempty"` // not what was asked for on Docker: the image's first tag
	SnapshotID string            `json:"snapshotId,omitempty"`
	Platform   *Platform         `json:"platform,omitempty"`
	Status     Status            `json:"status"`
	Metadata   map[string]string `json:"metadata,omitempty"` // with keys that nobody set: labels of the image, of Kubernetes
	Entrypoint []string          `json:"entrypoint,omitempty"`
	Extensions map[string]string `json:"extensions,omitempty"` // newer servers
	Allocation *Allocation       `json:"allocation,omitempty"` // newer servers
	ExpiresAt  Time              `json:"expiresAt,omitzero"`   // zero = it never expires
	CreatedAt  Time              `json:"createdAt"`            // differs between answers by up to 2 s
}

// Status is the state of a sandbox or snapshot with the server's words about it.
type Status struct {
	State            string `json:"state"`
	Reason           string `json:"reason,omitempty"`
	Message          string `json:"message,omitempty"`
	LastTransitionAt Time   `json:"lastTransitionAt,omitzero"`
}

// String is the status in one line, for people.
func (s Status) String() string {
	text := s.State
	if s.Reason != "" {
		text += " (" + s.Reason + ")"
	}
	if s.Message != "" {
		text += ": " + s.Message
	}
	return text
}

// Allocation says which pool a sandbox came from.
type Allocation struct {
	Mode    string `json:"mode,omitempty"`
	PoolRef string `json:"poolRef,omitempty"`
	State   string `json:"state,omitempty"`
}

func (s Sandbox) check(asked string) error {
	switch {
	case s.ID == "":
		return &MalformedError{Asked: asked, Reason: "the sandbox has no id"}
	case s.ID == "." || s.ID == "..": // such a path can't be asked for
		return &MalformedError{Asked: asked, Reason: "its id can't stand in a URL: " + s.ID}
	case s.Status.State == "":
		return &MalformedError{Asked: asked, Reason: "the sandbox has no status.state"}
	}
	return nil
}

// Sandbox reads a sandbox.
func (c *Client) Sandbox(ctx context.Context, id string) (Sandbox, error) {
	var sandbox Sandbox
	if err := c.get(ctx, &sandbox, "sandboxes", id); err != nil {
		return Sandbox{}, err
	}
	return sandbox, sandbox.check(asked(http.MethodGet, "sandboxes", id))
}

// SandboxFilter picks sandboxes that are in one of States, whatever its case, and carry all of Metadata. Empty: all.
type SandboxFilter struct {
	States   []string
	Metadata map[string]string
}

// Sandboxes lists, newest first, all pages, asking for each as it is reached. An error ends the list.
func (c *Client) Sandboxes(ctx context.Context, filter SandboxFilter) iter.Seq2[Sandbox, error] {
	query := url.Values{"state": filter.States}
	if len(filter.Metadata) > 0 {
		pairs := url.Values{}
		for key, value := range filter.Metadata {
			pairs.Set(key, value)
		}
		// One parameter holds a whole query string: encoded here, and once more with the rest of the query.
		query.Set("metadata", pairs.Encode())
	}
	return list(ctx, c, "sandboxes", query, func(s Sandbox) string { return s.ID })
}

// PatchMetadata changes single keys (RFC 7396): nil removes one, keys that aren't named stay. A key that was set at create
// comes back with the next patch on a real server, so each patch has to name every key that is to stay away.
func (c *Client) PatchMetadata(ctx context.Context, id string, patch map[string]*string) (Sandbox, error) {
	path := []string{"sandboxes", id, "metadata"}
	var sandbox Sandbox
	_, err := c.http.Do(ctx, apiclient.Request{Method: http.MethodPatch, Path: path, JSON: patch}, &sandbox)
	if err != nil {
		return Sandbox{}, err
	}
	return sandbox, sandbox.check(asked(http.MethodPatch, path...))
}

// Renew sets the time at which the sandbox expires, and gives what the server made of it. A sandbox that never expires
// answers 409.
func (c *Client) Renew(ctx context.Context, id string, expiresAt time.Time) (time.Time, error) {
	path := []string{"sandboxes", id, "renew-expiration"}
	var renewed struct {
		ExpiresAt Time `json:"expiresAt"`
	}
	body := map[string]Time{"expiresAt": {expiresAt}}
	_, err := c.http.Do(ctx, apiclient.Request{Method: http.MethodPost, Path: path, JSON: body}, &renewed)
	if err != nil {
		return time.Time{}, err
	}
	if renewed.ExpiresAt.IsZero() {
		return time.Time{}, &MalformedError{Asked: asked(http.MethodPost, path...), Reason: "it has no expiresAt"}
	}
	return renewed.ExpiresAt.Time, nil
}

// Pause asks for a running sandbox to be paused. The answer comes before the pause has to be done.
func (c *Client) Pause(ctx context.Context, id string) error {
	return c.send(ctx, http.MethodPost, "sandboxes", id, "pause")
}

// Resume asks for a paused sandbox to run on. The answer comes before it has to.
func (c *Client) Resume(ctx context.Context, id string) error {
	return c.send(ctx, http.MethodPost, "sandboxes", id, "resume")
}

// DeleteSandbox asks for the sandbox's end. One that is gone already answers 404, which is an error here.
func (c *Client) DeleteSandbox(ctx context.Context, id string) error {
	return c.send(ctx, http.MethodDelete, "sandboxes", id)
}
