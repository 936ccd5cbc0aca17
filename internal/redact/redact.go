// Package redact takes secrets out of texts that somebody else wrote: services repeat in their errors what they were sent, and
// commands print what they read. What is secret for the length of an operation goes along in its context.
package redact

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
)

const (
	// run is how many bytes in a row of a secret make a quotation: what is shown of one cut short is less. Of a long secret they
	// are more, in which short runs are words of everyday.
	run, longRun = 8, 16
	long         = 256
	veryLong     = 64 << 10
	// shortest secret that is looked for: to blank out each "1" or "on" would ruin a message and hide nothing.
	shortest = 4

	redacted = "(redacted)"
)

// Quotations gives text without what it quotes of the secrets, in whole or in part, as they are or escaped as in JSON.
func Quotations(text string, secrets ...string) string {
	var quoted []bool
	for _, secret := range secrets {
		for _, form := range forms(secret) {
			quoted = mark(quoted, text, form)
		}
	}
	if quoted == nil {
		return text
	}
	var shown strings.Builder
	for i := range len(text) {
		switch {
		case !quoted[i]:
			shown.WriteByte(text[i])
		case i == 0 || !quoted[i-1]:
			shown.WriteString(redacted)
		}
	}
	return strings.ToValidUTF8(shown.String(), "")
}

// forms are the secret as it is, escaped as in JSON, and as one line; a very long one is looked for as it is.
func forms(secret string) []string {
	all := []string{secret}
	if len(secret) > veryLong {
		return all
	}
	if escaped, err := json.Marshal(secret); err == nil {
		all = append(all, string(escaped[1:len(escaped)-1]))
	}
	all = append(all, strings.Join(strings.Fields(secret), " "))
	slices.Sort(all)
	return slices.Compact(all)
}

// mark notes which bytes of text are quoted from the secret; nil is none. The text is short, and the secret may be a file.
func mark(quoted []bool, text, secret string) []bool {
	size := min(run, len(secret))
	if len(secret) > long {
		size = longRun
	}
	if size < shortest {
		return quoted
	}
	for start := range len(text) - size + 1 {
		if !strings.Contains(secret, text[start:start+size]) {
			continue
		}
		if quoted == nil {
			quoted = make([]bool, len(text))
		}
		for i := start; i < start+size; i++ {
			quoted[i] = true
		}
	}
	return quoted
}

type key struct{}

// Within gives a context for an operation with secrets, besides those that ctx has.
func Within(ctx context.Context, secrets ...string) context.Context {
	return context.WithValue(ctx, key{}, append(slices.Clone(Of(ctx)), secrets...))
}

// Of lists the secrets of the operation.
func Of(ctx context.Context) []string {
	secrets, _ := ctx.Value(key{}).([]string)
	return secrets
}

// Text is Quotations of the operation's secrets.
func Text(ctx context.Context, text string) string { return Quotations(text, Of(ctx)...) }
