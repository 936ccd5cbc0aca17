package opensandbox

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/agentenv/terraform-provider-gpuvm/internal/apiclient"
)

// Egress calls the sidecar that enforces one sandbox's network policy. A sandbox made without one has no sidecar.
type Egress struct {
	http *apiclient.Client
	// URL is the endpoint that it is reached at.
	URL string
}

// Egress gives a client of the sidecar behind an endpoint of EgressPort.
func (c *Client) Egress(e Endpoint) (*Egress, error) {
	transport, err := c.at(e)
	if err != nil {
		return nil, err
	}
	return &Egress{http: transport, URL: e.URL}, nil
}

// Policy reads the policy that is enforced now, its rules in their order.
func (e *Egress) Policy(ctx context.Context) (NetworkPolicy, error) {
	var answer struct {
		Policy *NetworkPolicy `json:"policy"`
	}
	_, err := e.http.Do(ctx, apiclient.Request{Method: http.MethodGet, Path: []string{"policy"}}, &answer)
	if err != nil {
		return NetworkPolicy{}, err
	}
	if answer.Policy == nil {
		return NetworkPolicy{}, &MalformedError{Asked: asked(http.MethodGet, "policy"), Reason: "it has no policy"}
	}
	return *answer.Policy, nil
}

// ReplacePolicy puts a policy in the place of the one that is enforced. (PATCH would put its rules before those there.)
// The sidecar takes any default action without a word, so the caller has to see to that.
func (e *Egress) ReplacePolicy(ctx context.Context, policy NetworkPolicy) error {
	_, err := e.http.Do(ctx, apiclient.Request{Method: http.MethodPut, Path: []string{"policy"}, JSON: policy}, nil)
	return err
}

// MarshalJSON writes no rules as an empty list: null, which a list without rules would be, is refused.
func (p NetworkPolicy) MarshalJSON() ([]byte, error) {
	type plain NetworkPolicy
	if p.Egress == nil {
		p.Egress = []NetworkRule{}
	}
	return json.Marshal(plain(p))
}
