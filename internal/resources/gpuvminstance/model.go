package gpuvminstance

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	api "github.com/agentenv/terraform-provider-gpuvm/internal/apiclient/gpuvm"
	"github.com/agentenv/terraform-provider-gpuvm/internal/labels"
	"github.com/agentenv/terraform-provider-gpuvm/internal/nullable"
	"github.com/agentenv/terraform-provider-gpuvm/internal/plan"
	"github.com/agentenv/terraform-provider-gpuvm/internal/private"
	"github.com/agentenv/terraform-provider-gpuvm/internal/wholenumber"
)

const (
	onFailureDelete = "delete"
	onFailureKeep   = "keep"
)

// model is an instance as state, plan and configuration hold it.
type model struct {
	Image        types.String      `tfsdk:"image"`
	CPU          types.Float64     `tfsdk:"cpu"`
	MemoryMB     wholenumber.Value `tfsdk:"memory_mb"`
	DiskGB       types.Float64     `tfsdk:"disk_gb"`
	TTLSeconds   wholenumber.Value `tfsdk:"ttl_seconds"`
	ExposedPorts types.Set         `tfsdk:"exposed_ports"`
	Labels       types.Map         `tfsdk:"labels"`
	Priority     wholenumber.Value `tfsdk:"priority"`

	NetworkPolicy    types.Object      `tfsdk:"network_policy"`
	ReadinessCommand types.List        `tfsdk:"readiness_command"`
	Files            types.Map         `tfsdk:"files"`
	FilesWOVersion   wholenumber.Value `tfsdk:"files_wo_version"`
	SetupScript      types.String      `tfsdk:"setup_script"`
	TeardownScript   types.String      `tfsdk:"teardown_script"`
	OnCreateFailure  types.String      `tfsdk:"on_create_failure"`
	Timeouts         timeouts.Value    `tfsdk:"timeouts"`

	ID                types.String `tfsdk:"id"`
	Status            types.String `tfsdk:"status"`
	Ports             types.Map    `tfsdk:"ports"`
	VNCURL            types.String `tfsdk:"vnc_url"`
	Error             types.String `tfsdk:"error"`
	EffectiveLabels   types.Map    `tfsdk:"effective_labels"`
	AttributionLabels types.Map    `tfsdk:"attribution_labels"`
	CreatedAt         types.String `tfsdk:"created_at"`
	ExpiresAt         types.String `tfsdk:"expires_at"`
}

// identity is what an import names an instance by.
type identity struct {
	ID types.String `tfsdk:"id"`
}

// request is the body that asks for the planned instance under the given labels.
func (m model) request(stamped map[string]string) api.CreateRequest {
	request := api.CreateRequest{
		Image:      m.Image.ValueString(),
		CPU:        m.CPU.ValueFloat64(),
		MemoryMB:   m.MemoryMB.ValueInt64(),
		DiskGB:     m.DiskGB.ValueFloat64(),
		TTLSeconds: m.TTLSeconds.ValueInt64(),
		Ports:      wholenumber.Sorted(m.ExposedPorts),
		Labels:     stamped,
	}
	if !m.Priority.IsNull() {
		request.Priority = m.Priority.ValueInt64Pointer()
	}
	return request
}

// created writes what the service told of the new instance over whatever was unknown in the plan.
func (m *model) created(ctx context.Context, vm api.VM, attributed map[string]string, diags *diag.Diagnostics) {
	m.ID = types.StringValue(vm.ID)
	m.observe(vm)
	m.AttributionLabels = labels.ToMap(ctx, attributed, diags)
	m.CreatedAt, m.ExpiresAt = types.StringNull(), types.StringNull()
	if !vm.Answered.IsZero() {
		m.CreatedAt = types.StringValue(vm.Answered.UTC().Format(time.RFC3339))
		m.ExpiresAt = types.StringValue(vm.Answered.UTC().Add(m.TTLSeconds.Seconds()).Format(time.RFC3339))
	}
}

// observe writes what the service tells of an instance at any time.
func (m *model) observe(vm api.VM) {
	m.Status = types.StringValue(vm.Status)
	m.Ports = plan.PortsOf(m.ExposedPorts, vm.Ports)
	m.VNCURL = nullable.Text(vm.VNCURL)
	m.Error = nullable.Text(vm.Error)
}

// refresh writes all that the service tells of an instance that stands.
func (m *model) refresh(ctx context.Context, vm api.VM, notes private.State, diags *diag.Diagnostics) {
	var stamp labels.Stamp
	if private.Get(ctx, notes, private.Labels, &stamp) {
		var own []string
		private.Get(ctx, notes, private.OwnLabels, &own)
		m.drifted(ctx, stamp, own, vm.Labels, diags)
	}
	m.observe(vm)
}

// imported fills in what the service tells of an instance that no state knew: all else stays null.
func (m *model) imported(ctx context.Context, vm api.VM, diags *diag.Diagnostics) {
	ports := []attr.Value{}
	for port := range vm.Ports {
		if number, err := strconv.ParseInt(port, 10, 64); err == nil && number >= 1 && number <= 65535 {
			ports = append(ports, wholenumber.Of(number))
		}
	}
	m.ExposedPorts = types.SetValueMust(wholenumber.Type{}, ports)
	m.Image = nullable.Text(vm.Image)
	m.EffectiveLabels = labels.ToMap(ctx, vm.Labels, diags)
	m.AttributionLabels = labels.ToMap(ctx, nil, diags)
}

// drifted writes labels that were changed outside since create.
func (m *model) drifted(ctx context.Context, stamp labels.Stamp, own []string, live map[string]string, diags *diag.Diagnostics) {
	if len(own) > 0 {
		m.Labels = labels.ToMap(ctx, stamp.Now(own, live), diags)
	}
	m.EffectiveLabels = labels.ToMap(ctx, stamp.Now(slices.Collect(maps.Keys(stamp.Sent)), live), diags)
}

// stamp is what drift is later judged against.
func (m *model) stamp(answered map[string]string) (stamp labels.Stamp, own []string) {
	sent, _ := labels.FromMap(m.EffectiveLabels)
	return labels.Stamp{Sent: sent, Answered: answered}, m.ownLabels()
}

// ownLabels are the keys of the object's own labels.
func (m *model) ownLabels() []string { return slices.Sorted(maps.Keys(m.Labels.Elements())) }
