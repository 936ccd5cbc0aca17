package opensandbox

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/agentenv/terraform-provider-gpuvm/internal/apiclient"
)

// Logs gives the end of what the sandbox's container printed, at most 10000 lines.
func (c *Client) Logs(ctx context.Context, id string, lines int) (string, error) {
	return c.diagnostics(ctx, id, "logs", "container", url.Values{"tail": {strconv.Itoa(lines)}})
}

// Events gives what the runtime noted about the sandbox, at most 500 entries.
func (c *Client) Events(ctx context.Context, id string, limit int) (string, error) {
	return c.diagnostics(ctx, id, "events", "runtime", url.Values{"limit": {strconv.Itoa(limit)}})
}

// diagnostics asks as servers of today answer, in plain text, and where one refuses that, as the specification says,
// with a scope and a JSON answer.
func (c *Client) diagnostics(ctx context.Context, id, kind, scope string, query url.Values) (string, error) {
	text, err := c.diagnosticText(ctx, id, kind, query)
	var refused *apiclient.Error
	if errors.As(err, &refused) && (refused.Status == http.StatusBadRequest || refused.Status == http.StatusUnprocessableEntity) {
		return c.diagnosticText(ctx, id, kind, url.Values{"scope": {scope}})
	}
	return text, err
}

func (c *Client) diagnosticText(ctx context.Context, id, kind string, query url.Values) (string, error) {
	answer, err := c.http.Do(ctx, apiclient.Request{
		Method: http.MethodGet,
		Path:   []string{"sandboxes", id, "diagnostics", kind},
		Query:  query,
		Retry:  apiclient.RetryNever, // best effort: a failure isn't worth waiting for
	}, nil)
	if err != nil {
		return "", err
	}
	var descriptor struct {
		Content string `json:"content"`
	}
	isJSON := strings.Contains(answer.Header.Get("Content-Type"), "json")
	if isJSON && json.Unmarshal(answer.Body, &descriptor) == nil {
		return descriptor.Content, nil
	}
	return string(answer.Body), nil
}
