// Package metadata is OpenSandbox's word for labels: what keys may be called, and what becomes of values that its
// runtimes, which keep them as Kubernetes labels, don't take.
package metadata

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentenv/terraform-provider-gpuvm/internal/labels"
	lifecycle "github.com/agentenv/terraform-provider-gpuvm/internal/lifecycle/opensandbox"
)

const (
	maxName   = 63
	maxPrefix = 253
	// reserved begins the keys that the server keeps for itself.
	reserved = "opensandbox.io/"
	// empty is what a value becomes of which nothing can be kept.
	empty = "metadata"
)

var (
	unsupported = regexp.MustCompile(`[^A-Za-z0-9_.-]+`)
	keyName     = regexp.MustCompile(`^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$`)
	keyPrefix   = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
)

// Normalize makes a value that every runtime takes, as NeMo Gym's OpenSandbox provider does: each run of characters
// outside A-Z a-z 0-9 _ . - becomes one underscore, then . _ and - are cut off both ends, then all beyond 63 characters
// and those three at the end once more. Nothing left makes the text "metadata".
func Normalize(value string) string {
	const edges = "._-"
	value = strings.Trim(unsupported.ReplaceAllString(value, "_"), edges)
	if len(value) > maxName {
		value = strings.Trim(value[:maxName], edges)
	}
	if value == "" {
		return empty
	}
	return value
}

// NormalizeAll normalizes every value.
func NormalizeAll(metadata map[string]string) map[string]string {
	normal := make(map[string]string, len(metadata))
	for key, value := range metadata {
		normal[key] = Normalize(value)
	}
	return normal
}

// CheckKey says what is wrong with a key, by the rules of Kubernetes' label keys. Nothing can be changed of one.
func CheckKey(key string) error {
	prefix, name, prefixed := strings.Cut(key, "/")
	if !prefixed {
		prefix, name = "", key
	}
	switch {
	case strings.HasPrefix(key, reserved):
		return fmt.Errorf("the server keeps keys that begin with %s for itself", reserved)
	case key == lifecycle.CreateIDKey:
		return fmt.Errorf("the provider finds a new sandbox by this key, so it is taken")
	case prefixed && (len(prefix) > maxPrefix || !keyPrefix.MatchString(prefix)):
		return fmt.Errorf("what stands before its slash has to be a lowercase DNS name of at most %d characters, such as example.com", maxPrefix)
	case len(name) > maxName || !keyName.MatchString(name):
		return fmt.Errorf("the name has to be 1 to %d letters, digits, dashes, dots and underscores, with a letter or digit at both ends", maxName)
	}
	return nil
}

// Effective is the own metadata over the provider's defaults, normalized; unknown while one of the two is.
func Effective(ctx context.Context, own, defaults types.Map, diags *diag.Diagnostics) types.Map {
	merged := labels.Effective(ctx, own, defaults, diags)
	known, ok := labels.FromMap(merged)
	if !ok {
		return merged
	}
	return labels.ToMap(ctx, NormalizeAll(known), diags)
}

// Visible is what a server tells of a sandbox without the provider's own mark on it.
func Visible(live map[string]string) map[string]string {
	shown := maps.Clone(live)
	delete(shown, lifecycle.CreateIDKey)
	return shown
}
