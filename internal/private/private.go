// Package private keeps a resource's notes in Terraform's private state: what no attribute shows and a later step needs.
package private

import (
	"context"
	"encoding/json"

	"github.com/hashicorp/terraform-plugin-framework/diag"
)

// State is the private state as the framework hands it to a verb.
type State interface {
	GetKey(ctx context.Context, key string) ([]byte, diag.Diagnostics)
	SetKey(ctx context.Context, key string, value []byte) diag.Diagnostics
}

// The notes of the resources. A key is never given a second meaning: older states hold it with the first.
const (
	Imported     = "imported"      // true from import until the first apply has adopted the object
	Labels       = "labels"        // labels or metadata as they were sent and answered: drift is judged against these
	OwnLabels    = "own_labels"    // the keys of the object's own labels or metadata
	SourceHashes = "source_hashes" // SHA-256 of each uploaded local file, by its path in the machine
	OwnMetadata  = "own_metadata"  // the object's own metadata as it was configured when it was last written
	OwnedKeys    = "owned_keys"    // metadata keys that were once ours: PATCH names each of them
	Unfinished   = "unfinished"    // when an object was made whose create failed and which stands all the same
	CreateID     = "create_id"     // the marker of an exactly-once create
	Lease        = "lease"         // id and time to live of an ephemeral sandbox
	UploadedSize = "uploaded_size" // bytes of the uploaded file: a longer one in the machine isn't downloaded to compare it
)

// Get reads a note into value, and says whether there is one that can be read.
func Get(ctx context.Context, s State, key string, value any) bool {
	raw, _ := s.GetKey(ctx, key)
	return len(raw) > 0 && json.Unmarshal(raw, value) == nil
}

// Set writes a note.
func Set(ctx context.Context, s State, key string, value any, diags *diag.Diagnostics) {
	raw, err := json.Marshal(value)
	if err != nil {
		diags.AddError("Private state can't be written", err.Error())
		return
	}
	diags.Append(s.SetKey(ctx, key, raw)...)
}

// Clear takes a note away.
func Clear(ctx context.Context, s State, key string, diags *diag.Diagnostics) {
	diags.Append(s.SetKey(ctx, key, nil)...)
}

// IsImported says whether the object still waits for the apply that adopts it.
func IsImported(ctx context.Context, s State) bool {
	var imported bool
	return Get(ctx, s, Imported, &imported) && imported
}
