// Package opensandboxsandbox is the resource opensandbox_sandbox.
package opensandboxsandbox

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/agentenv/terraform-provider-gpuvm/internal/apiclient"
	api "github.com/agentenv/terraform-provider-gpuvm/internal/apiclient/opensandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/connection"
	"github.com/agentenv/terraform-provider-gpuvm/internal/destroy"
	"github.com/agentenv/terraform-provider-gpuvm/internal/diagnose"
	"github.com/agentenv/terraform-provider-gpuvm/internal/fields"
	lifecycle "github.com/agentenv/terraform-provider-gpuvm/internal/lifecycle/opensandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/plan"
	"github.com/agentenv/terraform-provider-gpuvm/internal/private"
	"github.com/agentenv/terraform-provider-gpuvm/internal/unchanged"
)

var (
	_ resource.ResourceWithConfigure      = &Resource{}
	_ resource.ResourceWithIdentity       = &Resource{}
	_ resource.ResourceWithImportState    = &Resource{}
	_ resource.ResourceWithModifyPlan     = &Resource{}
	_ resource.ResourceWithValidateConfig = &Resource{}
	_ unchanged.Resource                  = &Resource{}
)

// Resource is opensandbox_sandbox.
type Resource struct{ service *connection.OpenSandbox }

// New gives the resource, not yet configured.
func New() resource.Resource { return &Resource{} }

// Metadata names the type.
func (r *Resource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_sandbox"
}

// Configure takes the service over from the provider.
func (r *Resource) Configure(_ context.Context, req resource.ConfigureRequest, _ *resource.ConfigureResponse) {
	r.service, _ = req.ProviderData.(*connection.OpenSandbox)
}

// Timeouts where the timeouts block doesn't say.
const (
	createTimeout = 30 * time.Minute
	readTimeout   = 2 * time.Minute
	updateTimeout = 10 * time.Minute
	deleteTimeout = 10 * time.Minute
)

// Read refreshes the sandbox. One that is gone leaves the state; one that has ended stays, with the server's words.
func (r *Resource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	defer diagnose.Panic(&resp.Diagnostics)
	var state model
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	service := r.service.Lifecycle(&resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	timeout, diags := state.Timeouts.Read(ctx, readTimeout)
	resp.Diagnostics.Append(diags...)
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()

	// Terraform 1.11 wants the identity even of what is dropped from the state.
	resp.Diagnostics.Append(resp.Identity.Set(ctx, identity{ID: state.ID})...)
	live, err := find(ctx, service, state)
	switch {
	case apiclient.IsGone(err):
		resp.State.RemoveResource(ctx)
		return
	case err != nil:
		diagnose.OpenSandbox.Error(&resp.Diagnostics, "Sandbox "+state.ID.ValueString()+" can't be read", err)
		return
	}
	refresh{service: service, state: &state, live: live, notes: req.Private, diags: &resp.Diagnostics}.run(ctx)
	resp.Diagnostics.Append(resp.State.Set(ctx, state)...)
}

// Look is Read as far as a sandbox that hasn't changed needs it. One under a network policy needs more: its sidecar is asked.
func (r *Resource) Look(ctx context.Context, object unchanged.Object) (context.Context, bool) {
	var state model
	var diags diag.Diagnostics
	service := r.service.Lifecycle(&diags)
	if diags.HasError() || !object.Into(ctx, &state) || !state.NetworkPolicy.IsNull() {
		return ctx, false
	}
	timeout, invalid := state.Timeouts.Read(ctx, readTimeout)
	if invalid.HasError() {
		return ctx, false
	}
	within, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	live, err := find(within, service, state)
	ctx = unchanged.Keep(ctx, state.ID.ValueString(), live, err)
	look := refresh{service: service, state: &state, live: live, notes: object.Notes, diags: &diags}
	if err != nil || look.needsPorts() {
		return ctx, false
	}
	before := state
	look.run(within)
	return ctx, len(diags) == 0 && fields.Same(before, state)
}

// find asks for the sandbox, unless Look has just done so.
func find(ctx context.Context, service *lifecycle.Lifecycle, state model) (api.Sandbox, error) {
	id := state.ID.ValueString()
	return unchanged.Ask(ctx, id, func() (api.Sandbox, error) { return service.Refresh(ctx, id) })
}

// Delete runs the teardown script, ends the sandbox and waits until the server no longer knows it.
func (r *Resource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	defer diagnose.Panic(&resp.Diagnostics)
	var state model
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	service := r.service.Lifecycle(&resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	timeout, diags := state.Timeouts.Delete(ctx, deleteTimeout)
	resp.Diagnostics.Append(diags...)
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	id := state.ID.ValueString()
	var made time.Time
	failed := private.Get(ctx, req.Private, private.Unfinished, &made)
	teardown := destroy.Script(state.TeardownScript.ValueString(), id, failed, &resp.Diagnostics)
	destroy.Machine(ctx, service, diagnose.OpenSandbox, "Sandbox", id, teardown, &resp.Diagnostics)
}

// ImportState takes an id. The first apply after it adopts the sandbox.
func (r *Resource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	defer diagnose.Panic(&resp.Diagnostics)
	plan.ImportByID(ctx, req, resp)
}
