package plan

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
)

// Note writes the id of what a create has made into the state before anything else can fail: whatever ends the create
// then, Terraform knows the object, and Read and Delete work from the id alone.
func Note(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse, id string) {
	resp.State.Raw = Known(req.Plan.Raw)
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("id"), id)...)
	resp.Diagnostics.Append(resp.Identity.SetAttribute(ctx, path.Root("id"), id)...)
}
