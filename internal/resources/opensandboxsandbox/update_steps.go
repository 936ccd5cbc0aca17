package opensandboxsandbox

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/types"

	api "github.com/agentenv/terraform-provider-gpuvm/internal/apiclient/opensandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/labels"
	lifecycle "github.com/agentenv/terraform-provider-gpuvm/internal/lifecycle/opensandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/metadata"
	"github.com/agentenv/terraform-provider-gpuvm/internal/nullable"
	"github.com/agentenv/terraform-provider-gpuvm/internal/private"
	"github.com/agentenv/terraform-provider-gpuvm/internal/sandbox"
)

// renew renews where ttl_seconds changed, or where less is left now than renew_below_seconds asks for.
func (u *update) renew(ctx context.Context) error {
	if !u.planned.ExpiresAt.IsUnknown() {
		return nil
	}
	if u.ttlChanged() || u.runsOut() {
		renewed, err := u.service.Renew(ctx, u.id, u.planned.TTLSeconds.Seconds())
		if err != nil {
			return err
		}
		u.live.ExpiresAt = renewed.ExpiresAt
	}
	u.planned.ExpiresAt = nullable.Time(u.live.ExpiresAt.Time)
	u.reached.ExpiresAt, u.reached.TTLSeconds = u.planned.ExpiresAt, u.planned.TTLSeconds
	return nil
}

// ttlChanged leaves an imported sandbox alone, whose time to live the server doesn't tell.
func (u *update) ttlChanged() bool {
	return !u.adopting && !u.planned.TTLSeconds.IsNull() && !u.planned.TTLSeconds.Equal(u.state.TTLSeconds)
}

func (u *update) runsOut() bool {
	threshold := u.planned.RenewBelowSeconds
	if threshold.IsNull() || u.planned.TTLSeconds.IsNull() || u.live.ExpiresAt.IsZero() {
		return false
	}
	return u.live.ExpiresAt.Sub(u.connection.Clock.Now()) < threshold.Seconds()
}

// writeMetadata sets the own keys and removes those that once were. An imported sandbox that has the own ones is left alone.
func (u *update) writeMetadata(ctx context.Context) error {
	if u.planned.EffectiveMetadata.IsUnknown() {
		u.planned.EffectiveMetadata = metadata.Effective(ctx, u.planned.Metadata, u.connection.KnownDefaults(u.diags), u.diags)
	}
	wanted, known := labels.FromMap(u.planned.EffectiveMetadata)
	if !known {
		return fmt.Errorf("it isn't known yet")
	}
	answered := u.live.Metadata
	differs := !u.planned.EffectiveMetadata.Equal(u.state.EffectiveMetadata)
	if u.adopting {
		differs = len(labels.Missing(wanted, u.live.Metadata)) > 0
	}
	if differs {
		u.recollect(ctx)
		patched, err := u.service.PatchMetadata(ctx, u.id, wanted, ownedKeys(ctx, u.notes, wanted))
		if err != nil {
			return err
		}
		answered = patched.Metadata
	}
	u.reached.Metadata, u.reached.EffectiveMetadata = u.planned.Metadata, u.planned.EffectiveMetadata
	if differs || u.adopting {
		remember(ctx, u.notes, u.planned, answered, u.diags)
		return nil
	}
	u.noteOwnMetadata(ctx)
	return nil
}

// recollect sees that the notes hold the keys that the state has: they are lost where the provider was killed in the middle of an
// update.
func (u *update) recollect(ctx context.Context) {
	before, _ := labels.FromMap(u.state.EffectiveMetadata)
	owned := append(ownedKeys(ctx, u.notes, before), slices.Sorted(maps.Keys(before))...)
	private.Set(ctx, u.notes, private.OwnedKeys, owned, u.diags)
}

// noteOwnMetadata notes own metadata that is configured in other words for the same values.
func (u *update) noteOwnMetadata(ctx context.Context) {
	own, _ := labels.FromMap(u.planned.Metadata)
	private.Set(ctx, u.notes, private.OwnMetadata, own, u.diags)
}

// resume lets a paused sandbox run on, with its network policy.
func (u *update) resume(ctx context.Context) error {
	paused := u.live.Status.State == api.StatePaused || u.live.Status.State == api.StatePausing
	if u.planned.Paused.IsNull() || u.planned.Paused.ValueBool() || !paused {
		return nil
	}
	resumed, err := u.service.Resume(ctx, u.id, lifecycle.Resumption{
		Policy: sandbox.Policy(u.planned.NetworkPolicy), Ports: u.planned.PortNumbers(), VNCPort: u.planned.VNCPort.ValueInt64(),
	})
	if err != nil {
		return err
	}
	u.resumed, u.live = resumed, resumed.Sandbox
	u.reached.Paused, u.reached.NetworkPolicy = u.planned.Paused, u.planned.NetworkPolicy
	u.reached.observeStatus(u.live.Status)
	return nil
}

// applyPolicy tells the sidecar the policy. A resume has told it already.
func (u *update) applyPolicy(ctx context.Context) error {
	wanted := sandbox.Policy(u.planned.NetworkPolicy)
	if wanted == nil || u.resumed != nil || !u.adopting && u.planned.NetworkPolicy.Equal(u.state.NetworkPolicy) {
		return nil
	}
	if u.live.Status.State == api.StatePaused {
		return fmt.Errorf("it is paused, and its egress sidecar can be told nothing before it runs again.\n\nWhat to do: set paused = false, or leave it out and resume the sandbox, and apply again")
	}
	if u.adopting {
		enforced, err := u.service.NetworkPolicy(ctx, u.id)
		if err != nil {
			return fmt.Errorf("which policy the imported sandbox has can't be told. One that was made without a policy has no sidecar that could enforce one; take network_policy away, or destroy the sandbox and let it be made anew: %w", err)
		}
		if samePolicy(enforced, *wanted) {
			return nil
		}
	}
	if err := u.service.ReplaceNetworkPolicy(ctx, u.id, *wanted); err != nil {
		return err
	}
	u.reached.NetworkPolicy = u.planned.NetworkPolicy
	return nil
}

func (u *update) pause(ctx context.Context) error {
	if !u.planned.Paused.ValueBool() || u.live.Status.State == api.StatePaused {
		return nil
	}
	paused, err := u.service.Pause(ctx, u.id)
	if err != nil {
		return err
	}
	u.live = paused
	u.reached.Paused = u.planned.Paused
	u.reached.observeStatus(paused.Status)
	return nil
}

// lookUpPorts fills in the URLs that the plan left open.
func (u *update) lookUpPorts(ctx context.Context) error {
	if !u.planned.portsOpen() {
		return nil
	}
	urls, err := u.lookUp(ctx, u.planned.openPorts())
	if err != nil {
		return err
	}
	known := u.planned
	u.planned.observePorts(urls)
	u.planned.keepKnownPorts(known)
	return nil
}

func (u *update) lookUp(ctx context.Context, ports []int64) (map[string]string, error) {
	if u.resumed != nil {
		return u.planned.URLsOf(*u.resumed), nil
	}
	return lookUp(ctx, u.service, u.id, ports, u.live.Status.State != api.StateRunning)
}

// portsOpen says whether the plan left anything about the ports open.
func (m model) portsOpen() bool {
	return m.Ports.IsUnknown() || m.VNCURL.IsUnknown() || len(m.openPorts()) > 0
}

// openPorts are the ports whose URL the plan left open.
func (m model) openPorts() []int64 {
	return slices.DeleteFunc(m.portsToLookUp(), func(port int64) bool {
		url, told := m.Ports.Elements()[fmt.Sprint(port)]
		isOpen := m.Ports.IsUnknown() || told && url.IsUnknown() || port == m.VNCPort.ValueInt64() && m.VNCURL.IsUnknown()
		return !isOpen
	})
}

// keepKnownPorts writes what the plan knew over what was looked up: Terraform holds the provider to its plan.
func (m *model) keepKnownPorts(known model) {
	if !known.VNCURL.IsUnknown() {
		m.VNCURL = known.VNCURL
	}
	if known.Ports.IsUnknown() {
		return
	}
	urls := maps.Clone(m.Ports.Elements())
	for port, url := range known.Ports.Elements() {
		if !url.IsUnknown() {
			urls[port] = url
		}
	}
	m.Ports = types.MapValueMust(types.StringType, urls)
}
