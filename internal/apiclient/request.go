package apiclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/hashicorp/go-retryablehttp"
)

// NoTimeout as Request.Timeout leaves an attempt bounded by its context alone.
const NoTimeout time.Duration = -1

// defaultMaxAnswer is far above what either service has reason to say, and far below what hurts a machine that reads 50 of them at once.
const defaultMaxAnswer = 10 << 20

// RetryPolicy says after which failures a request is sent again.
type RetryPolicy int

const (
	// RetryByMethod repeats GET, HEAD, PUT, DELETE and OPTIONS, which are idempotent (RFC 9110 section 9.2.2), after connection errors,
	// answers cut short or garbled, and 408, 425, 429, 500, 502, 503 and 504; all other methods as RetryUnsent says.
	RetryByMethod RetryPolicy = iota
	// RetryUnsent repeats only where nothing can have happened: the request was never written (dial refused, DNS, TLS handshake), 429, and
	// 503 with Retry-After.
	RetryUnsent
	// RetryNever sends once.
	RetryNever
)

// Request is one API call.
type Request struct {
	Method string
	// Path is appended to the base URL; each element becomes exactly one escaped segment. "", "." and ".." are refused.
	Path   []string
	Query  url.Values
	Header http.Header
	// JSON, where it isn't nil, is encoded as the body. Otherwise Body is sent as it is, with ContentType.
	JSON        any
	Body        []byte
	ContentType string
	// Timeout bounds each attempt in place of Config.RequestTimeout; NoTimeout lifts the bound. For Do it covers the whole answer, for Stream
	// the wait for its header.
	Timeout time.Duration
	Retry   RetryPolicy
	// MaxAnswer bounds the body of a 2xx answer to Do, in bytes; 0 means 10 MiB. A longer one is an error.
	MaxAnswer int64
}

// Answer is what a service said.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// locate appends the path to the client's base URL.
func (c *Client) locate(path []string, query url.Values) (*url.URL, error) {
	escaped := c.base.EscapedPath()
	for _, segment := range path {
		// "" would name the collection instead of the object, dots another object: an escaped dot is still one to a server (RFC 3986 section 6.2.2).
		if segment == "" || segment == "." || segment == ".." {
			return nil, fmt.Errorf("%q can't be a part of a path", segment)
		}
		escaped += "/" + url.PathEscape(segment)
	}
	u, err := withPath(c.base, escaped)
	if err != nil {
		return nil, err
	}
	u.RawQuery = query.Encode()
	return u, nil
}

// newRequest makes what go-retryablehttp repeats.
func (c *Client) newRequest(ctx context.Context, r Request, to *url.URL) (*retryablehttp.Request, error) {
	body, contentType := r.Body, r.ContentType
	if r.JSON != nil {
		encoded, err := json.Marshal(r.JSON)
		if err != nil {
			return nil, err
		}
		body, contentType = encoded, "application/json"
	}
	var raw any // nil: no body at all
	if len(body) > 0 || !idempotent(r.Method) {
		// net/http takes a request without a body for one that it may repeat by itself; one with an empty body of unknown length it doesn't.
		raw = body
	}
	req, err := retryablehttp.NewRequestWithContext(ctx, r.Method, to.String(), raw)
	if err != nil {
		return nil, errors.New("the request's method or URL is not valid")
	}
	req.Header.Set("Accept", "application/json")
	if c.userAgent != "" {
		req.Header.Set("User-Agent", c.userAgent)
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	for _, header := range []http.Header{c.header, r.Header, c.credential} { // the credential last: nothing replaces it
		for name, values := range header {
			req.Header[http.CanonicalHeaderKey(name)] = append([]string(nil), values...)
		}
	}
	if host := req.Header.Get("Host"); host != "" {
		req.Host = host // net/http passes over it among the others
	}
	return req, nil
}

// shown is the URL without its query, for messages.
func shown(u *url.URL) string {
	return strings.ToLower(u.Scheme) + "://" + u.Host + u.EscapedPath()
}
