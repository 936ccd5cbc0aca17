// Package apiclient is the HTTP transport that the clients of both services share: authentication, retries, limits, typed errors, redaction.
package apiclient

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/clock"
)

// Credential is the secret that authenticates each request to a service.
type Credential struct {
	Header string // "Authorization" or "OPEN-SANDBOX-API-KEY"
	Scheme string // put before the secret, "Bearer " or ""
	Secret string // white space around it is dropped (a token file ends in a newline); "" sends nothing
}

// Config is what a Client is made of.
type Config struct {
	BaseURL        string // http or https; a path prefix is kept, trailing slashes are ignored
	Credential     Credential
	Headers        map[string]string // sent with every request to the service; their values are secrets
	UserAgent      string
	RequestTimeout time.Duration // of one attempt; 0 means none
	MaxRetries     int           // attempts after the first
	// The n-th retry waits for a random time up to min(RetryMaxDelay, RetryMinDelay * 2^n), unless the service says how long.
	RetryMinDelay, RetryMaxDelay time.Duration
	// PEM; "" means none. CACertificate is trusted besides the system's roots.
	CACertificate, ClientCertificate, ClientKey string
	// Log is told of each attempt: method, path, status, duration, attempt, request id. It never gets a body or a secret. nil means no log.
	Log   func(ctx context.Context, message string, fields map[string]any)
	Clock clock.Clock // nil means the system's
}

// ConfigError says which setting is wrong, by the name that users know it by.
type ConfigError struct {
	Field string // "base_url", "credential", "headers", "ca_certificate", "client_certificate", "client_key"
	Err   error
}

func (e *ConfigError) Error() string { return e.Field + ": " + e.Err.Error() }

func (e *ConfigError) Unwrap() error { return e.Err }

// Client talks to one service. It is safe for concurrent use.
type Client struct{}

// New checks the settings; nothing is sent. Every error is a *ConfigError.
func New(config Config) (*Client, error) { return nil, errors.New("not built yet") }

// At derives a client for another base URL (a sandbox's endpoint) over the same connections, TLS settings and limits. The configured headers
// don't go there, the credential only with keepCredential; header is sent instead, and its values are secrets.
func (c *Client) At(baseURL string, header map[string]string, keepCredential bool) (*Client, error) {
	return nil, errors.New("not built yet")
}

// WithRetry derives a client with another retry setting.
func (c *Client) WithRetry(maxRetries int, minDelay, maxDelay time.Duration) *Client { return c }

// Redact replaces every secret that this client, or one derived from it, knows.
func (c *Client) Redact(text string) string { return text }

// Do sends the request and reads the whole answer. An answer outside 2xx is an *Error. Where out isn't nil the answer's JSON is decoded into
// it; one that doesn't fit is an *Error that wraps ErrGarbled. The Answer comes along with an *Error where there was one.
func (c *Client) Do(ctx context.Context, r Request, out any) (*Answer, error) {
	return nil, errors.New("not built yet")
}

// Stream sends the request and hands over the open answer; the caller closes its Body. Errors and retries are those of Do, up to the header.
func (c *Client) Stream(ctx context.Context, r Request) (*http.Response, error) {
	return nil, errors.New("not built yet")
}
