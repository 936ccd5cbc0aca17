package opensandboxsandbox

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/agentenv/terraform-provider-gpuvm/internal/apiclient"
	api "github.com/agentenv/terraform-provider-gpuvm/internal/apiclient/opensandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/connection"
	"github.com/agentenv/terraform-provider-gpuvm/internal/diagnose"
	lifecycle "github.com/agentenv/terraform-provider-gpuvm/internal/lifecycle/opensandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/plan"
	"github.com/agentenv/terraform-provider-gpuvm/internal/private"
	"github.com/agentenv/terraform-provider-gpuvm/internal/upload"
)

// Update makes the planned changes of a sandbox that stands, and completes the adoption of an imported one. What was
// planned is written as it was planned, what the server tells only where the plan left it open.
func (r *Resource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	defer diagnose.Panic(&resp.Diagnostics)
	u := update{connection: r.service, notes: resp.Private, diags: &resp.Diagnostics}
	resp.Diagnostics.Append(req.Plan.Get(ctx, &u.planned)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &u.state)...)
	u.service = r.service.Lifecycle(&resp.Diagnostics)
	timeout, diags := u.planned.Timeouts.Update(ctx, updateTimeout)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()

	u.id, u.reached = u.state.ID.ValueString(), u.state
	u.adopting = plan.AwaitsAdoption(ctx, req.Private, u.state.OnCreateFailure.IsNull())
	result := &u.planned
	if u.run(ctx); resp.Diagnostics.HasError() {
		result = &u.reached
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, result)...)
	resp.Diagnostics.Append(resp.Identity.Set(ctx, identity{ID: u.state.ID})...)
}

// update is one Update of a sandbox.
type update struct {
	connection *connection.OpenSandbox
	service    *lifecycle.Lifecycle
	id         string
	state      model // what was
	planned    model // what is to be; its unknowns are filled in on the way
	reached    model // what was, with what has been changed since: what is left of an update that fails
	live       api.Sandbox
	resumed    *lifecycle.Usable
	adopting   bool
	notes      private.State
	diags      *diag.Diagnostics
}

// run makes the changes one by one: what runs out first, what needs the sandbox to run before it is paused.
func (u *update) run(ctx context.Context) {
	if !u.concernsServer() {
		u.noteOwnMetadata(ctx)
		return
	}
	for _, step := range []struct {
		do                 func(context.Context) error
		attribute, summary string
	}{
		{u.look, "id", "Sandbox " + u.id + " can't be changed"},
		{u.renew, "ttl_seconds", "Sandbox " + u.id + " was not renewed"},
		{u.writeMetadata, "metadata", "Metadata of sandbox " + u.id + " was not changed"},
		{u.resume, "paused", "Sandbox " + u.id + " was not resumed"},
		{u.applyPolicy, "network_policy", "Network policy of sandbox " + u.id + " was not changed"},
		{u.pause, "paused", "Sandbox " + u.id + " was not paused"},
		{u.lookUpPorts, "exposed_ports", "Ports of sandbox " + u.id + " can't be looked up"},
	} {
		if err := step.do(ctx); err != nil {
			diagnose.OpenSandbox.AttributeError(u.diags, path.Root(step.attribute), step.summary, err)
			return
		}
	}
	if u.planned.Status.IsUnknown() {
		u.planned.observeStatus(u.live.Status)
	}
	if u.adopting {
		u.endAdoption(ctx)
	}
}

// concernsServer says whether anything of the change has to do with the server. All else is only noted.
func (u *update) concernsServer() bool {
	return u.adopting || u.planned.Status.IsUnknown() || u.planned.ExpiresAt.IsUnknown() || u.planned.portsOpen() ||
		!u.planned.EffectiveMetadata.Equal(u.state.EffectiveMetadata) || !u.planned.NetworkPolicy.Equal(u.state.NetworkPolicy) ||
		!u.planned.Paused.IsNull() && !u.planned.Paused.Equal(u.state.Paused)
}

// look reads the sandbox as it is now: time has passed since the plan.
func (u *update) look(ctx context.Context) error {
	live, err := u.service.API.Sandbox(ctx, u.id)
	switch {
	case apiclient.IsGone(err):
		return fmt.Errorf("it is gone: it expired or was deleted since the plan was made: %w", err)
	case err != nil:
		return err
	case hasEnded(live.Status.State):
		return fmt.Errorf("it is %s, and nothing can be changed of it.\n\nWhat to do: plan again, which replaces it", live.Status)
	}
	u.live = live
	return nil
}

// endAdoption notes what the imported sandbox is compared with from now on.
func (u *update) endAdoption(ctx context.Context) {
	hashes := upload.PlanSources(u.planned.Files, u.diags)
	private.Set(ctx, u.notes, private.SourceHashes, hashes, u.diags)
	private.Clear(ctx, u.notes, private.Imported, u.diags)
}
