package opensandbox

import (
	cryptorand "crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"sync"
)

// identifiers makes ids and tokens, the same ones again for the same seed.
type identifiers struct {
	mu     sync.Mutex
	source *rand.ChaCha8
}

func newIdentifiers(seed int64) *identifiers {
	var key [32]byte
	if seed == 0 {
		_, _ = cryptorand.Read(key[:]) // never fails: crypto/rand ends the program instead
	} else {
		binary.LittleEndian.PutUint64(key[:], uint64(seed)) //nolint:gosec // any bits will do
	}
	return &identifiers{source: rand.NewChaCha8(key)}
}

func (i *identifiers) bytes(count int) []byte {
	i.mu.Lock()
	defer i.mu.Unlock()
	b := make([]byte, count)
	_, _ = i.source.Read(b) // never fails
	return b
}

// uuid is a random UUID (RFC 9562, version 4): ids of sandboxes and snapshots.
func (i *identifiers) uuid() string {
	b := i.bytes(16)
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// hex32 is 32 hex digits: request ids, ids of commands.
func (i *identifiers) hex32() string { return hex.EncodeToString(i.bytes(16)) }

// token is what endpoints ask for: 24 random bytes, URL-safe.
func (i *identifiers) token() string { return base64.RawURLEncoding.EncodeToString(i.bytes(24)) }
