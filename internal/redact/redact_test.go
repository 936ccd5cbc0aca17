package redact_test

import (
	"strings"
	"testing"

	"github.com/agentenv/terraform-provider-gpuvm/internal/redact"
)

func TestQuotations(t *testing.T) {
	t.Parallel()
	const secret = "AKIA-1234-5678\npassword = \"correct horse battery staple\"\n"
	for name, test := range map[string]struct{ text, secret, want string }{
		"no quotation":     {"PUT /v1/vms/vm-1/files: HTTP 404: no such vm", secret, "PUT /v1/vms/vm-1/files: HTTP 404: no such vm"},
		"whole":            {"HTTP 500: got hunter2hunter2", "hunter2hunter2", "HTTP 500: got (redacted)"},
		"as one line":      {"HTTP 500: got AKIA-1234-5678 password = \"correct horse battery staple\"", secret, "HTTP 500: got (redacted)"},
		"cut short":        {"HTTP 500: got correct horse batt…", secret, "HTTP 500: got (redacted)…"},
		"in JSON":          {`{"got":"AKIA-1234-5678\npassword = \"correct horse battery staple\"\n"}`, secret, `{"got":"(redacted)"}`},
		"JSON in JSON":     {`{"got":"{\"k\":\"a1b2c3\"}"}`, `{"k":"a1b2c3"}`, `{"got":"(redacted)"}`},
		"short":            {"HTTP 400: 12345 is no file", "12345", "HTTP 400: (redacted) is no file"},
		"too short to be":  {"HTTP 400: on", "on", "HTTP 400: on"},
		"empty":            {"HTTP 400", "", "HTTP 400"},
		"longer than text": {"abc", secret, "abc"},
		"long":             {"HTTP 413: the content is too large", "the content" + strings.Repeat(" of a long file", 40), "HTTP 413: the content is too large"},
	} {
		if got := redact.Quotations(test.text, test.secret); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

func TestSecretsOfAnOperationAddUp(t *testing.T) {
	t.Parallel()
	ctx := redact.Within(redact.Within(t.Context(), "first-secret"), "other-secret")
	if got := redact.Text(ctx, "first-secret and other-secret"); got != "(redacted) and (redacted)" {
		t.Errorf("got %q", got)
	}
}

const redacted = "(redacted)" // what stands in a secret's place

func FuzzQuotations(f *testing.F) {
	f.Add("HTTP 500: got hunter2hunter2", "hunter2hunter2")
	f.Add("\xff\x00", "\\u0000")
	f.Fuzz(func(t *testing.T, text, secret string) {
		text = strings.ToValidUTF8(text, "?") // bytes that fall out could bring others together
		shown := redact.Quotations(text, secret)
		if len(secret) >= 4 && strings.Contains(shown, secret) && !strings.Contains(redacted, secret) && strings.Contains(text, secret) {
			t.Errorf("%q of %q shows %q", shown, text, secret)
		}
	})
}
