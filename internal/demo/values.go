package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// show writes an output value as a person reads it: text without quotes, a map as "key → value".
func show(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	var pairs map[string]json.RawMessage
	if json.Unmarshal(value, &pairs) != nil {
		return string(compact(value))
	}
	shown := make([]string, 0, len(pairs))
	for _, key := range slices.Sorted(maps.Keys(pairs)) {
		shown = append(shown, key+" → "+show(pairs[key]))
	}
	return strings.Join(shown, ", ")
}

// compact makes two encodings of one value equal: Terraform writes an object's keys in order, but not its spaces
// alike in every place.
func compact(value json.RawMessage) []byte {
	var b bytes.Buffer
	if json.Compact(&b, value) != nil {
		return value
	}
	return b.Bytes()
}
