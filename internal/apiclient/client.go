// Package apiclient is the HTTP transport that the clients of both services share: authentication, retries, limits, typed errors, redaction.
package apiclient

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
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
	// The n-th retry, from 0, waits for a random time up to min(RetryMaxDelay, RetryMinDelay * 2^n), unless the service says how long.
	RetryMinDelay, RetryMaxDelay time.Duration
	// PEM; "" means none. CACertificate is trusted besides the system's roots.
	CACertificate, ClientCertificate, ClientKey string
	// Log is told of each attempt: method, path, status, duration_ms, attempt, request_id, error. It never gets a body or a secret. nil: no log.
	Log   func(ctx context.Context, message string, fields map[string]any)
	Clock clock.Clock // nil means the system's
}

// ConfigError says which setting is wrong, by the name that users know it by.
type ConfigError struct {
	Field string // "base_url", "credential", "headers", "ca_certificate", "client_certificate" or "client_key"
	Err   error
}

func (e *ConfigError) Error() string { return e.Field + ": " + e.Err.Error() }

func (e *ConfigError) Unwrap() error { return e.Err }

// Client talks to one service. It is safe for concurrent use.
type Client struct {
	*family
	base       *url.URL    // its path has no trailing slash
	credential http.Header // apart from header, so that it can be left behind
	header     http.Header
	timeout    time.Duration
	retry      retrySetting
}

// family is what a client shares with those derived from it.
type family struct {
	transport   http.RoundTripper
	connections *connections
	clock       clock.Clock
	log         func(ctx context.Context, message string, fields map[string]any)
	userAgent   string
	secrets     *secrets
	holdback    *holdback
}

type retrySetting struct {
	max                int
	minDelay, maxDelay time.Duration
}

// New checks the settings; nothing is sent. Every error is a *ConfigError.
func New(config Config) (*Client, error) {
	base, err := parseBase(config.BaseURL)
	if err != nil {
		return nil, &ConfigError{"base_url", err}
	}
	credential := http.Header{}
	secret := strings.TrimSpace(config.Credential.Secret)
	if secret != "" {
		if err := setHeader(credential, config.Credential.Header, config.Credential.Scheme+secret); err != nil {
			return nil, &ConfigError{"credential", err}
		}
	}
	header, err := headerOf(config.Headers)
	if err != nil {
		return nil, &ConfigError{"headers", err}
	}
	connections := &connections{direct: dialWith((&net.Dialer{Timeout: connectTimeout}).DialContext)}
	transport, err := newTransport(config, connections.dial)
	if err != nil {
		return nil, err
	}
	shared := &family{transport: transport, connections: connections, clock: config.Clock, log: config.Log, userAgent: config.UserAgent,
		secrets: &secrets{}, holdback: &holdback{}}
	if shared.clock == nil {
		shared.clock = clock.System()
	}
	shared.secrets.add(secret, config.ClientKey)
	shared.secrets.addValues(header)
	return &Client{
		family: shared, base: base, credential: credential, header: header, timeout: config.RequestTimeout,
		retry: retrySetting{config.MaxRetries, config.RetryMinDelay, config.RetryMaxDelay},
	}, nil
}

// At derives a client for another base URL (a sandbox's endpoint) over the same connections, TLS settings and limits. The configured headers
// don't go there, the credential only with keepCredential; header is sent instead, and its values are secrets. Every error is a *ConfigError.
func (c *Client) At(baseURL string, header map[string]string, keepCredential bool) (*Client, error) {
	base, err := parseBase(baseURL)
	if err != nil {
		return nil, &ConfigError{"base_url", err}
	}
	own, err := headerOf(header)
	if err != nil {
		return nil, &ConfigError{"headers", err}
	}
	c.secrets.addValues(own)
	derived := *c
	derived.base, derived.header = base, own
	if !keepCredential {
		derived.credential = nil
	}
	return &derived, nil
}

// WithRetry derives a client with another retry setting; see Config for its meaning.
func (c *Client) WithRetry(maxRetries int, minDelay, maxDelay time.Duration) *Client {
	derived := *c
	derived.retry = retrySetting{maxRetries, minDelay, maxDelay}
	return &derived
}

// Redact replaces every secret that this client, or one derived from it, knows.
func (c *Client) Redact(text string) string { return c.secrets.redact(text) }

// parseBase never quotes what it was given: a mistyped URL may hold a password.
func parseBase(raw string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(raw))
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return nil, errors.New("want http://host or https://host, with a port and a path where needed")
	case u.User != nil:
		return nil, errors.New("a user name or password in the URL is not supported")
	case u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("a query or fragment in the URL is not supported")
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
			return nil, errors.New("the port is not between 1 and 65535")
		}
	}
	return withPath(u, strings.TrimRight(u.EscapedPath(), "/"))
}

// withPath gives the URL another path, which is escaped already.
func withPath(u *url.URL, escaped string) (*url.URL, error) {
	path, err := url.PathUnescape(escaped)
	if err != nil {
		return nil, err
	}
	return &url.URL{Scheme: u.Scheme, Host: u.Host, Path: path, RawPath: escaped}, nil
}

func headerOf(values map[string]string) (http.Header, error) {
	header := http.Header{}
	for name, value := range values {
		if err := setHeader(header, name, strings.TrimSpace(value)); err != nil {
			return nil, err
		}
	}
	return header, nil
}

// setHeader refuses what net/http would refuse at each request (RFC 9110 sections 5.1 and 5.5); the value may be a secret and isn't shown.
func setHeader(header http.Header, name, value string) error {
	const token = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz"
	if name == "" || strings.Trim(strings.ToLower(name), token) != "" {
		return fmt.Errorf("%q is not a header name", name)
	}
	if strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
		return fmt.Errorf("the value for %s holds a line break or another control character", name)
	}
	header.Set(name, value)
	return nil
}
