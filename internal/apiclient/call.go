package apiclient

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"net/url"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/agentenv/terraform-provider-gpuvm/internal/redact"
)

// Do sends the request and reads the whole answer. An answer outside 2xx is an *Error. Where out isn't nil the answer's JSON is decoded into
// it; one that doesn't fit is an *Error that wraps ErrGarbled. The Answer comes along with an *Error where there was one.
func (c *Client) Do(ctx context.Context, r Request, out any) (*Answer, error) {
	call := &call{Client: c, request: r, out: out}
	err := call.send(ctx)
	return call.answer, err
}

// Stream sends the request and hands over the open answer; the caller closes its Body. Errors and retries are those of Do, up to the header.
func (c *Client) Stream(ctx context.Context, r Request) (*http.Response, error) {
	call := &call{Client: c, request: r, stream: true}
	if err := call.send(ctx); err != nil {
		return nil, err
	}
	return call.opened, nil
}

// call is one Do or Stream. go-retryablehttp repeats its attempts, for which it is the http.RoundTripper: what an attempt came to stands here
// when the next is decided on. (It has no CloseIdleConnections, which go-retryablehttp would call after each failure, under everyone's feet.)
type call struct {
	*Client
	request Request
	out     any
	stream  bool

	to       *url.URL
	attempts int
	hidden   []string       // secrets of the operation, see redact.Within
	opened   *http.Response // for Stream: the answer, its body unread
	// Of the last attempt:
	answer *Answer // nil: there was none
	err    error   // why there is no usable one; nil where the status says it
	unsent bool    // nothing was written
	// elsewhere: a redirect led to another path, and the answer is of what stands there.
	elsewhere bool
	delay     time.Duration
	cutShort  bool // the pause before the next attempt was
}

func (c *call) send(ctx context.Context) error {
	c.hidden = redact.Of(ctx)
	req, err := c.prepare(ctx)
	if err != nil {
		c.unsent, c.err = true, &final{err: err}
		return c.failure()
	}
	waits := pausing(ctx)
	repeater := &retryablehttp.Client{
		HTTPClient: &http.Client{Transport: c, CheckRedirect: checkRedirect},
		RetryMax:   c.retry.max,
		CheckRetry: func(context.Context, *http.Response, error) (bool, error) {
			return ctx.Err() == nil && c.again(waits), nil
		},
		Backoff:        func(_, _ time.Duration, _ int, _ *http.Response) time.Duration { return 0 }, // PrepareRetry waits
		PrepareRetry:   func(*http.Request) error { return c.pause(waits) },
		RequestLogHook: func(_ retryablehttp.Logger, _ *http.Request, n int) { c.attempts = n + 1 },
		ErrorHandler:   retryablehttp.PassthroughErrorHandler,
	}
	c.opened, err = repeater.Do(req) //nolint:bodyclose // Stream's caller closes it, Do's has been read to its end and closed
	switch {
	case err != nil && ctx.Err() != nil: // also where only the wait for the next attempt was cut short
		c.err = endOf(ctx)
	case c.cutShort:
		c.err = endOf(waits)
	case err != nil && c.err == nil: // http.Client's own, about a malformed redirect
		c.err = &final{err: errors.New("redirected, but not to a valid URL")}
	case c.answer != nil && c.answer.Status >= 300 && c.answer.Status < 400 && c.err == nil:
		c.err = refusedRedirect(c.request.Method, c.to, c.answer.Header.Get("Location"))
	}
	if c.err != nil || c.answer.Status >= 300 {
		return c.failure()
	}
	return nil
}

func (c *call) pause(ctx context.Context) error {
	err := c.clock.Sleep(ctx, c.delay)
	c.cutShort = err != nil
	return err
}

func (c *call) prepare(ctx context.Context) (*retryablehttp.Request, error) {
	c.to = c.base // as far as an error can say
	to, err := c.locate(c.request.Path, c.request.Query)
	if err != nil {
		return nil, err
	}
	c.to = to
	return c.newRequest(ctx, c.request, to)
}

// RoundTrip makes one attempt, from the hold-back to the last byte of the answer.
func (c *call) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := c.holdback.wait(pausing(req.Context()), c.clock, req.URL.Host); err != nil {
		c.unsent, c.err = true, err
		return nil, err
	}
	c.elsewhere = req.URL.Path != c.to.Path
	start := c.clock.Now()
	resp, err := c.attempt(req)
	c.err = err
	end := c.clock.Now()
	c.delay = backoff(c.retry.minDelay, c.retry.maxDelay, c.attempts-1, rand.Float64())
	if c.answer != nil {
		asked := parseRetryAfter(c.answer.Header, end)
		if asked > 0 {
			c.delay = asked
		}
		if turnedAway(c.answer.Status, asked) {
			c.holdback.set(req.URL.Host, end.Add(c.delay))
		}
	}
	c.report(req, end.Sub(start))
	return resp, err
}

// again decides on another attempt, and notes in c.err where there is none only because it would come too late.
func (c *call) again(ctx context.Context) bool {
	if ctx.Err() != nil || c.attempts > c.retry.max || !c.repeatable() {
		return false
	}
	late := outlasts(ctx, c.delay)
	if late != nil {
		c.err = errors.Join(c.err, late)
	}
	return late == nil
}

func (c *call) repeatable() bool {
	var late *lateError
	if c.request.Retry == RetryNever || isFinal(c.err) || errors.As(c.err, &late) {
		return false
	}
	status := 0
	if c.answer != nil {
		status = c.answer.Status
		if turnedAway(status, parseRetryAfter(c.answer.Header, time.Time{})) {
			return true
		}
	}
	if c.unsent {
		return true
	}
	return c.request.Retry == RetryByMethod && idempotent(c.request.Method) && (c.err != nil || transientStatus(status))
}

// redact takes out what the client knows to be secret, and what the operation does.
func (c *call) redact(text string) string { return redact.Quotations(c.Redact(text), c.hidden...) }

// report logs an attempt.
func (c *call) report(req *http.Request, took time.Duration) {
	if c.log == nil {
		return
	}
	fields := map[string]any{
		"method": req.Method, "path": c.redact(req.URL.EscapedPath()), "attempt": c.attempts, "duration_ms": took.Milliseconds(),
	}
	if c.answer != nil {
		fields["status"] = c.answer.Status
		fields["request_id"] = c.redact(requestID(c.answer.Header))
	}
	if c.err != nil {
		fields["error"] = c.redact(c.err.Error())
	}
	c.log(req.Context(), "HTTP request", fields)
}
