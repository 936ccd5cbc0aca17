// Package opensandbox speaks the HTTP APIs of an OpenSandbox server and of the two services inside each sandbox, the
// agent execd and the egress sidecar: one method a call. Their descriptions are the project's lifecycle, execd,
// egress and diagnostics specifications; where a real server differs from them, the comments say so.
package opensandbox

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/apiclient"
)

// KeyHeader carries the server's API key.
const KeyHeader = "OPEN-SANDBOX-API-KEY"

// The ports of the services inside every sandbox.
const (
	ExecdPort  int64 = 44772
	EgressPort int64 = 18080
)

// Client calls one OpenSandbox server.
type Client struct {
	http   *apiclient.Client
	scheme string
}

// New gives a client over a transport whose base URL is the one that BaseURL made. The base's scheme is also that of the
// endpoints, which the server tells without one.
func New(transport *apiclient.Client, base string) *Client {
	scheme, _, _ := strings.Cut(base, "://")
	return &Client{http: transport, scheme: scheme}
}

// WithRetry gives the same client with another retry setting.
func (c *Client) WithRetry(maxRetries int, minDelay, maxDelay time.Duration) *Client {
	return &Client{http: c.http.WithRetry(maxRetries, minDelay, maxDelay), scheme: c.scheme}
}

// Backoff is how long to wait before the n-th repetition, from 0, of what the client doesn't repeat by itself.
func (c *Client) Backoff(n int) time.Duration { return c.http.Backoff(n) }

// Redact takes the secrets that the transport knows out of text.
func (c *Client) Redact(text string) string { return c.http.Redact(text) }

// BaseURL makes the base of the lifecycle API of the two settings that SDKs have: a domain, which may hold a scheme, a
// port and a path, and the protocol for a domain without a scheme.
func BaseURL(domain, protocol string) (string, error) {
	domain = strings.TrimSpace(domain)
	if !strings.Contains(domain, "://") {
		domain = protocol + "://" + domain
	}
	base, err := url.Parse(domain)
	if err != nil { // it isn't quoted: a mistyped address may hold a password
		return "", errors.New("it is no address: use host, host:port or host/path")
	}
	base.Scheme = strings.ToLower(base.Scheme)
	switch {
	case base.User != nil, base.RawQuery != "", base.Fragment != "":
		return "", errors.New("an address takes no user, query or fragment: use host, host:port or host/path")
	case base.Scheme != "http" && base.Scheme != "https":
		return "", fmt.Errorf("the protocol has to be http or https, not %q", base.Scheme)
	case base.Host == "":
		return "", errors.New("it names no host")
	}
	base.Path = strings.TrimSuffix(strings.TrimRight(base.Path, "/"), "/v1") + "/v1"
	base.RawPath = ""
	return base.String(), nil
}

// MalformedError is an answer that isn't what its specification says. After a POST, what was asked for may exist.
type MalformedError struct {
	Asked  string // "GET /sandboxes/sb-1"
	Reason string
}

func (e *MalformedError) Error() string {
	return e.Asked + ": the answer isn't what the OpenSandbox API describes: " + e.Reason
}

// Is says that it counts as an answer of another form.
func (e *MalformedError) Is(target error) bool { return target == apiclient.ErrGarbled }

// send does a request whose answer has no body worth reading.
func (c *Client) send(ctx context.Context, method string, path ...string) error {
	_, err := c.http.Do(ctx, apiclient.Request{Method: method, Path: path}, nil)
	return err
}

func (c *Client) get(ctx context.Context, out any, path ...string) error {
	_, err := c.http.Do(ctx, apiclient.Request{Method: http.MethodGet, Path: path}, out)
	return err
}

func asked(method string, path ...string) string {
	return method + " /" + strings.Join(path, "/")
}
