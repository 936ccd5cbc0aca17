package apiclient

import (
	"errors"
	"net/http"
	"time"
)

// ErrGarbled is wrapped by the *Error of a 2xx answer that isn't the JSON that was asked for.
var ErrGarbled = errors.New("the answer is not the JSON that was asked for")

// Error is a call that failed, with or without an answer.
type Error struct {
	Method, Path string // Path is escaped and has the base URL's prefix, no query: "/v1/vms/vm-1"
	URL          string // scheme://host/path
	Status       int    // 0: no answer
	// Code and Text are the service's; RequestID is the answer's X-Request-ID.
	Code, Text, RequestID string
	RetryAfter            time.Duration // -1: the answer said nothing of it
	Attempts              int
	// Err is why there is no usable answer: a network or context error, a garbled or overlong body, a refused redirect.
	Err error

	unsent bool // nothing was written to the service
}

func (e *Error) Error() string { return e.Text }

func (e *Error) Unwrap() error { return e.Err }

// Open reports whether the service may have acted although no usable answer came.
func (e *Error) Open() bool { return false }

// IsGone reports whether the service said that the object does not exist (any more): 404 or 410.
func IsGone(err error) bool { return hasStatus(err, http.StatusNotFound, http.StatusGone) }

// IsUnauthorized reports whether the service refused the credential: 401 or 403.
func IsUnauthorized(err error) bool {
	return hasStatus(err, http.StatusUnauthorized, http.StatusForbidden)
}

// IsTransient reports whether asking again later may well succeed: no usable answer, 408, 425, 429, 5xx.
func IsTransient(err error) bool { return false }

func hasStatus(err error, statuses ...int) bool {
	var e *Error
	if !errors.As(err, &e) {
		return false
	}
	for _, s := range statuses {
		if e.Status == s {
			return true
		}
	}
	return false
}
