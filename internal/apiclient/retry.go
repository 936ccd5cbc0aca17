package apiclient

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// final is a failure that another attempt can't mend.
type final struct {
	err  error
	hint string // what the user can do; may be ""
}

func (f *final) Error() string {
	if f.hint == "" {
		return f.err.Error()
	}
	return f.err.Error() + ": " + f.hint
}

func (f *final) Unwrap() error { return f.err }

func isFinal(err error) bool {
	var f *final
	return errors.As(err, &f)
}

// idempotent: RFC 9110 section 9.2.2.
func idempotent(method string) bool {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPut, http.MethodDelete, http.MethodOptions:
		return true
	}
	return false
}

// transientStatus reports whether the same request may well succeed a little later.
func transientStatus(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests, http.StatusInternalServerError,
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// turnedAway reports whether the service says that it has not looked at the request: it may be sent again, whatever it does.
func turnedAway(status int, retryAfter time.Duration) bool {
	return status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable && retryAfter >= 0
}

// backoff is an exponential delay with full jitter: share, in [0, 1), of min(maxDelay, minDelay * 2^n).
func backoff(minDelay, maxDelay time.Duration, n int, share float64) time.Duration {
	delay := minDelay
	for range n {
		if delay >= maxDelay {
			break
		}
		delay *= 2
	}
	return time.Duration(share * float64(max(0, min(delay, maxDelay))))
}

// maxRetryAfter in seconds is what RFC 9111 section 1.2.2 has a recipient take a delta too large for it as.
const maxRetryAfter = 1 << 31

// parseRetryAfter reads the header of RFC 9110 section 10.2.3, seconds or a date; -1 where it is absent or neither. A date counts from the
// answer's own Date, so that a clock that is wrong on one side changes nothing, and from now where there is none.
func parseRetryAfter(header http.Header, now time.Time) time.Duration {
	value := strings.TrimSpace(header.Get("Retry-After"))
	if value != "" && strings.Trim(value, "0123456789") == "" {
		seconds, err := strconv.ParseInt(value, 10, 64)
		if err != nil || seconds > maxRetryAfter {
			seconds = maxRetryAfter
		}
		return time.Duration(seconds) * time.Second
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return -1
	}
	if date, err := http.ParseTime(header.Get("Date")); err == nil {
		now = date
	}
	return min(max(0, at.Sub(now)), maxRetryAfter*time.Second)
}

// lateError says that a wait would outlast the operation.
type lateError struct{ wait time.Duration }

func (e *lateError) Error() string {
	return "the next attempt would come in " + e.wait.Round(time.Millisecond).String() + ", after the deadline of this operation"
}

// outlasts gives an error where a wait would end after the context does: better to say so at once than at the deadline. (A context's
// deadline is one of the system's clock, whatever clock the waits are on.)
func outlasts(ctx context.Context, wait time.Duration) error {
	deadline, bounded := ctx.Deadline()
	if !bounded || time.Until(deadline) > wait {
		return nil
	}
	return &lateError{wait}
}

type pausingKey struct{}

// PauseWithin gives a context whose requests pause before an attempt only for as long as operation lasts. It is for one whose
// answer is waited for beyond the end of the operation: cutting it would lose what it made, not sending it loses nothing.
func PauseWithin(ctx, operation context.Context) context.Context {
	return context.WithValue(ctx, pausingKey{}, operation)
}

// pausing is the context that bounds the pauses of a request.
func pausing(ctx context.Context) context.Context {
	if operation, ok := ctx.Value(pausingKey{}).(context.Context); ok {
		return operation
	}
	return ctx
}

// ended is a context's end: its cause for the reader, both for errors.Is.
type ended struct{ cause, err error }

func (e *ended) Error() string {
	if errors.Is(e.cause, context.DeadlineExceeded) {
		return "the deadline of this operation has passed (" + e.cause.Error() + ")"
	}
	return e.cause.Error()
}

func (e *ended) Unwrap() []error { return []error{e.cause, e.err} }

func endOf(ctx context.Context) error {
	return &final{err: &ended{cause: context.Cause(ctx), err: ctx.Err()}}
}
