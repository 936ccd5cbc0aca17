package plan

import (
	"context"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentenv/terraform-provider-gpuvm/internal/private"
)

// ReplaceByStatus plans a replacement for a reason that no configured attribute shows, such as a failed machine or a
// local file whose content changed. Terraform heeds RequiresReplace only on an attribute whose planned value differs
// from its state, so status is planned unknown.
func ReplaceByStatus(ctx context.Context, resp *resource.ModifyPlanResponse) {
	resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, path.Root("status"), types.StringUnknown())...)
	Replace(resp, "status")
}

// AwaitsAdoption says whether an apply has yet to take over an imported object. The note of its import is lost with all of the
// private state when the provider is killed in the middle of that apply; but only what was imported lacks a value that every
// create has. lacking says whether the state lacks one.
func AwaitsAdoption(ctx context.Context, notes private.State, lacking bool) bool {
	return lacking || private.IsImported(ctx, notes)
}

// Adopt plans an imported object's first apply: status is planned unknown so that Update runs, whatever the
// configuration says, and ends the adoption there; unverified names the attributes that are taken over from the
// configuration without a look at the service.
func Adopt(ctx context.Context, resp *resource.ModifyPlanResponse, what string, unverified []string) {
	AdoptBy(ctx, resp, "status", what, unverified)
}

// AdoptBy is Adopt for an object without a status: another computed attribute, a text, is planned unknown.
func AdoptBy(ctx context.Context, resp *resource.ModifyPlanResponse, computed, what string, unverified []string) {
	resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, path.Root(computed), types.StringUnknown())...)
	if len(unverified) == 0 {
		return
	}
	resp.Diagnostics.AddWarning("Imported "+what+": some settings can't be verified",
		"The service doesn't tell them, so the first apply after an import takes them from the configuration as they are and sends nothing: "+
			strings.Join(unverified, ", ")+".\n\nWhat to do: see that they are what the "+what+" was made with. A change after this apply replaces it.")
}
