package opensandboxsandbox

import (
	"cmp"
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/types"

	api "github.com/agentenv/terraform-provider-gpuvm/internal/apiclient/opensandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/labels"
	"github.com/agentenv/terraform-provider-gpuvm/internal/listing"
	"github.com/agentenv/terraform-provider-gpuvm/internal/nullable"
	"github.com/agentenv/terraform-provider-gpuvm/internal/sandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/wholenumber"
)

var kind = listing.Kind[api.Sandbox]{
	Many: "Sandboxes",
	ID:   func(live api.Sandbox) string { return live.ID },
	Name: displayName,
	Resource: func(ctx context.Context, live api.Sandbox, result *list.ListResult) {
		listing.Fill(ctx, result, resourceOf(ctx, live, &result.Diagnostics))
	},
}

// displayName is what a sandbox was made from and how it is.
func displayName(live api.Sandbox) string {
	source := sandbox.SourceOf(live)
	from := cmp.Or(source.Image.ValueString(), source.SnapshotID.ValueString(), source.PoolRef.ValueString(), "sandbox of a pool")
	return from + " (" + live.Status.State + ")"
}

// resourceOf is a sandbox as the first refresh after its import would have it, and what else its configuration has to say to be
// one: a source and, where it expires, a time to live.
func resourceOf(ctx context.Context, live api.Sandbox, diags *diag.Diagnostics) map[string]attr.Value {
	source := sandbox.SourceOf(live)
	if source.Image.IsNull() && source.SnapshotID.IsNull() && source.PoolRef.IsNull() {
		source.PoolRef = types.StringValue(untoldPool)
		diags.AddWarning("Pool of sandbox "+live.ID+" isn't told",
			"It came from a pool, and this server doesn't tell from which: pool_ref = \""+untoldPool+"\" stands for it.\n\nWhat to do: put the pool's name there before you apply generated configuration.")
	}
	return map[string]attr.Value{
		"id": types.StringValue(live.ID), "image": source.Image, "snapshot_id": source.SnapshotID, "pool_ref": source.PoolRef,
		"platform": sandbox.PlatformOf(live), "ttl_seconds": lifeOf(live),
		"status": nullable.Text(live.Status.State), "status_reason": nullable.Text(live.Status.Reason), "status_message": nullable.Text(live.Status.Message),
		"effective_metadata": sandbox.MetadataOf(ctx, live, diags), "attribution_metadata": labels.ToMap(ctx, nil, diags),
		"created_at": nullable.Time(live.CreatedAt.Time), "expires_at": nullable.Time(live.ExpiresAt.Time),
	}
}

// untoldPool stands for a pool whose name an older server doesn't tell.
const untoldPool = "unknown"

// lifeOf is a time to live for a sandbox that expires, whose own the server doesn't tell; null for one that never does.
func lifeOf(live api.Sandbox) wholenumber.Value {
	if live.ExpiresAt.IsZero() {
		return wholenumber.Null()
	}
	life := live.ExpiresAt.Sub(live.CreatedAt.Time).Round(time.Second)
	return wholenumber.Of(max(sandbox.MinTTL, int64(life/time.Second)))
}
