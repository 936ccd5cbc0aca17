package opensandboxsandbox

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentenv/terraform-provider-gpuvm/internal/diagnose"
	"github.com/agentenv/terraform-provider-gpuvm/internal/labels"
	lifecycle "github.com/agentenv/terraform-provider-gpuvm/internal/lifecycle/opensandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/metadata"
	"github.com/agentenv/terraform-provider-gpuvm/internal/nullable"
	"github.com/agentenv/terraform-provider-gpuvm/internal/plan"
	"github.com/agentenv/terraform-provider-gpuvm/internal/private"
	"github.com/agentenv/terraform-provider-gpuvm/internal/sandbox"
)

// Create makes exactly one sandbox and sees it through to usable. What fails after it was made leaves it deleted, or
// tainted in the state; never unknown to both.
func (r *Resource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	defer diagnose.Panic(&resp.Diagnostics)
	var planned, config model
	resp.Diagnostics.Append(req.Plan.Get(ctx, &planned)...)
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	service := r.service.Lifecycle(&resp.Diagnostics)
	timeout, diags := planned.Timeouts.Create(ctx, createTimeout)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	spec := r.spec(ctx, &planned, config, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	spec.Noted = func(id string) { plan.Note(ctx, req, resp, id) }
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()

	usable, err := service.Create(ctx, spec.Spec)
	if err != nil {
		reportFailedCreate(ctx, req, resp, planned, err)
		return
	}
	planned.created(*usable)
	sandbox.WarnOfReservations(*usable, &resp.Diagnostics)
	warnInheritedExpiry(planned, &resp.Diagnostics)
	resp.Diagnostics.Append(resp.State.Set(ctx, planned)...)
	resp.Diagnostics.Append(resp.Identity.Set(ctx, identity{ID: planned.ID})...)
	private.Set(ctx, resp.Private, private.CreateID, usable.CreateID, &resp.Diagnostics)
	private.Set(ctx, resp.Private, private.SourceHashes, spec.SourceHashes, &resp.Diagnostics)
	remember(ctx, resp.Private, planned, usable.Sandbox.Metadata, &resp.Diagnostics)
}

// remember notes what later plans and refreshes compare with, and every metadata key that ever was ours.
func remember(ctx context.Context, notes private.State, m model, answered map[string]string, diags *diag.Diagnostics) {
	sent, _ := labels.FromMap(m.EffectiveMetadata)
	own, _ := labels.FromMap(m.Metadata)
	private.Set(ctx, notes, private.Labels, labels.Stamp{Sent: sent, Answered: answered}, diags)
	private.Set(ctx, notes, private.OwnMetadata, own, diags)
	private.Set(ctx, notes, private.OwnedKeys, append(ownedKeys(ctx, notes, sent), slices.Sorted(maps.Keys(sent))...), diags)
}

// ownedKeys are the metadata keys that once were ours and aren't in now. Each change has to name them: a server lets a key
// that was set at create come back otherwise.
func ownedKeys(ctx context.Context, notes private.State, now map[string]string) []string {
	var once []string
	private.Get(ctx, notes, private.OwnedKeys, &once)
	return slices.DeleteFunc(once, func(key string) bool { _, still := now[key]; return still })
}

// created writes what the server told of the new sandbox over whatever was unknown in the plan.
func (m *model) created(usable lifecycle.Usable) {
	m.ID = types.StringValue(usable.Sandbox.ID)
	m.observeStatus(usable.Sandbox.Status)
	m.observePorts(m.URLsOf(usable))
	m.CreatedAt = nullable.Time(usable.Sandbox.CreatedAt.Time)
	m.ExpiresAt = nullable.Time(usable.Sandbox.ExpiresAt.Time)
}

// spec is what the lifecycle is to make. What the plan left open of the metadata is filled in.
func (r *Resource) spec(ctx context.Context, planned *model, config model, diags *diag.Diagnostics) sandbox.Spec {
	if planned.EffectiveMetadata.IsUnknown() {
		planned.EffectiveMetadata = metadata.Effective(ctx, planned.Metadata, r.service.KnownDefaults(diags), diags)
	}
	attribution, stamped := r.service.Stamp(ctx, planned.EffectiveMetadata, diags)
	planned.AttributionMetadata = attribution
	spec := planned.Spec(ctx, config.Arguments, stamped, r.service.Manner, diags)
	spec.Paused = planned.Paused.ValueBool()
	spec.KeepFailed = planned.OnCreateFailure.ValueString() == onFailureKeep
	return spec
}

// warnInheritedExpiry: a restored sandbox has the expiry of its snapshot's source where it sets none of its own.
func warnInheritedExpiry(m model, diags *diag.Diagnostics) {
	if m.TTLSeconds.IsNull() && !m.ExpiresAt.IsNull() {
		diags.AddAttributeWarning(path.Root("ttl_seconds"), "Sandbox "+m.ID.ValueString()+" expires although ttl_seconds isn't set",
			"The server ends it at "+m.ExpiresAt.ValueString()+". A sandbox that is restored from a snapshot inherits the expiry of the snapshot's source, and a pool, or a runtime that can't do without, may set one.\n\nWhat to do: set ttl_seconds, which replaces the sandbox once and lets it be renewed.")
	}
}

// reportFailedCreate says what failed and what became of the sandbox, and keeps one that stands in the state.
func reportFailedCreate(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse, planned model, err error) {
	failure, ok := errors.AsType[*lifecycle.CreateError](err)
	if !ok {
		planned.ReportFailedCreate(err, "", &resp.Diagnostics)
		return
	}
	planned.ReportFailedCreate(err, whatIsNext(failure.Fate), &resp.Diagnostics)
	if failure.Stands() {
		plan.Note(ctx, req, resp, failure.ID)
		private.Set(ctx, resp.Private, private.Unfinished, time.Now(), &resp.Diagnostics)
	} else {
		resp.State.RemoveResource(ctx)
	}
}

// whatIsNext says what becomes of the sandbox in terms of Terraform.
func whatIsNext(fate lifecycle.Fate) string {
	switch fate {
	case lifecycle.FateDeleted:
		return "Set on_create_failure = \"keep\" to look into such a sandbox."
	case lifecycle.FateKept, lifecycle.FateUndeleted:
		return "It is in the state, tainted: the next apply replaces it, a destroy ends it."
	case lifecycle.FateNeverMade, lifecycle.FateUnknown:
	}
	return ""
}
