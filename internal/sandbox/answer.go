package sandbox

import (
	"context"
	"strconv"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	api "github.com/agentenv/terraform-provider-gpuvm/internal/apiclient/opensandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/labels"
	"github.com/agentenv/terraform-provider-gpuvm/internal/metadata"
	"github.com/agentenv/terraform-provider-gpuvm/internal/nullable"
)

// Source is what a sandbox was made from: exactly one of the three isn't null, where the server tells.
type Source struct{ Image, SnapshotID, PoolRef types.String }

// unknownImage is what a server calls the image of a sandbox that came from a pool.
const unknownImage = "unknown"

// SourceOf reads what a sandbox was made from. Only newer servers tell the pool.
func SourceOf(live api.Sandbox) Source {
	source := Source{Image: types.StringNull(), SnapshotID: types.StringNull(), PoolRef: types.StringNull()}
	switch {
	case live.SnapshotID != "":
		source.SnapshotID = types.StringValue(live.SnapshotID)
	case live.Allocation != nil && live.Allocation.PoolRef != "":
		source.PoolRef = types.StringValue(live.Allocation.PoolRef)
	case live.Image != nil && live.Image.URI != unknownImage:
		source.Image = nullable.Text(live.Image.URI)
	}
	return source
}

var platformType = map[string]attr.Type{"os": types.StringType, "arch": types.StringType}

// PlatformOf is what a sandbox was asked to run on, null where nothing was asked.
func PlatformOf(live api.Sandbox) types.Object {
	if live.Platform == nil {
		return types.ObjectNull(platformType)
	}
	return types.ObjectValueMust(platformType, map[string]attr.Value{
		"os": types.StringValue(live.Platform.OS), "arch": types.StringValue(live.Platform.Arch),
	})
}

// MetadataOf is all metadata of a sandbox but the provider's own mark on it.
func MetadataOf(ctx context.Context, live api.Sandbox, diags *diag.Diagnostics) types.Map {
	return labels.ToMap(ctx, metadata.Visible(live.Metadata), diags)
}

// URLs names ports as attributes do.
func URLs(found map[int64]string) map[string]string {
	urls := make(map[string]string, len(found))
	for port, url := range found {
		urls[strconv.FormatInt(port, 10)] = url
	}
	return urls
}
