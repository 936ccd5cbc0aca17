package opensandboxsandbox

import (
	"context"
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	api "github.com/agentenv/terraform-provider-gpuvm/internal/apiclient/opensandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/labels"
	"github.com/agentenv/terraform-provider-gpuvm/internal/nullable"
	"github.com/agentenv/terraform-provider-gpuvm/internal/sandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/wholenumber"
)

const (
	onFailureDelete = "delete"
	onFailureKeep   = "keep"
)

// model is a sandbox as state, plan and configuration hold it.
type model struct {
	sandbox.Arguments

	EnvWOVersion      wholenumber.Value `tfsdk:"env_wo_version"`
	FilesWOVersion    wholenumber.Value `tfsdk:"files_wo_version"`
	RenewBelowSeconds wholenumber.Value `tfsdk:"renew_below_seconds"`
	Paused            types.Bool        `tfsdk:"paused"`
	TeardownScript    types.String      `tfsdk:"teardown_script"`
	OnCreateFailure   types.String      `tfsdk:"on_create_failure"`
	Timeouts          timeouts.Value    `tfsdk:"timeouts"`

	ID                  types.String `tfsdk:"id"`
	Status              types.String `tfsdk:"status"`
	StatusReason        types.String `tfsdk:"status_reason"`
	StatusMessage       types.String `tfsdk:"status_message"`
	Ports               types.Map    `tfsdk:"ports"`
	VNCURL              types.String `tfsdk:"vnc_url"`
	EffectiveMetadata   types.Map    `tfsdk:"effective_metadata"`
	AttributionMetadata types.Map    `tfsdk:"attribution_metadata"`
	CreatedAt           types.String `tfsdk:"created_at"`
	ExpiresAt           types.String `tfsdk:"expires_at"`
}

// identity is what an import names a sandbox by.
type identity struct {
	ID types.String `tfsdk:"id"`
}

// observeStatus writes the state that the server tells.
func (m *model) observeStatus(status api.Status) {
	m.Status = nullable.Text(status.State)
	m.StatusReason = nullable.Text(status.Reason)
	m.StatusMessage = nullable.Text(status.Message)
}

// observePaused writes whether the sandbox is paused, where that is managed. A state that is neither says nothing of it.
func (m *model) observePaused(state string) {
	if m.Paused.IsNull() {
		return
	}
	switch state {
	case api.StatePaused, api.StatePausing:
		m.Paused = types.BoolValue(true)
	case api.StateRunning, api.StateResuming:
		m.Paused = types.BoolValue(false)
	}
}

// observePorts writes the URLs that were looked up, by port.
func (m *model) observePorts(urls map[string]string) {
	m.Ports, m.VNCURL = m.Reached(urls)
}

// imported fills in what the server tells of a sandbox that no state knew: all else stays null. Which of its metadata is
// ours only the configuration says, so none is yet: what is foreign never shows as a change.
func (m *model) imported(ctx context.Context, live api.Sandbox, diags *diag.Diagnostics) {
	source := sandbox.SourceOf(live)
	m.Image, m.SnapshotID, m.PoolRef = source.Image, source.SnapshotID, source.PoolRef
	m.Platform = sandbox.PlatformOf(live)
	m.EffectiveMetadata = labels.ToMap(ctx, nil, diags)
	m.AttributionMetadata = labels.ToMap(ctx, nil, diags)
}

// drifted writes metadata that was changed outside since it was last written: stamp holds what was sent then and what the
// server made of it, own the sandbox's own metadata as it was configured.
func (m *model) drifted(ctx context.Context, stamp labels.Stamp, own, live map[string]string, diags *diag.Diagnostics) {
	if len(own) > 0 {
		configured := labels.Stamp{Sent: own, Answered: stamp.Answered}
		m.Metadata = labels.ToMap(ctx, configured.Now(slices.Collect(maps.Keys(own)), live), diags)
	}
	m.EffectiveMetadata = labels.ToMap(ctx, stamp.Now(slices.Collect(maps.Keys(stamp.Sent)), live), diags)
}
