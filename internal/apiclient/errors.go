package apiclient

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// ErrGarbled is wrapped by the *Error of a 2xx answer that isn't the JSON that was asked for.
var ErrGarbled = errors.New("the answer is not the JSON that was asked for")

// ErrTooLong is wrapped by the *Error of a 2xx answer that is longer than Request.MaxAnswer.
var ErrTooLong = errors.New("the answer is too long")

const (
	maxText      = 500 // characters of a service's text in a message
	maxRequestID = 100
)

// Error is a call that failed, with or without an answer. No part of it holds a secret that the client knows.
type Error struct {
	Method, Path string // Path is escaped and has the base URL's prefix, no query: "/v1/vms/vm-1"
	URL          string // scheme://host/path
	Status       int    // 0: no answer
	// Code and Text are the service's, RequestID is the answer's X-Request-ID.
	Code, Text, RequestID string
	RetryAfter            time.Duration // -1: the answer said nothing of it
	Attempts              int           // 0: refused before anything was sent
	// Err is why there is no usable answer, or no further attempt: a network or context error, a garbled or overlong body, a refused redirect.
	Err error

	unsent    bool // nothing was written to the service
	elsewhere bool // the answer came from where a redirect led
	redact    func(string) string
}

// failure makes an Error of where the call stands.
func (c *call) failure() *Error {
	e := &Error{
		Method: c.request.Method, Path: c.redact(c.to.EscapedPath()), URL: c.redact(shown(c.to)),
		RetryAfter: -1, Attempts: c.attempts, Err: c.err, unsent: c.unsent, redact: c.redact,
	}
	if c.answer == nil {
		return e
	}
	header := c.answer.Header
	e.Status, e.elsewhere = c.answer.Status, c.elsewhere
	e.RequestID = c.redact(requestID(header))
	e.RetryAfter = parseRetryAfter(header, c.clock.Now())
	if e.Status >= 300 {
		code, text := describe(c.answer.Body)
		e.Code, e.Text = readable(c.redact(code), maxRequestID), readable(c.redact(text), maxText)
	}
	return e
}

func requestID(header http.Header) string { return readable(header.Get("X-Request-ID"), maxRequestID) }

// Error reads like `GET /v1/vms/vm-1: HTTP 404: no such vm (request id r-1)`.
func (e *Error) Error() string {
	var parts []string
	for _, part := range []string{e.Code, e.Text} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	switch {
	case e.Status != 0 && len(parts) > 0:
		parts = append([]string{"HTTP " + strconv.Itoa(e.Status)}, parts...)
	case e.Status != 0:
		parts = []string{strings.TrimSpace(fmt.Sprintf("HTTP %d %s", e.Status, http.StatusText(e.Status)))}
	case e.unsent:
		parts = []string{"not sent"}
	default:
		parts = []string{"no answer"}
	}
	if e.elsewhere {
		parts = append(parts, "after a redirect to another path")
	}
	if e.Err != nil {
		parts = append(parts, e.shownCause())
	}
	text := e.Method + " " + e.Path + ": " + strings.Join(parts, ": ")
	var notes []string
	if e.Attempts > 1 {
		notes = append(notes, fmt.Sprintf("%d attempts", e.Attempts))
	}
	if e.RequestID != "" {
		notes = append(notes, "request id "+e.RequestID)
	}
	if len(notes) > 0 {
		text += " (" + strings.Join(notes, ", ") + ")"
	}
	return text
}

func (e *Error) shownCause() string {
	text := strings.ReplaceAll(e.Err.Error(), "\n", "; ") // errors.Join writes lines
	if e.redact != nil {
		text = e.redact(text)
	}
	return text
}

// Unwrap gives what a network, context or TLS error is told by.
func (e *Error) Unwrap() error { return e.Err }

// Open reports whether the service may have acted although no usable answer came: a reset, a timeout, a 5xx (but a 503 with Retry-After says
// that it has not), a 303, a 2xx that is cut or garbled.
func (e *Error) Open() bool {
	switch {
	case e.unsent:
		return false
	case e.Status < 300, e.Status == http.StatusSeeOther:
		return true
	}
	return e.Status >= 500 && !turnedAway(e.Status, e.RetryAfter)
}

// Elsewhere reports whether the answer came from where a redirect led.
func (e *Error) Elsewhere() bool { return e.elsewhere }

// IsGone reports whether the service said that the object does not exist, or no longer: 404 or 410. After a redirect, that is said of something
// else: a login page, a front page.
func IsGone(err error) bool {
	var e *Error
	if !errors.As(err, &e) || e.elsewhere {
		return false
	}
	return e.Status == http.StatusNotFound || e.Status == http.StatusGone
}

// IsUnauthorized reports whether the service refused the credential: 401 or 403.
func IsUnauthorized(err error) bool {
	status := statusOf(err)
	return status == http.StatusUnauthorized || status == http.StatusForbidden
}

// IsTransient reports whether asking again later may well succeed: no usable answer came, or 408, 425, 429 or any 5xx did. What can't mend
// itself (a certificate that isn't trusted, an ended context) isn't transient.
func IsTransient(err error) bool {
	var e *Error
	if !errors.As(err, &e) || isFinal(e.Err) {
		return false
	}
	return e.Status < 300 || e.Status >= 500 || transientStatus(e.Status)
}

// statusOf is 0 for an error that isn't an answer.
func statusOf(err error) int {
	var e *Error
	if !errors.As(err, &e) {
		return 0
	}
	return e.Status
}
