package opensandbox

import (
	"context"
	"time"

	api "github.com/agentenv/terraform-provider-gpuvm/internal/apiclient/opensandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/poll"
)

// sidecarTimeout bounds the wait for the egress sidecar of a sandbox that has just been resumed.
const sidecarTimeout = 60 * time.Second

// NetworkPolicy reads the network policy that a sandbox's sidecar enforces, its rules in their order. A sandbox that was made
// without a policy has no sidecar to ask.
func (l *Lifecycle) NetworkPolicy(ctx context.Context, id string) (api.NetworkPolicy, error) {
	sidecar, err := l.reachEgress(ctx, id)
	if err != nil {
		return api.NetworkPolicy{}, err
	}
	policy, err := sidecar.Policy(ctx)
	return policy, l.explain(ctx, id, err)
}

// ReplaceNetworkPolicy puts a policy in the place of the one that a sandbox's sidecar enforces. The way to the sidecar may lead
// through the sandbox itself, so that one which doesn't run can't be given a policy; Resume gives it one.
func (l *Lifecycle) ReplaceNetworkPolicy(ctx context.Context, id string, policy api.NetworkPolicy) error {
	if err := l.awake(ctx, id); err != nil {
		return err
	}
	sidecar, err := l.reachEgress(ctx, id)
	if err != nil {
		return err
	}
	return l.explain(ctx, id, sidecar.ReplacePolicy(ctx, policy))
}

// applyPolicy waits for a sidecar that may still be starting.
func (l *Lifecycle) applyPolicy(ctx context.Context, id string, policy api.NetworkPolicy) error {
	return l.wait(ctx, "the egress sidecar of sandbox "+id+" to take its network policy", sidecarTimeout, patiently, func(ctx context.Context) (poll.State, error) {
		sidecar, err := l.reachEgress(ctx, id)
		if err != nil {
			return poll.State{}, err
		}
		return poll.State{Done: true}, sidecar.ReplacePolicy(ctx, policy)
	})
}
