package opensandbox

import (
	"context"
	"fmt"

	"github.com/agentenv/terraform-provider-gpuvm/internal/apiclient"
	api "github.com/agentenv/terraform-provider-gpuvm/internal/apiclient/opensandbox"
)

// Reach looks up the URLs of ports, and of the display's unless that is 0. The server tells them whether or not anything
// listens there.
func (l *Lifecycle) Reach(ctx context.Context, id string, ports []int64, vncPort int64) (urls map[int64]string, vncURL string, err error) {
	urls = make(map[int64]string, len(ports))
	for _, port := range ports {
		if urls[port], err = l.urlOf(ctx, id, port); err != nil {
			return nil, "", err
		}
	}
	if vncPort != 0 {
		if vncURL = urls[vncPort]; vncURL == "" {
			vncURL, err = l.urlOf(ctx, id, vncPort)
		}
	}
	return urls, vncURL, err
}

func (l *Lifecycle) urlOf(ctx context.Context, id string, port int64) (string, error) {
	endpoint, err := l.endpoint(ctx, id, port)
	if err != nil {
		return "", fmt.Errorf("the endpoint of port %d: %w", port, err)
	}
	return endpoint.URL, nil
}

func (l *Lifecycle) endpoint(ctx context.Context, id string, port int64) (api.Endpoint, error) {
	return l.API.Endpoint(ctx, id, port, api.Route{ServerProxy: l.settings.ServerProxy})
}

// reachAgent gives a client of the sandbox's execd.
func (l *Lifecycle) reachAgent(ctx context.Context, id string) (*api.Execd, error) {
	endpoint, err := l.endpoint(ctx, id, api.ExecdPort)
	if err != nil {
		return nil, err
	}
	return l.API.Execd(endpoint)
}

// reachEgress gives a client of the sidecar that enforces the sandbox's network policy.
func (l *Lifecycle) reachEgress(ctx context.Context, id string) (*api.Egress, error) {
	endpoint, err := l.endpoint(ctx, id, api.EgressPort)
	if err != nil {
		return nil, err
	}
	return l.API.Egress(endpoint)
}

// explain asks the server about a sandbox of which a service inside failed with err: one that is gone, has ended or is paused
// is a better answer than a refused connection.
func (l *Lifecycle) explain(ctx context.Context, id string, err error) error {
	if err == nil || ctx.Err() != nil || !tolerable(err) && !interrupted(err) {
		return err
	}
	sandbox, getErr := l.API.Sandbox(ctx, id)
	switch {
	case apiclient.IsGone(getErr):
		return &UnreachableError{ID: id, Err: err, gone: getErr}
	case getErr == nil && sandbox.Status.State != api.StateRunning:
		return &UnreachableError{ID: id, Status: sandbox.Status, Err: err}
	}
	return err
}
