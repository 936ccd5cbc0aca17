package acctest

import (
	"regexp"
	"strings"
)

// Said finds a message however Terraform breaks its lines.
func Said(text string) *regexp.Regexp {
	words := strings.Fields(text)
	for i := range words {
		words[i] = regexp.QuoteMeta(words[i])
	}
	return regexp.MustCompile(strings.Join(words, `[\s│╷╵]+`))
}
