// Package opensandboxsnapshot is the resource opensandbox_snapshot.
package opensandboxsnapshot

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentenv/terraform-provider-gpuvm/internal/apiclient"
	api "github.com/agentenv/terraform-provider-gpuvm/internal/apiclient/opensandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/connection"
	"github.com/agentenv/terraform-provider-gpuvm/internal/diagnose"
	lifecycle "github.com/agentenv/terraform-provider-gpuvm/internal/lifecycle/opensandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/plan"
	"github.com/agentenv/terraform-provider-gpuvm/internal/snapshot"
)

var (
	_ resource.ResourceWithConfigure      = &Resource{}
	_ resource.ResourceWithIdentity       = &Resource{}
	_ resource.ResourceWithImportState    = &Resource{}
	_ resource.ResourceWithModifyPlan     = &Resource{}
	_ resource.ResourceWithValidateConfig = &Resource{}
)

// Resource is opensandbox_snapshot.
type Resource struct{ service *connection.OpenSandbox }

// New gives the resource, not yet configured.
func New() resource.Resource { return &Resource{} }

// Metadata names the type.
func (r *Resource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_snapshot"
}

// Configure takes the service over from the provider.
func (r *Resource) Configure(_ context.Context, req resource.ConfigureRequest, _ *resource.ConfigureResponse) {
	r.service, _ = req.ProviderData.(*connection.OpenSandbox)
}

// Timeouts where the timeouts block doesn't say.
const (
	createTimeout = 30 * time.Minute
	readTimeout   = 2 * time.Minute
	deleteTimeout = 10 * time.Minute
)

// ValidateConfig refuses what is wrong whatever the server says.
func (r *Resource) ValidateConfig(ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	var config model
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	plan.RefuseTimeouts(config.Timeouts.Object, &resp.Diagnostics)
}

// ModifyPlan says what replaces a snapshot: an import is told all of it, so that nothing is left to adopt.
func (r *Resource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	change, standing := plan.ChangeOf(req)
	if !standing {
		return
	}
	change.Keep(ctx, resp, "id", "status", "created_at")
	plan.Replace(resp, change.Of("sandbox_id", "name")...)
	var state model
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	if state.Status.ValueString() == api.StateFailed {
		plan.ReplaceByStatus(ctx, resp)
	}
}

// Create takes exactly one snapshot and waits until it is ready.
func (r *Resource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	defer diagnose.Panic(&resp.Diagnostics)
	var planned model
	resp.Diagnostics.Append(req.Plan.Get(ctx, &planned)...)
	service := r.service.Lifecycle(&resp.Diagnostics)
	timeout, diags := planned.Timeouts.Create(ctx, createTimeout)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()

	ready, err := service.CreateSnapshot(ctx, lifecycle.SnapshotSpec{
		SandboxID: planned.SandboxID.ValueString(), Name: planned.Name.ValueString(), ReadyTimeout: timeout,
		Noted: func(id string) { plan.Note(ctx, req, resp, id) },
	})
	if err != nil {
		reportFailedCreate(ctx, req, resp, err)
		return
	}
	planned.created(ready)
	resp.Diagnostics.Append(resp.State.Set(ctx, planned)...)
	resp.Diagnostics.Append(resp.Identity.Set(ctx, identity{ID: planned.ID})...)
}

// reportFailedCreate says what failed and what became of the snapshot, and keeps one that stands in the state.
func reportFailedCreate(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse, err error) {
	diagnose.OpenSandbox.AttributeError(&resp.Diagnostics, path.Root("sandbox_id"), "Snapshot was not taken", err)
	if failure, ok := errors.AsType[*lifecycle.CreateError](err); ok && failure.Stands() {
		plan.Note(ctx, req, resp, failure.ID)
		return
	}
	resp.State.RemoveResource(ctx)
}

// Read refreshes the snapshot. One that is gone leaves the state; one that failed stays, with the server's word.
func (r *Resource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	defer diagnose.Panic(&resp.Diagnostics)
	var state model
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	service := r.service.Lifecycle(&resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()

	// Terraform 1.11 wants the identity even of what is dropped from the state.
	resp.Diagnostics.Append(resp.Identity.Set(ctx, identity{ID: state.ID})...)
	id := state.ID.ValueString()
	live, err := service.API.Snapshot(ctx, id)
	switch {
	case apiclient.IsGone(err):
		resp.State.RemoveResource(ctx)
		return
	case err != nil:
		diagnose.OpenSandbox.Error(&resp.Diagnostics, "Snapshot "+id+" can't be read", err)
		return
	}
	state.refreshed(snapshot.ToldOf(live))
	resp.Diagnostics.Append(resp.State.Set(ctx, state)...)
}

// Update notes other timeouts: nothing else can change in place.
func (r *Resource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	defer diagnose.Panic(&resp.Diagnostics)
	var planned model
	resp.Diagnostics.Append(req.Plan.Get(ctx, &planned)...)
	if resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, planned)...)
	resp.Diagnostics.Append(resp.Identity.Set(ctx, identity{ID: planned.ID})...)
}

// Delete ends the snapshot and waits until the server no longer knows it.
func (r *Resource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	defer diagnose.Panic(&resp.Diagnostics)
	var state model
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	service := r.service.Lifecycle(&resp.Diagnostics)
	timeout, diags := state.Timeouts.Delete(ctx, deleteTimeout)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	id := state.ID.ValueString()
	if err := service.DeleteSnapshot(ctx, id); err != nil {
		diagnose.OpenSandbox.Error(&resp.Diagnostics, "Snapshot "+id+" was not destroyed", fmt.Errorf("%w\n\nIt is still in the state; destroy again", err))
	}
}

// ImportState takes an id. The server tells all that there is to a snapshot, so that a refresh completes the import.
func (r *Resource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	defer diagnose.Panic(&resp.Diagnostics)
	plan.ImportID(ctx, req, resp)
}

func (m *model) created(ready api.Snapshot) {
	m.ID = types.StringValue(ready.ID)
	told := snapshot.ToldOf(ready)
	m.Status, m.CreatedAt = told.Status, told.CreatedAt
}

// refreshed takes over what can change of a snapshot, and all that an import doesn't know yet.
func (m *model) refreshed(told snapshot.Told) {
	if m.SandboxID.IsNull() {
		m.Told = told
	}
	if m.CreatedAt.IsNull() {
		m.CreatedAt = told.CreatedAt
	}
	m.Status = told.Status
}
