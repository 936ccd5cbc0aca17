// Package upload is what users say about files that go into a machine: where the content comes from, and what of it
// can be known at plan.
package upload

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"os"

	"github.com/hashicorp/terraform-plugin-framework/types"
)

// Content is the one of several attributes that gives a file's bytes.
type Content struct {
	Text, Base64, WriteOnly, Source types.String
}

// Bytes reads the content. The error names no content.
func (c Content) Bytes() ([]byte, error) {
	switch {
	case !c.Text.IsNull():
		return []byte(c.Text.ValueString()), nil
	case !c.WriteOnly.IsNull():
		return []byte(c.WriteOnly.ValueString()), nil
	case !c.Base64.IsNull():
		data, err := base64.StdEncoding.DecodeString(c.Base64.ValueString())
		if err != nil {
			return nil, fmt.Errorf("content_base64 is not base64 (RFC 4648, section 4): %w", err)
		}
		return data, nil
	default:
		return ReadSource(c.Source.ValueString())
	}
}

// ReadSource reads a local file.
func ReadSource(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("the local file can't be read: %w", err)
	}
	return data, nil
}

// Hash is the SHA-256 of data in hex.
func Hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
