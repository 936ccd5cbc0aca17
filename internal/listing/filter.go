// Package listing is what the data sources and the list resources that list a server's objects share: what is picked, and
// how what is found streams to Terraform.
package listing

import (
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	api "github.com/agentenv/terraform-provider-gpuvm/internal/apiclient/opensandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/labels"
)

// What the filters say of themselves.
const (
	SandboxStatesText  = "Only sandboxes in one of these states, such as `Running` or `Paused`, whatever their case. Defaults to those in any state."
	MetadataText       = "Only sandboxes that carry all of this metadata, with exactly these values: as `effective_metadata` of the resource shows them, which the provider has made fit for the server. Defaults to those with any."
	SnapshotStatesText = "Only snapshots in one of these states: `Creating`, `Ready`, `Failed` or `Deleting`. Defaults to those in any state."
	SandboxIDText      = "Only snapshots of this sandbox, which may be gone. Defaults to those of all."
)

// SandboxFilter reads the filter of sandboxes; states are the elements of a set or list.
func SandboxFilter(states []attr.Value, metadata types.Map) api.SandboxFilter {
	wanted, _ := labels.FromMap(metadata)
	return api.SandboxFilter{States: texts(states), Metadata: wanted}
}

// SnapshotFilter reads the filter of snapshots. A server takes a state only in its own spelling, and would find nothing
// otherwise.
func SnapshotFilter(sandboxID types.String, states []attr.Value) api.SnapshotFilter {
	filter := api.SnapshotFilter{SandboxID: sandboxID.ValueString(), States: texts(states)}
	known := []string{api.SnapshotCreating, api.SnapshotReady, api.StateFailed, api.SnapshotDeleting}
	for i, state := range filter.States {
		if at := slices.IndexFunc(known, func(name string) bool { return strings.EqualFold(name, state) }); at >= 0 {
			filter.States[i] = known[at]
		}
	}
	return filter
}

func texts(elements []attr.Value) []string {
	var all []string
	for _, element := range elements {
		if text, ok := element.(types.String); ok {
			all = append(all, text.ValueString())
		}
	}
	return all
}
