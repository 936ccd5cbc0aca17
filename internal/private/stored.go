package private

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
)

// Stored is private state as Terraform stores it, to be read only.
type Stored map[string][]byte

// Parse reads private state as the framework writes it. It fails where the framework has notes of its own in it, or would
// complain.
func Parse(encoded []byte) (Stored, error) {
	notes := Stored{}
	if len(encoded) == 0 {
		return notes, nil
	}
	if err := json.Unmarshal(encoded, &notes); err != nil {
		return nil, err
	}
	for key, note := range notes {
		switch {
		case strings.HasPrefix(key, "."):
			return nil, errors.New("the framework's own note: " + key)
		case !json.Valid(note):
			return nil, errors.New("not a note: " + key)
		}
	}
	return notes, nil
}

// Add gives private state with a note more, or as it is where that can't be.
func Add(encoded []byte, key string, value any) []byte {
	notes, err := Parse(encoded)
	if err != nil {
		return encoded
	}
	note, err := json.Marshal(value)
	if err != nil {
		return encoded
	}
	notes[key] = note
	all, err := json.Marshal(notes)
	if err != nil {
		return encoded
	}
	return all
}

// GetKey gives a note.
func (s Stored) GetKey(_ context.Context, key string) ([]byte, diag.Diagnostics) { return s[key], nil }

// SetKey refuses: what is stored is there to be read.
func (s Stored) SetKey(context.Context, string, []byte) diag.Diagnostics {
	return diag.Diagnostics{diag.NewErrorDiagnostic("Private state can't be written", "It is read only here.")}
}
