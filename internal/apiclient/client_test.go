package apiclient

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

func TestRequestIsSentAsAsked(t *testing.T) {
	t.Parallel()
	var body string
	s := serve(t, false, func(w http.ResponseWriter, r *http.Request, _ int) {
		got, _ := io.ReadAll(r.Body)
		body = string(got)
		w.Header().Set("X-Request-ID", "r-1")
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"id":"vm-1"}`)
	})
	config := testConfig(s.URL + "/prefix//")
	config.Credential.Secret = token + "\n"
	config.Headers = map[string]string{"X-Tenant": "blue\n", "accept": "text/x", "Host": "vm.example"}
	r := post("v1", "vms")
	r.Query = url.Values{"path": {"/a b"}}
	r.Header = http.Header{"idempotency-key": {"k-1"}, "Authorization": {"Bearer of the caller's"}}
	var out struct{ ID string }
	answer, err := must(t, config).Do(t.Context(), r, &out)
	if err != nil || out.ID != "vm-1" || answer.Status != 201 || answer.Header.Get("X-Request-ID") != "r-1" || string(answer.Body) != `{"id":"vm-1"}` {
		t.Fatalf("%v, %+v, %+v", err, out, answer)
	}
	got := s.last()
	if got.RequestURI != "/prefix/v1/vms?path=%2Fa+b" || body != `{"image":"ubuntu"}` || got.Host != "vm.example" {
		t.Errorf("sent %s to %s with %s", got.RequestURI, got.Host, body)
	}
	for name, want := range map[string]string{
		"Authorization": "Bearer " + token, "X-Tenant": "blue", "Accept": "text/x", "Idempotency-Key": "k-1",
		"User-Agent": "test/1", "Content-Type": "application/json", "Content-Length": "18", "Accept-Encoding": "",
	} {
		if v := strings.Join(got.Header.Values(name), "|"); v != want {
			t.Errorf("%s: %q, want %q", name, v, want)
		}
	}
}

func TestNoCredentialIsSentWithoutASecret(t *testing.T) {
	t.Parallel()
	s := serve(t, false, func(http.ResponseWriter, *http.Request, int) {})
	config := testConfig(s.URL)
	config.Credential.Secret = " \n"
	if _, err := must(t, config).Do(t.Context(), get("x"), nil); err != nil {
		t.Fatal(err)
	}
	if got, sent := s.last().Header["Authorization"]; sent {
		t.Errorf("sent %q", got)
	}
}

func TestPathSegments(t *testing.T) {
	t.Parallel()
	s := serve(t, false, func(http.ResponseWriter, *http.Request, int) {})
	c := must(t, testConfig(s.URL+"/a%2Fb/"))
	for segment, want := range map[string]string{
		"a/b": "a%2Fb", "a b?c": "a%20b%3Fc", "../x": "..%2Fx", "%2F": "%252F", "..%2f": "..%252f", "%2e%2e": "%252e%252e", "a#b;c": "a%23b%3Bc",
		"é\n": "%C3%A9%0A", "...": "...", "vm-1": "vm-1", `\..\`: "%5C..%5C", "http://x": "http:%2F%2Fx",
	} {
		if _, err := c.Do(t.Context(), get("v1", segment, "exec"), nil); err != nil {
			t.Fatal(err)
		}
		if got := s.last(); got.RequestURI != "/a%2Fb/v1/"+want+"/exec" || !strings.HasSuffix(got.URL.Path, "/v1/"+segment+"/exec") {
			t.Errorf("%q was sent as %s", segment, got.RequestURI)
		}
	}
	before := s.count()
	for _, segment := range []string{"", ".", ".."} {
		e := failing(t, c, Request{Method: http.MethodDelete, Path: []string{"v1", "vms", segment}})
		if e.Open() || IsTransient(e) || IsGone(e) || e.Method != "DELETE" {
			t.Errorf("%q: %+v", segment, e)
		}
	}
	if s.count() != before {
		t.Error("something was sent")
	}
	if _, err := c.Do(t.Context(), get(), nil); err != nil || s.last().RequestURI != "/a%2Fb" {
		t.Errorf("the base itself: %v, %s", err, s.last().RequestURI)
	}
}

func TestConfigErrors(t *testing.T) {
	t.Parallel()
	const secret = "hunter2secret"
	for name, c := range map[string]struct {
		change func(*Config)
		want   string
	}{
		"no URL":             {func(c *Config) { c.BaseURL = "" }, "base_url: want http"},
		"no scheme":          {func(c *Config) { c.BaseURL = "localhost:8080" }, "base_url: want http"},
		"another scheme":     {func(c *Config) { c.BaseURL = "ftp://x" }, "base_url: want http"},
		"no host":            {func(c *Config) { c.BaseURL = "http://:80/x" }, "base_url: want http"},
		"broken":             {func(c *Config) { c.BaseURL = "http://u:" + secret + "#@h" }, "base_url: want http"},
		"password":           {func(c *Config) { c.BaseURL = "http://u:" + secret + "@h" }, "base_url: a user name"},
		"query":              {func(c *Config) { c.BaseURL = "http://h/?t=" + secret }, "base_url: a query"},
		"port":               {func(c *Config) { c.BaseURL = "http://h:70000" }, "base_url: the port"},
		"token in two lines": {func(c *Config) { c.Credential.Secret = secret + "\n" + secret }, "credential: the value for Authorization holds a line break"},
		"header's name":      {func(c *Config) { c.Headers = map[string]string{"a b": secret} }, `headers: "a b" is not`},
		"header's value":     {func(c *Config) { c.Headers = map[string]string{"a": secret + "\x00" + secret} }, "headers: the value for a holds"},
		"CA":                 {func(c *Config) { c.CACertificate = "/etc/ca.pem" }, "ca_certificate: no PEM certificate found"},
		"broken CA":          {func(c *Config) { c.CACertificate = pemOf([]byte("no"), "CERTIFICATE") }, "ca_certificate: x509"},
		"no key":             {func(c *Config) { c.ClientCertificate = "x" }, "client_key: is missing"},
		"no certificate":     {func(c *Config) { c.ClientKey = secret }, "client_certificate: is missing"},
		"broken key":         {func(c *Config) { c.ClientCertificate, c.ClientKey = "x", secret }, "client_certificate: tls"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := testConfig("http://localhost")
			c.change(&config)
			_, err := New(config)
			var wrong *ConfigError
			if !errors.As(err, &wrong) || !strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), secret) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

func TestDerivedClientLeavesSecretsBehind(t *testing.T) {
	t.Parallel()
	s := serve(t, false, func(http.ResponseWriter, *http.Request, int) {})
	config := testConfig(s.URL)
	config.Headers = map[string]string{"X-Tenant": "tenant-secret"}
	c := must(t, config)
	for _, keep := range []bool{false, true} {
		derived, err := c.At(s.URL+"/sandboxes/1/proxy/44772/", map[string]string{"X-Execd-Access-Token": "endpoint-secret"}, keep)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := derived.Do(t.Context(), get("ping"), nil); err != nil {
			t.Fatal(err)
		}
		got := s.last()
		if got.RequestURI != "/sandboxes/1/proxy/44772/ping" || got.Header.Get("X-Execd-Access-Token") != "endpoint-secret" || got.Header.Get("X-Tenant") != "" {
			t.Errorf("sent %s with %v", got.RequestURI, got.Header)
		}
		if sent := got.Header.Get("Authorization") != ""; sent != keep {
			t.Errorf("credential kept: %v, asked for: %v", sent, keep)
		}
	}
	if s.connections != 1 {
		t.Errorf("%d connections, want one for all", s.connections)
	}
	if text := c.Redact("endpoint-secret of tenant-secret and " + token); text != "(redacted) of (redacted) and (redacted)" {
		t.Error(text)
	}
	for _, bad := range []string{"", "host:1", "ftp://x"} {
		if _, err := c.At(bad, nil, true); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
	if _, err := c.At(s.URL, map[string]string{"a": "b\nc"}, true); err == nil {
		t.Error("a line break in a header was accepted")
	}
}

func TestRedactFindsEveryForm(t *testing.T) {
	t.Parallel()
	const secret = `p/4+ß "x"<y>&z%`
	var s secrets
	s.add(" "+secret+"\n", "abc", "on", "")
	for name, echo := range map[string]string{
		"raw": secret, "query": url.QueryEscape(secret), "path": url.PathEscape(secret), "query in lower case": "p%2f4%2b%c3%9f+%22x%22%3cy%3e%26z%25",
		"percent": "p%2F4%2B%C3%9F%20%22x%22%3Cy%3E%26z%25", "JSON": `p/4+ß \"x\"<y>&z%`, "JSON for HTML": `p/4+ß \"x\"\u003cy\u003e\u0026z%`,
		"JSON in ASCII": `p/4+\u00df \"x\"<y>&z%`, "base64": "cC80K8OfICJ4Ijx5PiZ6JQ==", "base64 for URLs": "cC80K8OfICJ4Ijx5PiZ6JQ",
		"Basic user:secret": "dXNlcjpwLzQrw58gIngiPHk+JnolOm1vcmU=",
		"Bearer secret":     "QmVhcmVyIHAvNCvDnyAieCI8eT4meiU=",
	} {
		got := s.redact("<" + echo + ">")
		if strings.Contains(got, echo) || !strings.Contains(got, redacted) || len(got) > len(redacted)+18 {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := s.redact("abc is on"); got != "abc is on" {
		t.Errorf("a value too short to be a secret was blanked out: %s", got)
	}
}
