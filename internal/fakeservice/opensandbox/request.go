package opensandbox

import (
	"fmt"
	"maps"
	"strings"
)

// CreateRequest is what a create asked for. Nil members were absent.
type CreateRequest struct {
	Image            *ImageRequest
	SnapshotID       string
	Platform         *Platform
	Timeout          int64 // seconds; 0 = none: the sandbox never expires
	ResourceLimits   map[string]string
	ResourceRequests map[string]string // newer generation
	Env              map[string]string
	Metadata         map[string]string
	Entrypoint       []string
	NetworkPolicy    *NetworkPolicy
	CredentialProxy  bool
	SecureAccess     bool
	Volumes          []Volume
	Extensions       map[string]string
	PreStart         *Hook  // newer generation
	Periodic         []Hook // newer generation
}

// ImageRequest is the image asked for, with what its registry asks for.
type ImageRequest struct {
	URI      string
	Auth     bool
	Username string
	Password Secret
}

// Platform is the platform asked for.
type Platform struct {
	OS   string `json:"os"`
	Arch string `json:"arch"`
}

// Hook is a lifecycle command; Name and Schedule are those of a periodic one.
type Hook struct {
	Name, Schedule string
	Command        []string
	TimeoutSeconds int64
}

// Volume is a storage mount; exactly one of Host, PVC and OSSFS is set.
type Volume struct {
	Name, MountPath, SubPath string
	ReadOnly                 bool
	Host                     string
	PVC                      *Claim
	OSSFS                    *OSSFS
}

// Claim is a named volume of the platform.
type Claim struct {
	Name                                          string
	CreateIfNotExists, DeleteOnSandboxTermination bool
	StorageClass, Storage                         string
	AccessModes                                   []string
}

// OSSFS is a bucket that is mounted.
type OSSFS struct {
	Bucket, Endpoint, Version string
	Options                   []string
	AccessKeyID               string
	AccessKeySecret           Secret
}

func (r CreateRequest) poolRef() string { return strings.TrimSpace(r.Extensions["poolRef"]) }

// clone keeps what accessors hand out apart from what the service works with.
func (r CreateRequest) clone() CreateRequest {
	r.ResourceLimits, r.ResourceRequests = maps.Clone(r.ResourceLimits), maps.Clone(r.ResourceRequests)
	r.Env, r.Metadata, r.Extensions = maps.Clone(r.Env), maps.Clone(r.Metadata), maps.Clone(r.Extensions)
	return r
}

var body = []any{"body"}

// createRequest reads the body of a create as the mirror's models do, in their order; with newer also the members that came later,
// which an older server drops without a word.
func (c *checker) createRequest(object map[string]any, newer bool) CreateRequest {
	mark := c.mark()
	var r CreateRequest
	r.Image = c.image(object)
	r.SnapshotID, _ = c.text(object, body, "snapshotId", false)
	r.Platform = c.platform(object)
	r.Timeout, _ = c.whole(object, body, "timeout", false, 60, unbounded)
	r.ResourceLimits = c.textMap(object, body, "resourceLimits", false)
	if newer {
		r.ResourceRequests = c.textMap(object, body, "resourceRequests", false)
	}
	r.Env = c.textMap(object, body, "env", true)
	r.Metadata = c.textMap(object, body, "metadata", false)
	r.Entrypoint = c.textList(object, body, "entrypoint", false, 1)
	r.NetworkPolicy = c.networkPolicy(object)
	if value, place, found := c.member(object, body, "credentialProxy", false); found {
		proxy, _ := c.model(value, place)
		r.CredentialProxy = c.truth(proxy, place, "enabled", false)
	}
	r.SecureAccess = c.truth(object, body, "secureAccess", false)
	r.Volumes = c.volumes(object)
	r.Extensions = c.textMap(object, body, "extensions", false)
	if newer {
		r.PreStart, r.Periodic = c.lifecycle(object)
	}
	if c.ok(mark) {
		c.source(object, &r, newer)
	}
	return r
}

const unbounded = 1<<63 - 1

// source checks what the source of a sandbox asks of the other members.
func (c *checker) source(object map[string]any, r *CreateRequest, newer bool) {
	hasImage := r.Image != nil && strings.TrimSpace(r.Image.URI) != ""
	hasSnapshot := strings.TrimSpace(r.SnapshotID) != ""
	message := ""
	switch {
	case r.poolRef() != "":
		message = poolConflict(r, hasSnapshot, newer)
	case r.CredentialProxy && r.NetworkPolicy == nil:
		message = "credentialProxy.enabled requires networkPolicy."
	case hasImage == hasSnapshot:
		message = "Exactly one of image or snapshotId must be provided."
	case hasImage && len(r.Entrypoint) == 0:
		message = "Entrypoint is required when image is provided."
	case r.ResourceLimits == nil:
		message = "resourceLimits is required when poolRef is not provided."
	}
	if message != "" {
		c.rule(body, object, message)
	}
	if !hasImage {
		r.Image = nil
	}
	if !hasSnapshot {
		r.SnapshotID = ""
	}
}

// poolConflict names the first member that can't stand beside poolRef; the mirror refuses only two of them here.
func poolConflict(r *CreateRequest, hasSnapshot, newer bool) string {
	conflicts := []struct {
		name           string
		given, ofNewer bool
	}{
		{"snapshotId", hasSnapshot, false},
		{"credentialProxy.enabled", r.CredentialProxy, false},
		{"networkPolicy", r.NetworkPolicy != nil, true},
		{"platform", r.Platform != nil, true},
		{"volumes", len(r.Volumes) > 0, true},
		{"lifecycle", r.PreStart != nil || len(r.Periodic) > 0, true},
	}
	for _, conflict := range conflicts {
		if conflict.given && (newer || !conflict.ofNewer) {
			return conflict.name + " cannot be used together with poolRef."
		}
	}
	return ""
}

func (c *checker) image(object map[string]any) *ImageRequest {
	value, place, found := c.member(object, body, "image", false)
	if !found {
		return nil
	}
	image, ok := c.model(value, place)
	if !ok {
		return nil
	}
	result := &ImageRequest{}
	result.URI, _ = c.text(image, place, "uri", true)
	if value, place, found := c.member(image, place, "auth", false); found {
		if auth, ok := c.model(value, place); ok {
			result.Auth = true
			result.Username, _ = c.text(auth, place, "username", true)
			password, _ := c.text(auth, place, "password", true)
			result.Password = Secret{password}
		}
	}
	return result
}

func (c *checker) platform(object map[string]any) *Platform {
	value, place, found := c.member(object, body, "platform", false)
	if !found {
		return nil
	}
	platform, ok := c.model(value, place)
	if !ok {
		return nil
	}
	result := &Platform{}
	result.OS, _ = c.text(platform, place, "os", true)
	result.Arch, _ = c.text(platform, place, "arch", true)
	return result
}

// lifecycle reads the hooks of the newer generation.
func (c *checker) lifecycle(object map[string]any) (preStart *Hook, periodic []Hook) {
	value, place, found := c.member(object, body, "lifecycle", false)
	if !found {
		return nil, nil
	}
	lifecycle, ok := c.model(value, place)
	if !ok {
		return nil, nil
	}
	if value, place, found := c.member(lifecycle, place, "preStart", false); found {
		hook := c.hook(value, place, false)
		preStart = &hook
	}
	if value, place, found := c.member(lifecycle, place, "periodic", false); found {
		items := c.list(value, place, 0)
		names := map[string]bool{}
		for i, item := range items {
			hook := c.hook(item, at(place, i), true)
			if names[hook.Name] {
				c.rule(place, value, fmt.Sprintf("periodic hook name %q is not unique", hook.Name))
			}
			names[hook.Name] = true
			periodic = append(periodic, hook)
		}
	}
	return preStart, periodic
}

func (c *checker) hook(value any, place []any, periodic bool) Hook {
	object, ok := c.model(value, place)
	if !ok {
		return Hook{}
	}
	hook := Hook{TimeoutSeconds: 60}
	limit := int64(10800)
	if periodic {
		limit = 300
		hook.Name, _ = c.text(object, place, "name", true, minLength(1))
		hook.Schedule, _ = c.text(object, place, "schedule", true, minLength(1))
	}
	hook.Command = c.textList(object, place, "command", true, 1)
	if seconds, ok := c.whole(object, place, "timeoutSeconds", false, 1, limit); ok {
		hook.TimeoutSeconds = seconds
	}
	return hook
}
