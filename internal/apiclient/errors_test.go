package apiclient

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

func TestErrorBodies(t *testing.T) {
	t.Parallel()
	const echoed = "hunter2-from-the-request"
	for name, c := range map[string]struct {
		status     int
		body       string
		code, text string
	}{
		"VM service":   {404, `{"error":"no such vm"}`, "", "no such vm"},
		"OpenSandbox":  {409, `{"code":"DOCKER::SANDBOX_NOT_RUNNING","message":"it is paused"}`, "DOCKER::SANDBOX_NOT_RUNNING", "it is paused"},
		"code alone":   {401, `{"code":"MISSING_API_KEY"}`, "MISSING_API_KEY", ""},
		"nested":       {500, `{"error":{"code":"E1","message":"boom","status":3}}`, "E1", "boom"},
		"detail":       {404, `{"detail":"Not Found"}`, "", "Not Found"},
		"problem":      {403, `{"type":"about:blank","title":"Forbidden","detail":"quota exceeded","status":403}`, "", "quota exceeded"},
		"only a title": {403, `{"title":"Forbidden","status":403}`, "", "Forbidden"},
		"a string":     {400, `"bad image"`, "", "bad image"},
		"list":         {400, `{"errors":["no cpu",{"message":"no memory"}]}`, "", "no cpu; no memory"},
		"422": {422, `{"detail":[{"type":"missing","loc":["body","image",0,"uri"],"msg":"Field required","input":{"env":{"P":"` + echoed + `"}},"ctx":{"e":"` + echoed + `"}},
			{"loc":["body"],"msg":"Too long","input":"` + echoed + `"},{"msg":"No place"}]}`, "", "body.image.0.uri: Field required; body: Too long; No place"},
		"422 in another shape": {422, `{"problems":[{"where":"cpu","input":"` + echoed + `"}]}`, "", `{"problems":[{"where":"cpu"}]}`},
		"422 without messages": {422, `{"detail":[{"loc":["cpu"],"input":"` + echoed + `"}]}`, "", `{"loc":["cpu"]}`},
		"422 cut":              {422, `{"detail":[{"input":"` + echoed, "", "not valid JSON"},
		"422 as text":          {422, `[{"input": ` + echoed + `}]`, "", "not valid JSON"},
		"page with a title": {502, "<!DOCTYPE html>\n<html><head><style>h1{}</style><title>502 Bad\nGateway &amp; more</title></head><body><h1>x</h1></body>", "",
			"502 Bad Gateway & more"},
		"page with a heading": {502, `<html><script>alert("t")</script><title> </title><h1 class="a>b">Down</h1><p>back soon`, "", "b\">Down"},
		"page without either": {502, `<html><style>p{}</style><!-- x > y --><body><script>if (a<b) {}</script><p>All <b>servers</b></p> busy<br></body></html>`, "", "All servers busy"},
		"XML":                 {403, `<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>`, "", "AccessDenied"},
		"text":                {500, "upstream\r\n\x1b[31mfailed\x00\u202e \xff", "", "upstream [31mfailed \uFFFD"},
		"long text":           {500, strings.Repeat("word ", 1000), "", strings.Repeat("word ", 99) + "word…"},
		"nothing":             {500, " \n", "", ""},
		"null":                {500, "null", "", ""},
		"number":              {500, "7", "", "7"},
		"empty object":        {500, "{}", "", "{}"},
		"empty error":         {500, `{"error":"","message":null,"detail":[]}`, "", `{"detail":[],"error":"","message":null}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, false, func(w http.ResponseWriter, _ *http.Request, _ int) {
				w.Header().Set("X-Request-ID", "r-1")
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			})
			r := get("v1", "vms", "vm-1")
			r.Retry = RetryNever
			e := failing(t, clientOf(t, s), r)
			exact := e.Text == c.text || c.text == "not valid JSON" && strings.HasSuffix(e.Text, c.text)
			if e.Code != c.code || !exact || e.RequestID != "r-1" || e.Status != c.status || strings.Contains(fmt.Sprintf("%+v", e), echoed) {
				t.Errorf("code %q, text %q, want %q, %q", e.Code, e.Text, c.code, c.text)
			}
		})
	}
}

func TestErrorReadsWell(t *testing.T) {
	t.Parallel()
	cause := errors.New("dial tcp 127.0.0.1:1: connection refused")
	for want, e := range map[string]*Error{
		"GET /v1/vms/vm-1: HTTP 404: no such vm (request id r-1)":       {Method: "GET", Path: "/v1/vms/vm-1", Status: 404, Text: "no such vm", RequestID: "r-1", Attempts: 1},
		"POST /v1/sandboxes: HTTP 409: A::B: it is paused (3 attempts)": {Method: "POST", Path: "/v1/sandboxes", Status: 409, Code: "A::B", Text: "it is paused", Attempts: 3},
		"GET /x: HTTP 502 Bad Gateway (5 attempts, request id r-2)":     {Method: "GET", Path: "/x", Status: 502, RequestID: "r-2", Attempts: 5},
		"GET /x: HTTP 599":                                               {Method: "GET", Path: "/x", Status: 599},
		"GET /x: HTTP 401: MISSING_API_KEY":                              {Method: "GET", Path: "/x", Status: 401, Code: "MISSING_API_KEY"},
		"POST /x: no answer: dial tcp 127.0.0.1:1: connection refused":   {Method: "POST", Path: "/x", Err: cause},
		"POST /x: not sent: dial tcp 127.0.0.1:1: connection refused":    {Method: "POST", Path: "/x", Err: cause, unsent: true},
		"POST /x: HTTP 201 Created: the answer was cut short: and so on": {Method: "POST", Path: "/x", Status: 201, Err: errors.New("the answer was cut short: and so on")},
		"POST /x: HTTP 503: busy: one; another":                          {Method: "POST", Path: "/x", Status: 503, Text: "busy", Err: errors.Join(errors.New("one"), errors.New("another"))},
	} {
		if got := e.Error(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestOpenAndTransient(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status          int
		retryAfter      string
		open, transient bool
	}{
		{303, "", true, false}, {304, "", false, false}, {307, "", false, false},
		{400, "", false, false}, {401, "", false, false}, {404, "", false, false}, {408, "", false, true}, {409, "", false, false}, {410, "", false, false},
		{422, "", false, false}, {425, "", false, true}, {429, "", false, true}, {429, "5", false, true},
		{500, "", true, true}, {501, "", true, true}, {502, "", true, true}, {503, "", true, true}, {503, "0", false, true}, {503, "soon", true, true}, {504, "9", true, true},
	} {
		s := serve(t, false, func(w http.ResponseWriter, _ *http.Request, _ int) {
			if c.retryAfter != "" {
				w.Header().Set("Retry-After", c.retryAfter)
			}
			w.WriteHeader(c.status)
		})
		r := post("x")
		r.Retry = RetryNever
		e := failing(t, clientOf(t, s), r)
		if err := fmt.Errorf("wrapped: %w", e); e.Open() != c.open || IsTransient(err) != c.transient {
			t.Errorf("%d, Retry-After %q: open %v, transient %v", c.status, c.retryAfter, e.Open(), IsTransient(err))
		}
		if gone := c.status == 404 || c.status == 410; IsGone(e) != gone {
			t.Errorf("%d: gone %v", c.status, IsGone(e))
		}
		if unauthorized := c.status == 401 || c.status == 403; IsUnauthorized(e) != unauthorized {
			t.Errorf("%d: unauthorized %v", c.status, IsUnauthorized(e))
		}
	}
	for _, err := range []error{nil, io.EOF} {
		if IsGone(err) || IsTransient(err) || IsUnauthorized(err) {
			t.Errorf("%v is taken for an answer", err)
		}
	}
}

// A service, or a proxy in front of it, echoes what it was sent in each way that it can.
func TestNoSecretIsEchoed(t *testing.T) {
	t.Parallel()
	const tenant, key = "tenant secret <&>", "idempotency-is-none"
	for name, echo := range map[string]func(string) string{
		"raw": func(s string) string { return s }, "query": url.QueryEscape, "path": url.PathEscape,
		"base64": func(s string) string { return base64.StdEncoding.EncodeToString([]byte("Bearer " + s)) },
		"JSON":   func(s string) string { return fmt.Sprintf(`{"error":%q}`, s) },
		"detail": func(s string) string { return fmt.Sprintf(`{"detail":[{"loc":["header",%q],"msg":%q}]}`, s, "bad "+s) },
		"code":   func(s string) string { return fmt.Sprintf(`{"code":%q,"message":"no"}`, s) },
		"odd":    func(s string) string { return fmt.Sprintf(`{"headers":{"authorization":[%q]}}`, s) },
		"page": func(s string) string {
			return "<title>" + strings.NewReplacer("&", "&amp;", "<", "&lt;").Replace(s) + "</title>"
		},
		"end": func(s string) string { return strings.Repeat("x", maxText-len(s)/2) + s },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, secret := range []string{token, tenant} {
				s := serve(t, false, func(w http.ResponseWriter, _ *http.Request, _ int) {
					w.Header().Set("X-Request-ID", url.QueryEscape(secret))
					w.Header().Set("Location", "https://user:"+url.QueryEscape(secret)+"@h/"+url.PathEscape(secret)+"?t="+url.QueryEscape(secret))
					w.Header().Set("Content-Type", secret)
					w.WriteHeader(map[bool]int{true: 302, false: 400}[name == "path"])
					_, _ = io.WriteString(w, echo(secret))
				})
				config := testConfig(s.URL)
				config.Credential.Secret = token + "\n"
				config.Headers = map[string]string{"X-Tenant": tenant}
				r := get("vms", secret)
				r.Header = http.Header{"Idempotency-Key": {key}}
				e := failing(t, must(t, config), r)
				all := e.Error() + e.Text + e.Code + e.RequestID + e.Path + e.URL
				for _, form := range formsOf(secret) {
					if strings.Contains(all, form) {
						t.Errorf("%s stands in %s", form, all)
					}
				}
				if part := secret[:len(secret)/3]; strings.Contains(all, part) {
					t.Errorf("a third of the secret stands in %s", all)
				}
				if !strings.Contains(all, redacted) {
					t.Errorf("nothing was redacted in %s", all)
				}
			}
		})
	}
}

func TestRedirects(t *testing.T) {
	t.Parallel()
	elsewhere := serve(t, false, func(http.ResponseWriter, *http.Request, int) {})
	s := serve(t, false, func(w http.ResponseWriter, r *http.Request, _ int) {
		switch r.URL.Path {
		case "/there":
			return
		case "/circle":
			http.Redirect(w, r, "/circle", http.StatusFound)
			return
		}
		code, to := 0, r.URL.Query().Get("to")
		_, _ = fmt.Sscan(r.URL.Query().Get("code"), &code)
		w.Header().Set("Location", to)
		w.WriteHeader(code)
	})
	other := strings.Replace(s.URL, "http:", "https:", 1) + "/there?secret=x"
	c := clientOf(t, s)
	for _, code := range []int{301, 302, 303, 307, 308} {
		for _, x := range []struct{ method, to, want string }{
			{"GET", "/there", ""}, {"GET", s.URL + "/there", ""}, {"HEAD", "there", ""},
			{"GET", "?code=302&to=/there", ""},
			{"GET", elsewhere.URL + "/x", "redirected to " + elsewhere.URL + "/x: which is another scheme, host or port than the configured address has"},
			{"GET", other, "redirected to " + strings.TrimSuffix(other, "?secret=x") + ": which is another"},
			{"GET", "//evil.example/x", "redirected to http://evil.example/x"},
			{"GET", "http://user:pw@evil.example/", "redirected to http://evil.example/: "},
			{"GET", "/circle", "/circle: too many times"},
			{"GET", "http://[", "redirected, but not to a valid URL"},
			{"GET", "", "redirected, but not to a valid URL"},
			{"POST", "/there", "a POST is not redirected"}, {"PUT", "/there", "a PUT is not redirected"}, {"DELETE", s.URL + "/there", "a DELETE is not redirected"},
			{"POST", elsewhere.URL, "another scheme, host or port"},
		} {
			r := Request{Method: x.method, Query: url.Values{"code": {fmt.Sprint(code)}, "to": {x.to}}}
			if x.method != "GET" && x.method != "HEAD" {
				r.JSON = 1
			}
			before := s.count()
			answer, err := c.Do(t.Context(), r, nil)
			if x.want == "" {
				if err != nil || answer.Status != 200 {
					t.Errorf("%d of %s to %s: %v", code, x.method, x.to, err)
				}
				continue
			}
			e := asError(t, err)
			if !strings.Contains(err.Error(), x.want) || e.Status/100 != 3 || IsTransient(err) || e.Attempts != 1 || e.Open() != (e.Status == 303) {
				t.Errorf("%d of %s to %s: %v", code, x.method, x.to, err)
			}
			if strings.Contains(err.Error(), "secret=x") || strings.Contains(err.Error(), "pw@") {
				t.Errorf("shows more of the location than it should: %v", err)
			}
			if n := s.count() - before; n > maxRedirects+1 || x.method != "GET" && n != 1 {
				t.Errorf("%d of %s to %s: %d requests", code, x.method, x.to, n)
			}
		}
	}
	if elsewhere.count() != 0 {
		t.Error("a redirect to another port was followed")
	}
}

func TestSameOrigin(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"http://h", "http://h:80/x", true}, {"https://H/", "https://h:443", true}, {"http://h", "https://h", false}, {"http://h", "http://h:8080", false},
		{"http://h", "http://h.evil", false}, {"http://[::1]", "http://[::1]:80", true}, {"https://h:80", "http://h:80", false},
	} {
		a, _ := url.Parse(c.a)
		b, _ := url.Parse(c.b)
		if got := sameOrigin(a, b); got != c.want {
			t.Errorf("%s and %s: %v", c.a, c.b, got)
		}
	}
}

func TestRequestThatCannotBeEncoded(t *testing.T) {
	t.Parallel()
	c := must(t, testConfig("http://127.0.0.1:1"))
	for _, r := range []Request{{Method: "POST", JSON: func() {}}, {Method: "P OST"}} {
		if e := failing(t, c, r); e.Open() || IsTransient(e) || e.Attempts != 0 || !strings.Contains(e.Error(), "not sent") {
			t.Errorf("%+v", e)
		}
	}
}
