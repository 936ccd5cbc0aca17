package apiclient

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

const (
	redacted = "(redacted)"
	// minSecret in bytes: to blank out each "1" or "on" that stands as a header's value would ruin every message and hide nothing.
	minSecret = 4
	// minBase64 is how much of a secret's base64 form must be independent of the text around it to be looked for.
	minBase64 = 8
)

// secrets knows what must never be shown, in each form in which a service may echo it. The zero value knows none.
type secrets struct {
	mu    sync.RWMutex
	known map[string]bool
	forms []string // longest first, so that no form leaves the rest of another behind
}

func (s *secrets) addValues(header http.Header) {
	for _, values := range header {
		s.add(values...)
	}
}

func (s *secrets) add(values ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, value := range values {
		value = strings.TrimSpace(value)
		if len(value) < minSecret || s.known[value] {
			continue
		}
		if s.known == nil {
			s.known = map[string]bool{}
		}
		s.known[value] = true
		for _, form := range formsOf(value) {
			at, found := slices.BinarySearchFunc(s.forms, form, longestFirst)
			if !found {
				s.forms = slices.Insert(s.forms, at, form)
			}
		}
	}
}

func longestFirst(a, b string) int {
	if len(a) != len(b) {
		return len(b) - len(a)
	}
	return strings.Compare(a, b)
}

func (s *secrets) redact(text string) string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, form := range s.forms {
		if len(form) <= len(text) {
			text = strings.ReplaceAll(text, form, redacted)
		}
	}
	return text
}

var escapedByte = regexp.MustCompile(`%[0-9A-F]{2}`)

// formsOf lists the ways in which a text quotes a secret: as it is, escaped for a URL, JSON or Go, and in base64.
func formsOf(secret string) []string {
	forms := []string{secret, unquoted(strconv.Quote(secret)), unquoted(strconv.QuoteToASCII(secret))}
	for _, escaped := range []string{url.QueryEscape(secret), url.PathEscape(secret), escapeAll(secret)} {
		forms = append(forms, escaped, escapedByte.ReplaceAllStringFunc(escaped, strings.ToLower))
	}
	if quoted, err := json.Marshal(secret); err == nil { // escapes <, > and &; a Quote does not
		inner := unquoted(string(quoted))
		forms = append(forms, inner, strings.ReplaceAll(inner, "/", `\/`))
	}
	return append(forms, base64Forms(secret)...)
}

func unquoted(text string) string { return text[1 : len(text)-1] }

// escapeAll escapes whatever isn't unreserved (RFC 3986 section 2.3), as most languages' libraries do.
func escapeAll(secret string) string {
	return strings.ReplaceAll(url.QueryEscape(secret), "+", "%20")
}

// base64Forms lists what stays the same of the secret's base64 form whatever is encoded before and after it ("user:secret", "Bearer secret"):
// three bytes make four characters, so there are three ways in which it can lie, and characters that share bits with a neighbour are left out.
func base64Forms(secret string) []string {
	var forms []string
	for before := range 3 {
		for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			text := encoding.EncodeToString([]byte(strings.Repeat("\x00", before) + secret))
			text = text[(before*8+5)/6:]
			if (before+len(secret))%3 != 0 {
				text = text[:len(text)-1]
			}
			if len(text) >= minBase64 {
				forms = append(forms, text)
			}
		}
	}
	return forms
}
