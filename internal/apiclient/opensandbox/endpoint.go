package opensandbox

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/apiclient"
)

// Endpoint is where a port of a sandbox is reached. Headers have to go with every request to it; their values are secret.
type Endpoint struct {
	URL     string
	Headers map[string]string
	// Proxied says that the server itself forwards: only then the API key goes with the requests.
	Proxied bool
}

// String leaves the headers out, so that no message shows them by accident.
func (e Endpoint) String() string { return e.URL }

// Route says by which way a port is to be reached.
type Route struct {
	ServerProxy bool      // through the server; excludes Expires
	Expires     time.Time // not zero: a signed URL that is valid until then, in whole seconds; a gateway of Kubernetes can
}

// Endpoint looks up where a port is reached. The server answers whether or not anything listens there.
func (c *Client) Endpoint(ctx context.Context, id string, port int64, by Route) (Endpoint, error) {
	path := []string{"sandboxes", id, "endpoints", strconv.FormatInt(port, 10)}
	query := url.Values{}
	if by.ServerProxy {
		query.Set("use_server_proxy", "true")
	}
	if !by.Expires.IsZero() {
		query.Set("expires", strconv.FormatInt(by.Expires.Unix(), 10))
	}
	var answer struct {
		Endpoint string            `json:"endpoint"`
		Headers  map[string]string `json:"headers"`
	}
	_, err := c.http.Do(ctx, apiclient.Request{Method: http.MethodGet, Path: path, Query: query}, &answer)
	if err != nil {
		return Endpoint{}, err
	}
	address, err := c.withScheme(answer.Endpoint)
	if err != nil {
		return Endpoint{}, &MalformedError{Asked: asked(http.MethodGet, path...), Reason: "its endpoint is no address of http"}
	}
	return Endpoint{URL: address, Headers: answer.Headers, Proxied: by.ServerProxy}, nil
}

// withScheme adds the connection's scheme to an endpoint, which usually comes as host, port and path.
func (c *Client) withScheme(endpoint string) (string, error) {
	if !strings.Contains(endpoint, "://") {
		endpoint = c.scheme + "://" + endpoint
	}
	parsed, err := url.Parse(endpoint)
	if err != nil {
		return "", err
	}
	if parsed.Host == "" || parsed.Scheme != "http" && parsed.Scheme != "https" {
		return "", url.InvalidHostError(parsed.Host)
	}
	return endpoint, nil
}

// at gives a transport to an endpoint.
func (c *Client) at(e Endpoint) (*apiclient.Client, error) {
	return c.http.At(e.URL, e.Headers, e.Proxied)
}
