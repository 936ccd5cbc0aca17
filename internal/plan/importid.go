package plan

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentenv/terraform-provider-gpuvm/internal/private"
)

// ImportByID imports an object by its id, or by an identity that holds the id, and notes that it waits for the apply
// that adopts it.
func ImportByID(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	if ImportID(ctx, req, resp); !resp.Diagnostics.HasError() {
		private.Set(ctx, resp.Private, private.Imported, true, &resp.Diagnostics)
	}
}

// ImportID imports an object of which the service tells everything, so that there is nothing to adopt.
func ImportID(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	resource.ImportStatePassthroughWithIdentity(ctx, path.Root("id"), path.Root("id"), req, resp)
	if resp.Diagnostics.HasError() {
		return
	}
	var id types.String
	resp.Diagnostics.Append(resp.State.GetAttribute(ctx, path.Root("id"), &id)...)
	switch id.ValueString() {
	case "", ".", "..":
		resp.Diagnostics.AddError("The import id isn't usable",
			fmt.Sprintf("%q can't be the id of anything: an id is one part of a URL's path, and never empty, \".\" or \"..\".", id.ValueString()))
	}
}
