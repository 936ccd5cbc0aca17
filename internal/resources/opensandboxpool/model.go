package opensandboxpool

import (
	"github.com/hashicorp/terraform-plugin-framework-jsontypes/jsontypes"
	"github.com/hashicorp/terraform-plugin-framework/types"

	api "github.com/agentenv/terraform-provider-gpuvm/internal/apiclient/opensandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/nullable"
	"github.com/agentenv/terraform-provider-gpuvm/internal/wholenumber"
)

// model is a pool as state and plan hold it.
type model struct {
	Name      types.String         `tfsdk:"name"`
	Template  jsontypes.Normalized `tfsdk:"template"`
	Capacity  *capacity            `tfsdk:"capacity"`
	ID        types.String         `tfsdk:"id"`
	CreatedAt types.String         `tfsdk:"created_at"`
}

// capacity bounds a pool: nil right after an import, until the refresh.
type capacity struct {
	BufferMin wholenumber.Value `tfsdk:"buffer_min"`
	BufferMax wholenumber.Value `tfsdk:"buffer_max"`
	PoolMin   wholenumber.Value `tfsdk:"pool_min"`
	PoolMax   wholenumber.Value `tfsdk:"pool_max"`
}

// identity is what an import names a pool by.
type identity struct {
	ID types.String `tfsdk:"id"`
}

// sent is the capacity in the server's words.
func (c *capacity) sent() api.Capacity {
	return api.Capacity{
		BufferMin: c.BufferMin.ValueInt64(), BufferMax: c.BufferMax.ValueInt64(),
		PoolMin: c.PoolMin.ValueInt64(), PoolMax: c.PoolMax.ValueInt64(),
	}
}

func (c *capacity) equal(other *capacity) bool { return other != nil && c.sent() == other.sent() }

// refreshed takes over what the server tells. When the pool was made doesn't change, however an answer rounds it.
func (m *model) refreshed(live api.Pool) {
	m.Name = m.ID
	if m.CreatedAt.IsNull() {
		m.CreatedAt = nullable.Time(live.CreatedAt.Time)
	}
	m.Capacity = &capacity{
		BufferMin: wholenumber.Of(live.Capacity.BufferMin), BufferMax: wholenumber.Of(live.Capacity.BufferMax),
		PoolMin: wholenumber.Of(live.Capacity.PoolMin), PoolMax: wholenumber.Of(live.Capacity.PoolMax),
	}
}
