package machine

import (
	"crypto/rand"
	"io"
)

type null struct{}

func (null) Read([]byte) (int, error)       { return 0, io.EOF }
func (null) Write(data []byte) (int, error) { return len(data), nil }
func (null) Close() error                   { return nil }

type zero struct{ null }

func (zero) Read(into []byte) (int, error) {
	clear(into)
	return len(into), nil
}

type random struct{ null }

func (random) Read(into []byte) (int, error) { return rand.Read(into) }
