package apiclient

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync"
	"sync/atomic"
	"time"
)

// maxErrorAnswer in bytes is how much of an error's body is read; after a longer one the connection is given up.
const maxErrorAnswer = 256 << 10

// attempt sends once, within the attempt's timeout, and reads the answer into c.answer, but for one that is to be streamed.
func (c *call) attempt(req *http.Request) (*http.Response, error) {
	parent := req.Context()
	ctx, place := c.connections.enter(parent, req.URL.Scheme+"://"+req.URL.Host)
	ctx, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(c.bound(), func() { cancel(&timeoutError{c.bound()}) })
	var connected, reused, written atomic.Bool
	sent := req.WithContext(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(info httptrace.GotConnInfo) {
			connected.Store(true)
			reused.Store(info.Reused)
			place.got()
		},
		WroteHeaders: func() { written.Store(true) },
	}))
	sent.GetBody = nil // with it net/http would repeat a request by itself when its connection breaks, also a POST with an Idempotency-Key
	c.answer = nil
	resp, err := c.transport.RoundTrip(sent)
	// Where the context has not ended, RoundTrip comes back only when nobody writes any more.
	nothingWritten := !connected.Load() || !written.Load() && ctx.Err() == nil || !reused.Load() && refusedHandshake(err)
	c.unsent = err != nil && nothingWritten
	if err == nil {
		c.answer = &Answer{Status: resp.StatusCode, Header: resp.Header}
		if c.stream && resp.StatusCode < 300 && timer.Stop() {
			resp.Body = &openBody{resp.Body, parent, sync.OnceFunc(func() {
				cancel(nil)
				place.leave()
			})}
			return resp, nil
		}
		err = c.read(resp)
	}
	timer.Stop()
	place.leave()
	defer cancel(nil)
	switch {
	case err == nil:
		return resp, nil
	case ctx.Err() != nil: // its own bound, or the end of the operation
		return nil, context.Cause(ctx)
	default:
		return nil, explained(err)
	}
}

// bound is how long an attempt may take; 292 years stand for none.
func (c *call) bound() time.Duration {
	timeout := c.timeout
	if c.request.Timeout != 0 {
		timeout = c.request.Timeout
	}
	if timeout <= 0 {
		timeout = math.MaxInt64
	}
	return timeout
}

// read takes in the body, to its end where it is short enough, so that the connection can be used again. Whatever becomes of an error's
// body, its status stands.
func (c *call) read(resp *http.Response) error {
	isError := resp.StatusCode >= 300
	limit := c.request.MaxAnswer
	switch {
	case isError:
		limit = maxErrorAnswer
	case limit <= 0:
		limit = defaultMaxAnswer
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, min(limit, math.MaxInt64-1)+1))
	_ = resp.Body.Close() // nothing is left to lose
	resp.Body = http.NoBody
	tooLong := int64(len(body)) > limit
	c.answer.Body = body[:min(int64(len(body)), limit)]
	switch {
	case isError:
		return nil
	case err != nil:
		return fmt.Errorf("the answer was cut short: %w", err)
	case tooLong:
		return &final{err: fmt.Errorf("%w: longer than %d bytes", ErrTooLong, limit)}
	case c.out != nil:
		return decode(c.answer, c.out)
	}
	return nil
}

func decode(answer *Answer, out any) error {
	err := json.Unmarshal(answer.Body, out)
	if err == nil {
		return nil
	}
	garbled := func(why string) error {
		return fmt.Errorf("%w (%d bytes of type %q): %s", ErrGarbled, len(answer.Body), readable(answer.Header.Get("Content-Type"), 80), why)
	}
	var mismatch *json.UnmarshalTypeError
	switch {
	case !errors.As(err, &mismatch):
		return garbled(err.Error())
	case mismatch.Field == "": // the decoder's own words name this program's types
		return &final{err: garbled("it is a " + mismatch.Value)} // whole and well-formed: it will be the same the next time
	}
	return &final{err: garbled("its " + mismatch.Field + " is a " + mismatch.Value)}
}

// openBody is a streamed answer's body, which its caller closes.
type openBody struct {
	io.ReadCloser
	parent context.Context //nolint:containedctx // tells why a Read was cut short
	done   func()
}

func (b *openBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) && b.parent.Err() != nil {
		err = endOf(b.parent)
	}
	return n, err
}

func (b *openBody) Close() error {
	err := b.ReadCloser.Close()
	b.done()
	return err
}

// timeoutError is the end of one attempt, not of the operation: it isn't context.DeadlineExceeded.
type timeoutError struct{ after time.Duration }

func (e *timeoutError) Error() string { return "no complete answer within " + e.after.String() }

func (e *timeoutError) Timeout() bool { return true }

// refusedHandshake reports whether the service ended the TLS handshake with an alert. One that wants a client certificate does so in TLS 1.3
// when the client already takes the connection for established; it has read no request by then.
func refusedHandshake(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "remote error"
}

// explained says what a user can do about a TLS failure, none of which goes away by itself.
func explained(err error) error {
	var (
		unknown  x509.UnknownAuthorityError
		wrong    x509.HostnameError
		invalid  x509.CertificateInvalidError
		unproved *tls.CertificateVerificationError
		plain    tls.RecordHeaderError
	)
	switch {
	case errors.As(err, &unknown):
		return &final{err, "set ca_certificate to the PEM certificate of the authority that signed the service's"}
	case errors.As(err, &wrong):
		return &final{err, "the service's certificate is for another name; check the host in the configured address"}
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return &final{err, "the service's certificate must be renewed, unless this machine's clock is wrong"}
	case errors.As(err, &unproved):
		return &final{err, "the service's certificate can't be trusted"}
	case errors.As(err, &plain):
		return &final{err, "the service does not speak TLS there; check scheme and port of the configured address"}
	case refusedHandshake(err):
		return &final{err, "the service refused the TLS connection; where it wants a client certificate, set client_certificate and client_key"}
	}
	return err
}
