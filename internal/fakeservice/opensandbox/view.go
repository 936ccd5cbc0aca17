package opensandbox

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Status is a sandbox's or a snapshot's state as an answer tells it.
type Status struct {
	State   string `json:"state"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
}

type statusView struct {
	Status
	LastTransitionAt *timestamp `json:"lastTransitionAt,omitempty"`
}

type imageView struct {
	URI string `json:"uri"`
}

// sandboxView is the answer of GET, PATCH and list: nothing of env, resources, volumes, policy or timeout is in it.
type sandboxView struct {
	ID         string            `json:"id"`
	Image      *imageView        `json:"image,omitempty"`
	SnapshotID string            `json:"snapshotId,omitempty"`
	Platform   *Platform         `json:"platform,omitempty"`
	Status     statusView        `json:"status"`
	Metadata   map[string]string `json:"metadata,omitempty"`
	Entrypoint []string          `json:"entrypoint"`
	ExpiresAt  *timestamp        `json:"expiresAt,omitempty"`
	CreatedAt  timestamp         `json:"createdAt"`
	newerView
}

// newerView is what the newer generation adds.
type newerView struct {
	Extensions map[string]string `json:"extensions,omitempty"`
	Allocation *allocation       `json:"allocation,omitempty"`
}

type allocation struct {
	Mode    string `json:"mode"`
	PoolRef string `json:"poolRef"`
	State   string `json:"state"`
}

// createdView is the answer of create. Metadata is a pointer since an empty object is echoed here, and only here.
type createdView struct {
	ID         string             `json:"id"`
	Status     statusView         `json:"status"`
	Metadata   *map[string]string `json:"metadata,omitempty"`
	Platform   *Platform          `json:"platform,omitempty"`
	ExpiresAt  *timestamp         `json:"expiresAt,omitempty"`
	CreatedAt  timestamp          `json:"createdAt"`
	Entrypoint []string           `json:"entrypoint,omitempty"`
	newerView
}

// Labels that the server puts on what it makes.
const (
	labelID          = reservedPrefix + "id"
	labelExpires     = reservedPrefix + "expires-at"
	labelManual      = reservedPrefix + "manual-cleanup"
	labelOS          = reservedPrefix + "platform-os"
	labelArch        = reservedPrefix + "platform-arch"
	labelSnapshot    = reservedPrefix + "snapshot-id"
	labelRenew       = reservedPrefix + "access-renew-extend-seconds"
	labelEgressToken = reservedPrefix + "egress-auth-token"
)

// hiddenByDocker are the prefixes of labels that a Docker server doesn't count as metadata.
var hiddenByDocker = []string{reservedPrefix, "org.opencontainers.image.", "com.docker.", "desktop.docker."}

// metadata is what GET tells: with Docker the image's labels too, on Kubernetes every label that isn't reserved.
func (s *Service) metadata(sb *sandbox) map[string]string {
	if sb.override != nil {
		return sb.override
	}
	return s.visible(sb.labels)
}

func (s *Service) visible(labels map[string]string) map[string]string {
	shown := make(map[string]string, len(labels))
	for key, value := range labels {
		if !s.hides(key) {
			shown[key] = value
		}
	}
	return shown
}

// hides reports whether a label is none of the metadata.
func (s *Service) hides(key string) bool {
	prefixes := hiddenByDocker
	if s.options.Kubernetes {
		prefixes = prefixes[:1]
	}
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(key, prefix) })
}

// metadataValue is one value of the metadata; a list asks for it in thousands of sandboxes.
func (s *Service) metadataValue(sb *sandbox, key string) (value string, ok bool) {
	if sb.override != nil {
		value, ok = sb.override[key]
		return value, ok
	}
	value, ok = sb.labels[key]
	return value, ok && !s.hides(key)
}

// expires is what GET tells: the time that the server tracks, else the container's label, which a restored sandbox can have from
// the sandbox that its snapshot was made of although nothing will remove it then.
func (sb *sandbox) expires() time.Time {
	if !sb.deadline.IsZero() {
		return sb.deadline
	}
	at, _ := time.Parse(time.RFC3339Nano, sb.labels[labelExpires]) // no label, no time
	return at
}

func (s *Service) status(sb *sandbox) statusView {
	changed := sb.changed
	if s.options.Kubernetes {
		changed = sb.created
	}
	view := statusView{Status: s.describe(sb), LastTransitionAt: optional(changed)}
	if sb.odd != nil {
		view.Status = *sb.odd
	}
	return view
}

func (s *Service) describe(sb *sandbox) Status {
	if s.options.Kubernetes {
		return describeWorkload(sb)
	}
	switch sb.phase {
	case pending:
		return Status{"Pending", "PROVISIONING", "Sandbox is being provisioned."}
	case paused:
		return Status{"Paused", "CONTAINER_PAUSED", "Sandbox container is paused."}
	case terminated:
		return Status{"Terminated", "CONTAINER_EXITED", "Sandbox container exited successfully."}
	case failed:
		if sb.message != "" {
			return Status{"Failed", "PROVISIONING_ERROR", sb.message}
		}
		return Status{"Failed", "CONTAINER_EXITED_ERROR", fmt.Sprintf("Sandbox container exited with code %d.", sb.exit)}
	default:
		return Status{"Running", "CONTAINER_RUNNING", "Sandbox container is running."}
	}
}

func describeWorkload(sb *sandbox) Status {
	switch sb.phase {
	case pending:
		return Status{"Pending", "BATCHSANDBOX_PENDING", "BatchSandbox is pending allocation"}
	case allocated:
		return Status{"Allocated", "IP_ASSIGNED", "Pod has IP assigned but not ready (1/1 allocated, 0 ready)"}
	case pausing:
		return Status{"Pausing", "PAUSING", "Pausing sandbox"}
	case paused:
		return Status{"Paused", "PAUSED", "Sandbox is paused"}
	case resuming:
		return Status{"Resuming", "RESUMING", "Resuming sandbox"}
	case terminated, failed:
		message := sb.message
		if message == "" {
			message = fmt.Sprintf("Pod failed: container exited with code %d", sb.exit)
		}
		return Status{"Failed", "FAILED", message}
	default:
		return Status{"Running", "RUNNING", "Sandbox is running"}
	}
}

func (s *Service) view(sb *sandbox) sandboxView {
	view := sandboxView{
		ID: sb.id, SnapshotID: sb.labels[labelSnapshot], Status: s.status(sb), Metadata: maps.Clone(s.metadata(sb)),
		Entrypoint: sb.entrypoint, ExpiresAt: optional(sb.expires()), CreatedAt: timestamp(sb.created), newerView: s.newerView(sb),
	}
	if view.SnapshotID == "" {
		view.Image = &imageView{sb.image}
	}
	if system, arch := sb.labels[labelOS], sb.labels[labelArch]; system != "" && arch != "" {
		view.Platform = &Platform{system, arch}
	}
	return view
}

func (s *Service) newerView(sb *sandbox) newerView {
	if !s.options.Newer {
		return newerView{}
	}
	view := newerView{Extensions: maps.Clone(sb.request.Extensions)}
	if pool := sb.request.poolRef(); pool != "" && sb.phase != pending {
		view.Allocation = &allocation{"pool", pool, "allocated"}
	}
	return view
}
