package sandbox

import (
	"context"
	"strconv"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentenv/terraform-provider-gpuvm/internal/labels"
	"github.com/agentenv/terraform-provider-gpuvm/internal/wholenumber"
)

// resourceAttribute says which attribute gives a resource of the server's.
var resourceAttribute = map[string]string{
	"cpu": "cpu", "memory": "memory_mib", "ephemeral-storage": "disk_gib", "gpu": "gpu", "gpu_type": "gpu_type",
}

// limits are the resource limits. The server needs some with an image or a snapshot; these are its SDKs' defaults.
func (r *request) limits(ctx context.Context, a Arguments) map[string]string {
	limits := r.quantities(ctx, a.Resources)
	if len(limits) == 0 && a.PoolRef.IsNull() {
		return map[string]string{"cpu": "1", "memory": "2Gi"}
	}
	return limits
}

// quantities gives a resources block in the server's words; a zero is sent, only what is absent isn't.
func (r *request) quantities(ctx context.Context, block types.Object) map[string]string {
	var resources struct {
		CPU       types.Float64     `tfsdk:"cpu"`
		MemoryMiB wholenumber.Value `tfsdk:"memory_mib"`
		DiskGiB   wholenumber.Value `tfsdk:"disk_gib"`
		GPU       wholenumber.Value `tfsdk:"gpu"`
		GPUType   types.String      `tfsdk:"gpu_type"`
		Extended  types.Map         `tfsdk:"extended"`
	}
	if !r.read(ctx, block, &resources) {
		return nil
	}
	all, _ := labels.FromMap(resources.Extended)
	if !resources.CPU.IsNull() {
		all["cpu"] = strconv.FormatFloat(resources.CPU.ValueFloat64(), 'f', -1, 64)
	}
	for name, amount := range map[string]struct {
		number wholenumber.Value
		unit   string
	}{"memory": {resources.MemoryMiB, "Mi"}, "ephemeral-storage": {resources.DiskGiB, "Gi"}, "gpu": {resources.GPU, ""}} {
		if !amount.number.IsNull() {
			all[name] = strconv.FormatInt(amount.number.ValueInt64(), 10) + amount.unit
		}
	}
	if !resources.GPUType.IsNull() {
		all["gpu_type"] = resources.GPUType.ValueString()
	}
	return all
}
