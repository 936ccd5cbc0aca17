package gpuvminstance

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	api "github.com/agentenv/terraform-provider-gpuvm/internal/apiclient/gpuvm"
	"github.com/agentenv/terraform-provider-gpuvm/internal/labels"
	"github.com/agentenv/terraform-provider-gpuvm/internal/plan"
	"github.com/agentenv/terraform-provider-gpuvm/internal/unchanged"
	"github.com/agentenv/terraform-provider-gpuvm/internal/upload"
)

// ModifyPlan says what a change means before anything is sent: which computed values stay known, what replaces the
// instance, and how an imported one is adopted.
func (r *Resource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.Plan.Raw.IsNull() {
		return
	}
	change, standing := plan.ChangeOf(req)
	var planned model
	resp.Diagnostics.Append(req.Plan.Get(ctx, &planned)...)
	refuseUnenforceable(planned.NetworkPolicy, &resp.Diagnostics)
	sources := upload.PlanSources(planned.Files, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	if !standing {
		r.planNew(ctx, planned, resp)
		return
	}
	var state model
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	change.Keep(ctx, resp, computed...)
	switch {
	case state.Status.ValueString() == api.StatusFailed:
		plan.ReplaceByStatus(ctx, resp)
	case plan.AwaitsAdoption(ctx, req.Private, state.OnCreateFailure.IsNull()):
		r.planAdoption(ctx, change, planned, state, resp)
	default:
		plan.Replace(resp, change.Of(replacing...)...)
		upload.ReplaceChanged(ctx, req.Private, sources, resp)
	}
}

// Settled says whether nothing but a proposed change makes ModifyPlan plan something: no failure, no adoption, no local file. A
// branch that is added there needs its word here.
func (r *Resource) Settled(ctx context.Context, object unchanged.Object) bool {
	return object.IsNull("files") && object.Text("status") != api.StatusFailed &&
		!plan.AwaitsAdoption(ctx, object.Notes, object.IsNull("on_create_failure"))
}

// planNew shows of an instance that is to be made what can be known.
func (r *Resource) planNew(ctx context.Context, planned model, resp *resource.ModifyPlanResponse) {
	resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, path.Root("ports"), plan.Ports(planned.ExposedPorts))...)
	effective := labels.Effective(ctx, planned.Labels, r.service.DefaultLabels, &resp.Diagnostics)
	resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, path.Root("effective_labels"), effective)...)
	needs := plan.CreateSpan(planned.Timeouts.Object)
	if needs == (plan.Span{}) {
		needs = plan.Span{Length: r.service.BootTimeout, Setting: "the provider's boot_timeout_seconds"}
	}
	plan.WarnShortTTL("machine", planned.TTLSeconds, needs, &resp.Diagnostics)
}

// planAdoption takes an imported instance over. Its ports and labels are compared with the service, all else is
// believed to be as configured.
func (r *Resource) planAdoption(ctx context.Context, change plan.Change, planned, state model, resp *resource.ModifyPlanResponse) {
	own, ownKnown := labels.FromMap(planned.Labels)
	defaults, _ := labels.FromMap(r.service.DefaultLabels)
	live, _ := labels.FromMap(state.EffectiveLabels)
	if missing := labels.Missing(own, live); !ownKnown || len(missing) > 0 {
		plan.Replace(resp, "labels")
	}
	plan.Replace(resp, change.Of("exposed_ports")...)
	if len(resp.RequiresReplace) > 0 {
		return // what it was made with is nobody's concern any more
	}
	effective := labels.ToMap(ctx, labels.Restrict(live, own, defaults), &resp.Diagnostics)
	resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, path.Root("effective_labels"), effective)...)
	plan.Adopt(ctx, resp, "instance", change.Of(unverified...))
}
