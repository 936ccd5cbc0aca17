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

// Parse reads private state as the framework writes it. It fails where the framework has notes of its own in it.
func Parse(encoded []byte) (Stored, error) {
	notes := Stored{}
	if len(encoded) == 0 {
		return notes, nil
	}
	if err := json.Unmarshal(encoded, &notes); err != nil {
		return nil, err
	}
	for key := range notes {
		if strings.HasPrefix(key, ".") {
			return nil, errors.New("the framework's own note: " + key)
		}
	}
	return notes, nil
}

// GetKey gives a note.
func (s Stored) GetKey(_ context.Context, key string) ([]byte, diag.Diagnostics) { return s[key], nil }

// SetKey refuses: what is stored is there to be read.
func (s Stored) SetKey(context.Context, string, []byte) diag.Diagnostics {
	return diag.Diagnostics{diag.NewErrorDiagnostic("Private state can't be written", "It is read only here.")}
}
