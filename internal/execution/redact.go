package execution

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agentenv/terraform-provider-gpuvm/internal/transcript"
)

const (
	redacted = "(redacted)"
	// shortest secret that is looked for: to blank out each "1" or "on" would ruin an output and hide nothing.
	shortest = 4
)

// redactor takes secrets out of what a command printed: those of the provider, and the variables that only this command
// was given.
type redactor struct {
	provider func(string) string
	secrets  []string // longest first, so that none leaves the rest of another behind
}

// newRedactor also looks for each line of a secret of several: output is told line by line.
func newRedactor(provider func(string) string, variables map[string]string) redactor {
	r := redactor{provider: provider}
	for _, value := range variables {
		r.secrets = append(r.secrets, value)
		for line := range transcript.Lines(value) {
			r.secrets = append(r.secrets, strings.TrimSpace(line))
		}
	}
	r.secrets = slices.DeleteFunc(r.secrets, func(secret string) bool { return len(secret) < shortest })
	slices.SortFunc(r.secrets, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	r.secrets = slices.Compact(r.secrets)
	return r
}

func (r redactor) text(text string) string {
	for _, secret := range r.secrets {
		text = strings.ReplaceAll(text, secret, redacted)
	}
	return r.provider(text)
}

// whole is a text whose beginning was cut off, without what may be the rest of a secret that the cut went through.
func (r redactor) whole(text string) string {
	if len(r.secrets) == 0 {
		return text
	}
	return strings.ToValidUTF8(text[min(len(text), len(r.secrets[0])-1):], "")
}

func (r redactor) error(err error) error { return &redactedError{text: r.text(err.Error()), err: err} }

type redactedError struct {
	text string
	err  error
}

func (e *redactedError) Error() string { return e.text }

func (e *redactedError) Unwrap() error { return e.err }
