package apiclient

import (
	"net/http"
	"net/url"
	"time"
)

// NoTimeout as Request.Timeout leaves an attempt bounded by its context alone.
const NoTimeout time.Duration = -1

// defaultMaxAnswer is far above what either service has reason to say, and far below what hurts a machine that reads 50 of them at once.
const defaultMaxAnswer = 10 << 20

// RetryPolicy says after which failures a request is sent again.
type RetryPolicy int

const (
	// RetryByMethod repeats GET, HEAD, PUT, DELETE and OPTIONS, which are idempotent (RFC 9110 section 9.2.2), after connection errors and 408,
	// 425, 429, 500, 502, 503 and 504; all other methods as RetryUnsent says.
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
	// MaxAnswer bounds the answer's body in bytes; 0 means 10 MiB. A longer one is an error.
	MaxAnswer int64
}

// Answer is what a service said.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}
