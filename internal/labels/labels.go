// Package labels merges labels (metadata, where a service calls them so) and tells drift from what a service adds.
package labels

import (
	"context"
	"maps"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// Merge lays the layers over each other; a later one wins.
func Merge(layers ...map[string]string) map[string]string {
	merged := map[string]string{}
	for _, layer := range layers {
		maps.Copy(merged, layer)
	}
	return merged
}

// Without gives the entries of labels whose keys no other layer holds.
func Without(labels map[string]string, others ...map[string]string) map[string]string {
	rest := map[string]string{}
	taken := Merge(others...)
	for key, value := range labels {
		if _, ok := taken[key]; !ok {
			rest[key] = value
		}
	}
	return rest
}

// Stamp is what is remembered of a create: the labels that were sent, and those that the service answered.
type Stamp struct {
	Sent     map[string]string `json:"sent"`
	Answered map[string]string `json:"answered"`
}

// Now gives those of the sent labels with the given keys as they stand now. A key counts as changed only where the live
// value differs from what the service answered at create: a value that it rewrote then is none.
func (s Stamp) Now(keys []string, live map[string]string) map[string]string {
	now := map[string]string{}
	for _, key := range keys {
		sent, wasSent := s.Sent[key]
		was, had := s.Answered[key]
		is, has := live[key]
		switch {
		case wasSent && had == has && was == is:
			now[key] = sent
		case has:
			now[key] = is
		}
	}
	return now
}

// Restrict gives the entries of labels whose keys one of the others holds.
func Restrict(labels map[string]string, others ...map[string]string) map[string]string {
	kept := map[string]string{}
	wanted := Merge(others...)
	for key := range wanted {
		if value, ok := labels[key]; ok {
			kept[key] = value
		}
	}
	return kept
}

// Missing names the own labels that live lacks or holds with another value.
func Missing(own, live map[string]string) []string {
	var missing []string
	for key, value := range own {
		if is, ok := live[key]; !ok || is != value {
			missing = append(missing, key)
		}
	}
	return missing
}

// FromMap reads a map attribute. known is false where it or one of its values isn't known yet.
func FromMap(m types.Map) (labels map[string]string, known bool) {
	if m.IsUnknown() {
		return nil, false
	}
	labels = map[string]string{}
	for key, element := range m.Elements() {
		value, ok := element.(types.String)
		if !ok || value.IsUnknown() {
			return nil, false
		}
		if !value.IsNull() {
			labels[key] = value.ValueString()
		}
	}
	return labels, true
}

// ToMap makes a map attribute.
func ToMap(ctx context.Context, labels map[string]string, diags *diag.Diagnostics) types.Map {
	if labels == nil {
		labels = map[string]string{}
	}
	value, d := types.MapValueFrom(ctx, types.StringType, labels)
	diags.Append(d...)
	return value
}

// Effective is the own labels over the provider's defaults; unknown while one of the two is.
func Effective(ctx context.Context, own, defaults types.Map, diags *diag.Diagnostics) types.Map {
	ownLabels, ownKnown := FromMap(own)
	defaultLabels, defaultsKnown := FromMap(defaults)
	if !ownKnown || !defaultsKnown {
		return types.MapUnknown(types.StringType)
	}
	return ToMap(ctx, Merge(defaultLabels, ownLabels), diags)
}
