package apiclient

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"
)

func FuzzRetryAfter(f *testing.F) {
	for _, value := range []string{"", "7", "-1", "99999999999999999999", "Sun, 01 Mar 2026 12:00:30 GMT", "Sunday, 01-Mar-26 12:00:30 GMT", "1e9"} {
		f.Add(value, "Sun, 01 Mar 2026 12:00:00 GMT")
	}
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, value, date string) {
		got := parseRetryAfter(http.Header{"Retry-After": {value}, "Date": {date}}, now)
		if got != -1 && (got < 0 || got > maxRetryAfter*time.Second) {
			t.Errorf("%q: %d", value, got)
		}
	})
}

func FuzzErrorBody(f *testing.F) {
	for _, body := range []string{
		"", "null", `{"error":"no such vm"}`, `{"code":"A","message":"b"}`, `{"detail":[{"loc":["body",1],"msg":"m","input":"canary-4711"}]}`,
		`{"error":{"error":{"detail":["x",{"input":"canary-4711"}]}}}`, "<title>502</title>", "<h1", "<!--", "text \x1b[0m", `{"input":"canary-4711"`,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		code, text := describe(body)
		for _, part := range []string{code, text} {
			short := readable(part, maxText)
			if !utf8.ValidString(short) || utf8.RuneCountInString(short) > maxText || strings.ContainsFunc(short, unicode.IsControl) {
				t.Errorf("%q", short)
			}
		}
		// What only ever stands in an input must not be shown.
		_, text = describe([]byte(`{"detail":[{"loc":["body"],"msg":"wrong","input":` + quoted(string(body)) + `,"ctx":{"x":` + quoted(string(body)) + `}}]}`))
		if text != "body: wrong" {
			t.Errorf("%q", text)
		}
	})
}

func quoted(text string) string { return `"` + strings.Map(plain, text) + `"` }

func plain(r rune) rune {
	if r < ' ' || r == '"' || r == '\\' {
		return '.'
	}
	return r
}

func FuzzPEM(f *testing.F) {
	f.Add("", "", "")
	f.Add("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "x", "y")
	f.Add("-----BEGIN RSA PRIVATE KEY-----\n", "-----BEGIN CERTIFICATE-----", "-----BEGIN")
	f.Fuzz(func(t *testing.T, ca, certificate, key string) {
		config := testConfig("http://localhost")
		config.CACertificate, config.ClientCertificate, config.ClientKey = ca, certificate, key
		_, err := New(config)
		var wrong *ConfigError
		if err != nil && !errors.As(err, &wrong) {
			t.Errorf("%T: %v", err, err)
		}
		if err == nil && (ca != "" || certificate != "" || key != "") && !strings.Contains(ca+certificate, "CERTIFICATE") {
			t.Error("was accepted")
		}
		if err != nil && len(strings.TrimSpace(key)) > 40 && strings.Contains(err.Error(), key) {
			t.Errorf("shows the key: %v", err)
		}
	})
}

func FuzzRedact(f *testing.F) {
	f.Add("hunter2secret", "before ", " after")
	f.Add(`a"\/+ß%`, "", "")
	f.Fuzz(func(t *testing.T, secret, before, after string) {
		var s secrets
		s.add(secret)
		secret = strings.TrimSpace(secret)
		if len(secret) < minSecret || strings.Contains(redacted, secret) || strings.Contains(before+redacted+after, secret) {
			return
		}
		for _, form := range formsOf(secret) {
			if got := s.redact(before + form + after); strings.Contains(got, secret) {
				t.Errorf("%q", got)
			}
		}
	})
}
