package opensandboxpool

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-jsontypes/jsontypes"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentenv/terraform-provider-gpuvm/internal/plan"
)

// ModifyPlan says what replaces a pool, and adopts an imported one, whose template the server doesn't tell.
func (r *Resource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.Plan.Raw.IsNull() {
		return
	}
	change, standing := plan.ChangeOf(req)
	if !standing {
		knowID(ctx, resp)
		return
	}
	change.Keep(ctx, resp, "id", "created_at")
	plan.Replace(resp, change.Of("name")...)
	otherTemplate := len(change.Of("template")) > 0 && !sameTemplate(ctx, req, resp)
	switch {
	case plan.AwaitsAdoption(ctx, req.Private, change.State["template"].IsNull()):
		var unverified []string
		if otherTemplate {
			unverified = append(unverified, "template")
		}
		plan.AdoptBy(ctx, resp, "created_at", "pool", unverified)
	case otherTemplate:
		plan.Replace(resp, "template")
	}
}

// knowID plans the id of a pool that is to be made: its name.
func knowID(ctx context.Context, resp *resource.ModifyPlanResponse) {
	var name types.String
	resp.Diagnostics.Append(resp.Plan.GetAttribute(ctx, path.Root("name"), &name)...)
	resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, path.Root("id"), name)...)
}

// sameTemplate says whether a template is only written otherwise than before. It stays in the state as it stands there then:
// Terraform takes the value of the state for such a change.
func sameTemplate(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) bool {
	var before, after jsontypes.Normalized
	resp.Diagnostics.Append(req.State.GetAttribute(ctx, path.Root("template"), &before)...)
	resp.Diagnostics.Append(req.Plan.GetAttribute(ctx, path.Root("template"), &after)...)
	if before.IsNull() || after.IsNull() || after.IsUnknown() {
		return false
	}
	same, diags := before.StringSemanticEquals(ctx, after)
	resp.Diagnostics.Append(diags...)
	if same {
		resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, path.Root("template"), before)...)
	}
	return same
}

// ValidateConfig refuses bounds that contradict each other. What isn't known yet passes, and is asked about again.
func (r *Resource) ValidateConfig(ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	var bounds types.Object
	resp.Diagnostics.Append(req.Config.GetAttribute(ctx, path.Root("capacity"), &bounds)...)
	checkCapacity(bounds, &resp.Diagnostics)
}

func checkCapacity(bounds types.Object, diags *diag.Diagnostics) {
	for _, pair := range [][2]string{{"buffer_min", "buffer_max"}, {"pool_min", "pool_max"}} {
		low, lowKnown := number(bounds, pair[0])
		high, highKnown := number(bounds, pair[1])
		if lowKnown && highKnown && low > high {
			diags.AddAttributeError(path.Root("capacity").AtName(pair[0]), pair[0]+" is more than "+pair[1],
				"A pool's "+pair[0]+" can be at most its "+pair[1]+".")
		}
	}
}
