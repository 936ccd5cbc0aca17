// Package opensandboxpool is the resource opensandbox_pool.
package opensandboxpool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/agentenv/terraform-provider-gpuvm/internal/apiclient"
	"github.com/agentenv/terraform-provider-gpuvm/internal/connection"
	"github.com/agentenv/terraform-provider-gpuvm/internal/diagnose"
	lifecycle "github.com/agentenv/terraform-provider-gpuvm/internal/lifecycle/opensandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/nullable"
	"github.com/agentenv/terraform-provider-gpuvm/internal/plan"
	"github.com/agentenv/terraform-provider-gpuvm/internal/private"
)

var (
	_ resource.ResourceWithConfigure      = &Resource{}
	_ resource.ResourceWithIdentity       = &Resource{}
	_ resource.ResourceWithImportState    = &Resource{}
	_ resource.ResourceWithModifyPlan     = &Resource{}
	_ resource.ResourceWithValidateConfig = &Resource{}
)

// Resource is opensandbox_pool.
type Resource struct{ service *connection.OpenSandbox }

// New gives the resource, not yet configured.
func New() resource.Resource { return &Resource{} }

// Metadata names the type.
func (r *Resource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_pool"
}

// Configure takes the service over from the provider.
func (r *Resource) Configure(_ context.Context, req resource.ConfigureRequest, _ *resource.ConfigureResponse) {
	r.service, _ = req.ProviderData.(*connection.OpenSandbox)
}

const (
	// changeTimeout bounds a create, an update and a destroy: the server answers at once, so this is for its bad days.
	changeTimeout = 10 * time.Minute
	readTimeout   = 2 * time.Minute
)

// Create makes the pool. One whose name is taken is an error; one of which the server doesn't tell whether it was made is
// kept tainted.
func (r *Resource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	defer diagnose.Panic(&resp.Diagnostics)
	var planned model
	resp.Diagnostics.Append(req.Plan.Get(ctx, &planned)...)
	service := r.service.Lifecycle(&resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, changeTimeout)
	defer cancel()

	name := planned.Name.ValueString()
	pool, err := service.CreatePool(ctx, name, json.RawMessage(planned.Template.ValueString()), planned.Capacity.sent())
	if unseen, ok := errors.AsType[*lifecycle.UnseenError](err); ok {
		plan.Note(ctx, req, resp, name)
		err = fmt.Errorf("%w\n\nThe pool is kept in the state, tainted, as it may exist: the next apply deletes what there is of it and makes it anew", unseen)
	}
	if err != nil {
		diagnose.OpenSandbox.AttributeError(&resp.Diagnostics, path.Root("name"), "Pool "+name+" was not created", err)
		return
	}
	planned.ID, planned.CreatedAt = planned.Name, nullable.Time(pool.CreatedAt.Time)
	resp.Diagnostics.Append(resp.State.Set(ctx, planned)...)
	resp.Diagnostics.Append(resp.Identity.Set(ctx, identity{ID: planned.ID})...)
}

// Read refreshes the pool. One that is gone leaves the state. The server never tells the template.
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
	name := state.ID.ValueString()
	pool, err := service.API.Pool(ctx, name)
	switch {
	case apiclient.IsGone(err):
		resp.State.RemoveResource(ctx)
		return
	case err != nil:
		diagnose.OpenSandbox.Error(&resp.Diagnostics, "Pool "+name+" can't be read", err)
		return
	}
	state.refreshed(pool)
	resp.Diagnostics.Append(resp.State.Set(ctx, state)...)
}

// Update changes the capacity, and completes the adoption of an imported pool.
func (r *Resource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	defer diagnose.Panic(&resp.Diagnostics)
	var planned, state model
	resp.Diagnostics.Append(req.Plan.Get(ctx, &planned)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	service := r.service.Lifecycle(&resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, changeTimeout)
	defer cancel()

	resp.Diagnostics.Append(resp.Identity.Set(ctx, identity{ID: state.ID})...)
	name := state.ID.ValueString()
	if !planned.Capacity.equal(state.Capacity) {
		if _, err := service.API.UpdatePool(ctx, name, planned.Capacity.sent()); err != nil {
			diagnose.OpenSandbox.AttributeError(&resp.Diagnostics, path.Root("capacity"), "Capacity of pool "+name+" was not changed", err)
			return
		}
	}
	if planned.CreatedAt.IsUnknown() {
		planned.CreatedAt = state.CreatedAt
	}
	if private.IsImported(ctx, req.Private) {
		private.Clear(ctx, resp.Private, private.Imported, &resp.Diagnostics)
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, planned)...)
}

// Delete ends the pool and waits until the server no longer knows it.
func (r *Resource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	defer diagnose.Panic(&resp.Diagnostics)
	var state model
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	service := r.service.Lifecycle(&resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, changeTimeout)
	defer cancel()
	name := state.ID.ValueString()
	if err := service.DeletePool(ctx, name); err != nil {
		diagnose.OpenSandbox.Error(&resp.Diagnostics, "Pool "+name+" was not destroyed", fmt.Errorf("%w\n\nIt is still in the state; destroy again", err))
	}
}

// ImportState takes a name, which is the id. The first apply after it adopts the pool.
func (r *Resource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	defer diagnose.Panic(&resp.Diagnostics)
	plan.ImportByID(ctx, req, resp)
}
