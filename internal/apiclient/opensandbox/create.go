package opensandbox

import (
	"context"
	"net/http"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/apiclient"
)

// PoolRefExtension is the extension that names the pool a sandbox is taken from.
const PoolRefExtension = "poolRef"

// CreateRequest is the body of POST /sandboxes. Exactly one of Image, SnapshotID and a pool in Extensions says where the
// sandbox comes from.
type CreateRequest struct {
	Image            *Image            `json:"image,omitempty"`
	SnapshotID       string            `json:"snapshotId,omitempty"`
	Platform         *Platform         `json:"platform,omitempty"`
	TimeoutSeconds   *int64            `json:"timeout,omitempty"` // at least 60; nil = it never expires
	ResourceLimits   map[string]string `json:"resourceLimits,omitempty"`
	ResourceRequests map[string]string `json:"resourceRequests,omitempty"` // newer servers on Kubernetes; others ignore it
	Env              map[string]string `json:"env,omitempty"`
	Metadata         map[string]string `json:"metadata,omitempty"`
	Entrypoint       []string          `json:"entrypoint,omitempty"` // needed with an image
	NetworkPolicy    *NetworkPolicy    `json:"networkPolicy,omitempty"`
	CredentialProxy  *CredentialProxy  `json:"credentialProxy,omitempty"` // needs NetworkPolicy
	SecureAccess     bool              `json:"secureAccess,omitempty"`
	Volumes          []Volume          `json:"volumes,omitempty"`
	Extensions       map[string]string `json:"extensions,omitempty"`
	Lifecycle        *Hooks            `json:"lifecycle,omitempty"` // newer servers
}

// Image names a container image. Auth is never told back.
type Image struct {
	URI  string     `json:"uri"`
	Auth *ImageAuth `json:"auth,omitempty"`
}

// ImageAuth signs in to a private registry.
type ImageAuth struct {
	Username string `json:"username"`
	Password string `json:"password"`
}

// Platform is linux or windows on amd64 or arm64.
type Platform struct {
	OS   string `json:"os"`
	Arch string `json:"arch"`
}

// NetworkPolicy says which names a sandbox may reach. The first rule that fits decides.
type NetworkPolicy struct {
	DefaultAction string        `json:"defaultAction"` // "allow" or "deny"
	Egress        []NetworkRule `json:"egress"`
}

// NetworkRule allows or denies a name, a wildcard or, where the sidecar can, an address.
type NetworkRule struct {
	Action string `json:"action"`
	Target string `json:"target"`
}

// CredentialProxy turns the credential proxy on.
type CredentialProxy struct {
	Enabled bool `json:"enabled"`
}

// Volume mounts exactly one of Host, PVC and OSSFS at MountPath.
type Volume struct {
	Name      string `json:"name"`
	MountPath string `json:"mountPath"`
	ReadOnly  bool   `json:"readOnly,omitempty"`
	SubPath   string `json:"subPath,omitempty"`
	Host      *Host  `json:"host,omitempty"`
	PVC       *PVC   `json:"pvc,omitempty"`
	OSSFS     *OSSFS `json:"ossfs,omitempty"`
}

// Host is a path of the server's host.
type Host struct {
	Path string `json:"path"`
}

// PVC is a claim of Kubernetes, or a named volume of Docker. A nil bool leaves the server's default.
type PVC struct {
	ClaimName                  string   `json:"claimName"`
	CreateIfNotExists          *bool    `json:"createIfNotExists,omitempty"`
	DeleteOnSandboxTermination *bool    `json:"deleteOnSandboxTermination,omitempty"`
	StorageClass               string   `json:"storageClass,omitempty"`
	Storage                    string   `json:"storage,omitempty"`
	AccessModes                []string `json:"accessModes,omitempty"`
}

// OSSFS is a bucket of Alibaba Cloud's object store.
type OSSFS struct {
	Bucket          string   `json:"bucket"`
	Endpoint        string   `json:"endpoint"`
	Version         string   `json:"version,omitempty"`
	Options         []string `json:"options,omitempty"`
	AccessKeyID     string   `json:"accessKeyId"`
	AccessKeySecret string   `json:"accessKeySecret"`
}

// Hooks are commands that a newer server runs in the sandbox by itself.
type Hooks struct {
	PreStart *PreStart  `json:"preStart,omitempty"`
	Periodic []Periodic `json:"periodic,omitempty"`
}

// PreStart runs once, before the entrypoint. TimeoutSeconds is 1 to 10800; 0 leaves the server's default of 60.
type PreStart struct {
	Command        []string `json:"command"`
	TimeoutSeconds int64    `json:"timeoutSeconds,omitempty"`
}

// Periodic runs on a schedule. TimeoutSeconds is 1 to 300; 0 leaves the server's default of 60.
type Periodic struct {
	Name           string   `json:"name"`
	Schedule       string   `json:"schedule"`
	Command        []string `json:"command"`
	TimeoutSeconds int64    `json:"timeoutSeconds,omitempty"`
}

// CreateSandbox asks for a sandbox, once: what an open outcome means, and whether to ask again, is the caller's to find
// out. The server may take as long as an image pull to answer, so the call has a timeout of its own.
func (c *Client) CreateSandbox(ctx context.Context, body CreateRequest, timeout time.Duration) (Sandbox, error) {
	var sandbox Sandbox
	_, err := c.http.Do(ctx, apiclient.Request{
		Method:  http.MethodPost,
		Path:    []string{"sandboxes"},
		JSON:    body,
		Timeout: timeout,
		Retry:   apiclient.RetryNever,
	}, &sandbox)
	if err != nil {
		return Sandbox{}, err
	}
	return sandbox, sandbox.check(asked(http.MethodPost, "sandboxes"))
}
