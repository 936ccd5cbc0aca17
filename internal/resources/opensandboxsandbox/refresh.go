package opensandboxsandbox

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentenv/terraform-provider-gpuvm/internal/apiclient"
	api "github.com/agentenv/terraform-provider-gpuvm/internal/apiclient/opensandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/diagnose"
	"github.com/agentenv/terraform-provider-gpuvm/internal/labels"
	lifecycle "github.com/agentenv/terraform-provider-gpuvm/internal/lifecycle/opensandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/nullable"
	"github.com/agentenv/terraform-provider-gpuvm/internal/private"
	"github.com/agentenv/terraform-provider-gpuvm/internal/sandbox"
)

// refresh is one Read of a sandbox that exists.
type refresh struct {
	service *lifecycle.Lifecycle
	state   *model
	live    api.Sandbox
	notes   private.State
	diags   *diag.Diagnostics
}

func (r refresh) run(ctx context.Context) {
	needsPorts := r.needsPorts()
	if r.state.Status.IsNull() && private.IsImported(ctx, r.notes) {
		r.state.imported(ctx, r.live, r.diags)
	}
	r.state.observeStatus(r.live.Status)
	r.state.observePaused(r.live.Status.State)
	r.state.ExpiresAt = nullable.Time(r.live.ExpiresAt.Time)
	if r.state.CreatedAt.IsNull() { // else it stays: answers differ about it by up to 2 s
		r.state.CreatedAt = nullable.Time(r.live.CreatedAt.Time)
	}
	r.metadata(ctx)
	if needsPorts {
		r.ports(ctx)
	}
	r.policy(ctx)
}

// needsPorts says whether the endpoints have to be looked up again. One moves at most with a pause and a resume: that saves a
// request a port at every other refresh.
func (r refresh) needsPorts() bool {
	return r.state.Status.ValueString() != r.live.Status.State || !r.state.knowsPorts()
}

func (r refresh) metadata(ctx context.Context) {
	var stamp labels.Stamp
	if !private.Get(ctx, r.notes, private.Labels, &stamp) {
		return
	}
	var own map[string]string
	private.Get(ctx, r.notes, private.OwnMetadata, &own)
	r.state.drifted(ctx, stamp, own, r.live.Metadata, r.diags)
}

// ports looks the endpoints up again. One that the server doesn't tell is null.
func (r refresh) ports(ctx context.Context) {
	urls := map[string]string{}
	if !hasEnded(r.live.Status.State) {
		var err error
		if urls, err = lookUp(ctx, r.service, r.live.ID, r.state.portsToLookUp(), true); err != nil {
			diagnose.OpenSandbox.AttributeError(r.diags, path.Root("ports"), "Ports of sandbox "+r.live.ID+" can't be looked up", err)
			return
		}
	}
	r.state.observePorts(urls)
}

// policy reads what is enforced now: the sidecar forgets its rules with a pause. A sidecar that can't be asked is no reason
// to stop every plan, not even that of a destroy.
func (r refresh) policy(ctx context.Context) {
	known := sandbox.Policy(r.state.NetworkPolicy)
	if known == nil || r.live.Status.State != api.StateRunning {
		return
	}
	live, err := r.service.NetworkPolicy(ctx, r.live.ID)
	if err != nil {
		r.diags.AddAttributeWarning(path.Root("network_policy"), "Network policy of "+r.live.ID+" can't be verified",
			"Its egress sidecar can't be asked which policy it enforces, so the state keeps the last one known.\n\n"+diagnose.OpenSandbox.Detail(err))
		return
	}
	if !samePolicy(*known, live) {
		r.state.NetworkPolicy = sandbox.PolicyBlock(live)
	}
}

// samePolicy compares rules in their order: the first that fits decides. Names have no case.
func samePolicy(a, b api.NetworkPolicy) bool {
	if !strings.EqualFold(a.DefaultAction, b.DefaultAction) || len(a.Egress) != len(b.Egress) {
		return false
	}
	for i := range a.Egress {
		if !strings.EqualFold(a.Egress[i].Action, b.Egress[i].Action) || !strings.EqualFold(a.Egress[i].Target, b.Egress[i].Target) {
			return false
		}
	}
	return true
}

// portsToLookUp are the exposed ports and that of the display.
func (m model) portsToLookUp() []int64 {
	ports := m.PortNumbers()
	if vnc := m.VNCPort; !vnc.IsNull() && !slices.Contains(ports, vnc.ValueInt64()) {
		ports = append(ports, vnc.ValueInt64())
	}
	return ports
}

// knowsPorts says whether the state has a URL for each port.
func (m model) knowsPorts() bool {
	for _, port := range m.PortNumbers() {
		if url, ok := m.Ports.Elements()[fmt.Sprint(port)].(types.String); !ok || url.IsNull() {
			return false
		}
	}
	return m.VNCPort.IsNull() || !m.VNCURL.IsNull()
}

// lookUp asks for the URLs of ports, by port. A server that can't tell one, since the sandbox isn't running, is no failure
// where that is tolerated.
func lookUp(ctx context.Context, service *lifecycle.Lifecycle, id string, ports []int64, tolerant bool) (map[string]string, error) {
	urls := map[string]string{}
	for _, port := range ports {
		found, _, err := service.Reach(ctx, id, []int64{port}, 0)
		if err != nil && (!tolerant || !untold(err)) {
			return nil, err
		}
		urls[fmt.Sprint(port)] = found[port]
	}
	return urls, nil
}

// untold knows the answers of a server that has no endpoint to tell: there is no pod, or it isn't running.
func untold(err error) bool {
	failed, ok := errors.AsType[*apiclient.Error](err)
	return ok && (apiclient.IsGone(err) || failed.Status == http.StatusConflict)
}
