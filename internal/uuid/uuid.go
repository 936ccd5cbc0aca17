// Package uuid makes the random identifiers that mark a create, so that it can be recognised.
package uuid

import (
	"crypto/rand"
	"fmt"
)

// New gives a random UUID (RFC 9562, version 4) in its usual form of 36 characters.
func New() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand ends the program instead
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
