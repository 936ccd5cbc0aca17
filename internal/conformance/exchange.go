package conformance

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"
)

const (
	maxAnswer = 4 << 20 // bytes that are read of an answer
	maxShown  = 300     // characters of a body that a report shows
	// patience is how often a request is repeated that is told to come back later.
	patience = 8
	// longestPause is the longest Retry-After that a check sits out.
	longestPause = 5 * time.Minute
)

// request is one request below /v1/vms.
type request struct {
	method      string
	path        []string // each is escaped as one segment
	query       string
	header      map[string]string
	body        []byte
	contentType string
	shown       string        // of the body, where it isn't text
	anonymous   bool          // without a token
	token       string        // another one than the service's
	limit       time.Duration // 0 is the run's
	uncut       bool          // an interrupt lets it finish: cutting it would lose what it makes
}

// exchange is a request and what came of it.
type exchange struct {
	method, path string // the path as it was sent, from /v1 on
	sent         string // the body as it is shown
	status       int
	header       http.Header
	body         []byte
	err          error // no usable answer came
	took         time.Duration
	ended        time.Time
}

func (x *exchange) asked() string {
	text := x.method + " " + x.path
	if x.sent != "" {
		text += " " + shorten(x.sent)
	}
	return text
}

func (x *exchange) came() string {
	if x.err != nil {
		return "no answer: " + x.err.Error()
	}
	text := strconv.Itoa(x.status)
	if location := x.header.Get("Location"); location != "" {
		text += " to " + shorten(location)
	}
	if len(x.body) > 0 {
		text += " " + shorten(string(x.body))
	}
	return text
}

func (x *exchange) ok() bool { return x.err == nil && x.status >= 200 && x.status < 300 }

// is says whether an answer with that status came.
func (x *exchange) is(status int) bool { return x.err == nil && x.status == status }

// object reads the body as one JSON object.
func (x *exchange) object() (map[string]any, error) {
	var fields map[string]any
	if err := json.Unmarshal(x.body, &fields); err != nil {
		return nil, fmt.Errorf("the body is no JSON object: %w", err)
	}
	if fields == nil {
		return nil, fmt.Errorf("the body is no JSON object: it is null")
	}
	return fields, nil
}

func (x *exchange) text(field string) string {
	fields, err := x.object()
	if err != nil {
		return ""
	}
	text, _ := fields[field].(string)
	return text
}

// shorten makes foreign text fit a line of a report, and harmless to the terminal that it is shown on.
func shorten(text string) string {
	text = strings.Map(func(letter rune) rune {
		if unicode.IsControl(letter) {
			return ' '
		}
		return letter
	}, strings.ToValidUTF8(text, "\uFFFD"))
	text = strings.TrimSpace(text)
	if letters := []rune(text); len(letters) > maxShown {
		return string(letters[:maxShown]) + "..."
	}
	return text
}

// doer is a client without anything clever: no redirect, no repetition, no connection that an earlier request has worn out.
type doer struct{ http.Client }

func newClient(roots *x509.CertPool) *doer {
	return &doer{http.Client{
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true, ForceAttemptHTTP2: true,
			TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// do sends a request, again where the service tells it to come back later, and notes what is judged at the end.
func (r *run) do(ctx context.Context, q request) *exchange {
	sending := ctx
	if q.uncut {
		sending = context.WithoutCancel(ctx)
	}
	for attempt := 1; ; attempt++ {
		x := r.once(sending, q)
		wait, told := comeBack(x, attempt)
		if !told {
			if x.err == nil && x.status >= 400 {
				r.errors = append(r.errors, x)
			}
			return x
		}
		r.pushback = append(r.pushback, x)
		if attempt > patience || wait > longestPause || r.Clock.Sleep(ctx, wait) != nil {
			return x
		}
	}
}

func (r *run) once(ctx context.Context, q request) *exchange {
	x := &exchange{method: q.method, path: "/v1/vms", sent: string(q.body)}
	if q.shown != "" {
		x.sent = q.shown
	}
	for _, segment := range q.path {
		x.path += "/" + url.PathEscape(segment)
	}
	if q.query != "" {
		x.path += "?" + q.query
	}
	limit := q.limit
	if limit == 0 {
		limit = r.RequestTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	sent, err := http.NewRequestWithContext(ctx, q.method, r.base+x.path, bytes.NewReader(q.body))
	if err != nil {
		x.err = err
		return x
	}
	r.dress(sent, q)
	start := r.Clock.Now()
	x.err = r.send(sent, x)
	x.ended = r.Clock.Now()
	x.took = x.ended.Sub(start)
	return x
}

func (r *run) dress(sent *http.Request, q request) {
	sent.GetBody = nil // with one, net/http may send a POST twice
	switch {
	case q.anonymous:
	case q.token != "":
		sent.Header.Set("Authorization", "Bearer "+q.token)
	case r.Token != "":
		sent.Header.Set("Authorization", "Bearer "+r.Token)
	}
	if q.contentType != "" {
		sent.Header.Set("Content-Type", q.contentType)
	}
	sent.Header.Set("Accept", "application/json")
	sent.Header.Set("User-Agent", "fakeservices-check")
	for name, value := range q.header {
		sent.Header.Set(name, value)
	}
}

func (r *run) send(sent *http.Request, x *exchange) error {
	answer, err := r.client.Do(sent)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	x.status, x.header = answer.StatusCode, answer.Header
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer+1))
	if x.body = body; err != nil {
		return fmt.Errorf("%d, and then its body broke off: %w", answer.StatusCode, err)
	}
	if len(body) > maxAnswer {
		return fmt.Errorf("%d with a body of more than %d MiB", answer.StatusCode, maxAnswer>>20)
	}
	return nil
}

// comeBack says whether an answer tells to ask again later, and when: 429 always does, 503 by its Retry-After.
func comeBack(x *exchange, attempt int) (wait time.Duration, told bool) {
	if x.err != nil {
		return 0, false
	}
	given := x.header.Get("Retry-After")
	if x.status != http.StatusTooManyRequests && (x.status != http.StatusServiceUnavailable || given == "") {
		return 0, false
	}
	if after, err := retryAfter(given, x.ended); err == nil {
		return after, true
	}
	return time.Duration(attempt) * time.Second, true
}

// retryAfter reads both forms of RFC 9110 section 10.2.3.
func retryAfter(value string, now time.Time) (time.Duration, error) {
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second, nil
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0, fmt.Errorf("%q is neither seconds nor a date", value)
	}
	return max(0, at.Sub(now)), nil
}
