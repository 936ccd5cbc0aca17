package opensandboxsandbox

import (
	"cmp"
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	api "github.com/agentenv/terraform-provider-gpuvm/internal/apiclient/opensandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/metadata"
	"github.com/agentenv/terraform-provider-gpuvm/internal/plan"
	"github.com/agentenv/terraform-provider-gpuvm/internal/unchanged"
	"github.com/agentenv/terraform-provider-gpuvm/internal/upload"
)

// replacing are the arguments whose change replaces a sandbox. Besides, network_policy and ttl_seconds do where they come or
// go.
var replacing = []string{
	"image", "snapshot_id", "pool_ref", "entrypoint", "resources", "resource_requests", "env", "env_wo_version", "platform",
	"volume", "credential_proxy", "secure_access", "extensions", "image_pull_policy", "pre_start", "periodic", "files",
	"files_wo_version", "setup_script",
}

// planning is one plan of a sandbox that stands.
type planning struct {
	plan.Change
	resource       *Resource
	planned, state model
	resp           *resource.ModifyPlanResponse
}

// ModifyPlan says what a change means before anything is sent: which computed values stay known, what replaces the
// sandbox, and how an imported one is adopted. It judges by state, configuration and clock alone. Terraform asks again at
// apply, so nothing that was known may have another value then.
func (r *Resource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.Plan.Raw.IsNull() {
		return
	}
	change, standing := plan.ChangeOf(req)
	var planned, state model
	resp.Diagnostics.Append(req.Plan.Get(ctx, &planned)...)
	sources := upload.PlanSources(planned.Files, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	if !standing {
		r.planNew(ctx, planned, resp)
		return
	}
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	p := planning{Change: change, resource: r, planned: planned, state: state, resp: resp}
	p.Keep(ctx, resp, computed...)
	switch imported := plan.AwaitsAdoption(ctx, req.Private, state.OnCreateFailure.IsNull()); {
	case hasEnded(state.Status.ValueString()):
		plan.ReplaceByStatus(ctx, resp)
	case imported:
		p.adopt(ctx)
		p.change(ctx)
		p.expiry(ctx, req, false)
	default:
		p.replace()
		upload.ReplaceChanged(ctx, req.Private, sources, resp)
		p.change(ctx)
		p.expiry(ctx, req, p.renews())
	}
}

// Settled says whether nothing but a proposed change makes ModifyPlan plan something: no end of the sandbox, no adoption, no local
// file, no time that runs out, no pause that its status may deny, and default metadata as they were. A branch that is added there
// needs its word here.
func (r *Resource) Settled(ctx context.Context, object unchanged.Object) bool {
	if !object.IsNull("files") || !object.IsNull("renew_below_seconds") || !object.IsNull("paused") ||
		hasEnded(object.Text("status")) || plan.AwaitsAdoption(ctx, object.Notes, object.IsNull("on_create_failure")) {
		return false
	}
	own, ok := object.Value(ctx, "metadata").(types.Map)
	if !ok {
		return false
	}
	var diags diag.Diagnostics
	wanted := metadata.Effective(ctx, own, r.service.DefaultMetadata, &diags)
	return !diags.HasError() && wanted.Equal(object.Value(ctx, "effective_metadata"))
}

// hasEnded says whether a sandbox in that state can't come back.
func hasEnded(state string) bool {
	return state == api.StateFailed || state == api.StateTerminated
}

// planNew shows of a sandbox that is to be made what can be known.
func (r *Resource) planNew(ctx context.Context, planned model, resp *resource.ModifyPlanResponse) {
	p := planning{resource: r, planned: planned, resp: resp}
	p.set(ctx, "ports", plan.Ports(planned.ExposedPorts))
	p.set(ctx, "effective_metadata", p.effective(ctx))
	if planned.VNCPort.IsNull() {
		p.set(ctx, "vnc_url", types.StringNull())
	}
	plan.WarnShortTTL("sandbox", planned.TTLSeconds, r.needs(planned), &resp.Diagnostics)
}

// needs is how long a sandbox may take until it is usable: all of create where the timeouts block bounds that, else what is
// always waited for. How long a boot may take says nothing of how long it takes: it is the pull of the largest image.
func (r *Resource) needs(planned model) plan.Span {
	if all := plan.CreateSpan(planned.Timeouts.Object); all != (plan.Span{}) {
		return all
	}
	needs := plan.Span{Setting: "the provider's probe block"}
	if !r.service.SkipHealthCheck && !planned.SkipHealthCheck.ValueBool() {
		needs.Length, needs.Setting = planned.ReadyTimeoutSeconds.Seconds(), "ready_timeout_seconds"
		if r.service.Probe.Line != "" {
			needs.Setting += " and the provider's probe block"
		}
	}
	if probe := r.service.Probe; probe.Line != "" {
		needs.Length += cmp.Or(probe.Deadline, probe.Timeout)
	}
	return needs
}

func (p planning) set(ctx context.Context, name string, value attr.Value) {
	p.resp.Diagnostics.Append(p.resp.Plan.SetAttribute(ctx, path.Root(name), value)...)
}

func (p planning) effective(ctx context.Context) types.Map {
	return metadata.Effective(ctx, p.planned.Metadata, p.resource.service.DefaultMetadata, &p.resp.Diagnostics)
}

// replace marks what the server can't change. A time to live and a policy can change, and can't come or go.
func (p planning) replace() {
	plan.Replace(p.resp, p.Of(replacing...)...)
	if p.comesOrGoes("ttl_seconds") {
		plan.Replace(p.resp, "ttl_seconds")
	}
	if p.comesOrGoes("network_policy") {
		plan.Replace(p.resp, "network_policy")
	}
}

// comesOrGoes says whether an attribute does, or may: what is unknown may turn out null, and what is planned as a change in
// place can't become a replacement then.
func (p planning) comesOrGoes(name string) bool {
	return p.State[name].IsNull() != p.Plan[name].IsNull() || !p.Plan[name].IsKnown()
}

// adopt takes an imported sandbox over. Metadata, ports, policy and whether it is paused are compared with the server,
// all else is believed to be as configured.
func (p planning) adopt(ctx context.Context) {
	unverified := p.Of(append([]string{"ttl_seconds"}, replacing...)...)
	for _, name := range statusAttributes {
		p.set(ctx, name, types.StringUnknown())
	}
	expires := !p.state.ExpiresAt.IsNull()
	if expires == !p.planned.TTLSeconds.IsNull() {
		plan.Adopt(ctx, p.resp, "sandbox", unverified)
		return
	}
	if expires {
		// ttl_seconds is null on both sides, where Terraform heeds no RequiresReplace.
		p.set(ctx, "expires_at", types.StringUnknown())
		plan.Replace(p.resp, "expires_at")
	} else {
		plan.Replace(p.resp, "ttl_seconds")
	}
	p.warnOfExpiry(expires)
}

// warnOfExpiry says why an imported sandbox is replaced: the server can't let one that expires stay, or the other way round.
func (p planning) warnOfExpiry(expires bool) {
	id := p.state.ID.ValueString()
	if expires {
		p.resp.Diagnostics.AddAttributeWarning(path.Root("ttl_seconds"), "Imported sandbox expires, so it is replaced",
			"The server ends "+id+" at "+p.state.ExpiresAt.ValueString()+", and without ttl_seconds a sandbox never expires. The server can't switch that.\n\nWhat to do: set ttl_seconds to keep this sandbox and have it renewed.")
		return
	}
	p.resp.Diagnostics.AddAttributeWarning(path.Root("ttl_seconds"), "Imported sandbox never expires, so it is replaced",
		"The server was asked to keep "+id+" until it is destroyed, and ttl_seconds lets it expire. The server can't switch that.\n\nWhat to do: take ttl_seconds away to keep this sandbox.")
}

// change shows what is changed in place.
func (p planning) change(ctx context.Context) {
	p.set(ctx, "effective_metadata", p.effective(ctx))
	if len(p.Of("exposed_ports")) > 0 {
		p.set(ctx, "ports", plan.PortsKept(p.planned.ExposedPorts, p.state.Ports))
	}
	if len(p.Of("vnc_port")) > 0 {
		p.set(ctx, "vnc_url", p.vncURL())
	}
	if p.pausesOrResumes() {
		for _, name := range statusAttributes {
			p.set(ctx, name, types.StringUnknown())
		}
		p.set(ctx, "ports", plan.Ports(p.planned.ExposedPorts))
		p.set(ctx, "vnc_url", p.vncURL())
	}
}

func (p planning) vncURL() types.String {
	if p.planned.VNCPort.IsNull() {
		return types.StringNull()
	}
	return types.StringUnknown()
}

// pausesOrResumes says whether paused is managed and not as it is. Where it wasn't managed before, the status tells.
func (p planning) pausesOrResumes() bool {
	wanted, now := p.planned.Paused, p.state.Paused
	if wanted.IsNull() {
		return false
	}
	if now.IsNull() {
		now = types.BoolValue(p.state.Status.ValueString() == api.StatePaused)
	}
	return !wanted.Equal(now)
}

// renews says whether ttl_seconds changes to another number, or may.
func (p planning) renews() bool {
	return len(p.Of("ttl_seconds")) > 0
}

// expiry leaves expires_at open where apply may renew: by the clock, when the sandbox is to be renewed and less than that
// is left, or may be by the time that something else is updated.
func (p planning) expiry(ctx context.Context, req resource.ModifyPlanRequest, renewed bool) {
	if renewed || p.below(!p.resp.Plan.Raw.Equal(req.State.Raw)) {
		p.set(ctx, "expires_at", types.StringUnknown())
	}
}

// below says whether less than renew_below_seconds is left, or may be when something else is updated.
func (p planning) below(updated bool) bool {
	threshold := p.planned.RenewBelowSeconds
	expires, err := time.Parse(time.RFC3339, p.state.ExpiresAt.ValueString())
	switch {
	case threshold.IsNull() || err != nil:
		return false
	case threshold.IsUnknown() || updated:
		return true
	}
	return expires.Sub(p.resource.service.Clock.Now()) < threshold.Seconds()
}
