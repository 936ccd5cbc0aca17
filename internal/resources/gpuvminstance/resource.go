// Package gpuvminstance is the resource gpuvm_instance.
package gpuvminstance

import (
	"context"
	"errors"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentenv/terraform-provider-gpuvm/internal/apiclient"
	api "github.com/agentenv/terraform-provider-gpuvm/internal/apiclient/gpuvm"
	"github.com/agentenv/terraform-provider-gpuvm/internal/connection"
	"github.com/agentenv/terraform-provider-gpuvm/internal/destroy"
	"github.com/agentenv/terraform-provider-gpuvm/internal/diagnose"
	"github.com/agentenv/terraform-provider-gpuvm/internal/fields"
	"github.com/agentenv/terraform-provider-gpuvm/internal/labels"
	lifecycle "github.com/agentenv/terraform-provider-gpuvm/internal/lifecycle/gpuvm"
	"github.com/agentenv/terraform-provider-gpuvm/internal/plan"
	"github.com/agentenv/terraform-provider-gpuvm/internal/private"
	"github.com/agentenv/terraform-provider-gpuvm/internal/unchanged"
	"github.com/agentenv/terraform-provider-gpuvm/internal/upload"
)

var (
	_ resource.ResourceWithConfigure      = &Resource{}
	_ resource.ResourceWithIdentity       = &Resource{}
	_ resource.ResourceWithImportState    = &Resource{}
	_ resource.ResourceWithModifyPlan     = &Resource{}
	_ resource.ResourceWithValidateConfig = &Resource{}
	_ unchanged.Resource                  = &Resource{}
)

// Resource is gpuvm_instance.
type Resource struct{ service *connection.GPUVM }

// New gives the resource, not yet configured.
func New() resource.Resource { return &Resource{} }

// Metadata names the type.
func (r *Resource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_instance"
}

// Configure takes the service over from the provider.
func (r *Resource) Configure(_ context.Context, req resource.ConfigureRequest, _ *resource.ConfigureResponse) {
	r.service, _ = req.ProviderData.(*connection.GPUVM)
}

// Timeouts where the timeouts block doesn't say.
const (
	createTimeout = 60 * time.Minute // all of create but the boot, which boot_timeout_seconds bounds
	readTimeout   = 2 * time.Minute
	deleteTimeout = 10 * time.Minute
)

// Create makes the instance and sees it through to usable. What fails after the machine was made leaves it deleted, or
// tainted in the state; never unknown to both.
func (r *Resource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	defer diagnose.Panic(&resp.Diagnostics)
	var planned, config model
	resp.Diagnostics.Append(req.Plan.Get(ctx, &planned)...)
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	refuseUnenforceable(planned.NetworkPolicy, &resp.Diagnostics)
	service := r.service.Lifecycle(&resp.Diagnostics)
	spec, attributed := r.spec(ctx, &planned, config, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	total, boot := r.createTimeouts(ctx, planned, &resp.Diagnostics)
	spec.BootTimeout = boot
	spec.Noted = func(id string) { plan.Note(ctx, req, resp, id) }
	ctx, cancel := context.WithTimeout(ctx, total)
	defer cancel()

	vm, err := service.Create(ctx, spec.Spec)
	if err != nil {
		r.reportFailedCreate(ctx, req, resp, err)
		return
	}
	planned.created(ctx, vm, attributed, &resp.Diagnostics)
	resp.Diagnostics.Append(resp.State.Set(ctx, planned)...)
	resp.Diagnostics.Append(resp.Identity.Set(ctx, identity{ID: planned.ID})...)
	remember(ctx, resp.Private, planned, vm, spec.sourceHashes, &resp.Diagnostics)
}

// Read refreshes the instance. One that is gone leaves the state; one that failed stays, with its error.
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
	vm, err := find(ctx, service, state, req.Private)
	switch {
	case apiclient.IsGone(err):
		resp.State.RemoveResource(ctx)
		return
	case err != nil:
		diagnose.GPUVM.Error(&resp.Diagnostics, "Instance "+state.ID.ValueString()+" can't be read", err)
		return
	}
	if state.Status.IsNull() && private.IsImported(ctx, req.Private) {
		refuseUnfinishedImport(vm.Status, state.ID.ValueString(), &resp.Diagnostics)
		state.imported(ctx, vm, &resp.Diagnostics)
	}
	state.refresh(ctx, vm, req.Private, &resp.Diagnostics)
	resp.Diagnostics.Append(resp.State.Set(ctx, state)...)
}

// Look is Read as far as an instance that hasn't changed needs it.
func (r *Resource) Look(ctx context.Context, object unchanged.Object) (context.Context, bool) {
	var state model
	var diags diag.Diagnostics
	service := r.service.Lifecycle(&diags)
	if diags.HasError() || !object.Into(ctx, &state) {
		return ctx, false
	}
	timeout, invalid := state.Timeouts.Read(ctx, readTimeout)
	if invalid.HasError() {
		return ctx, false
	}
	within, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	vm, err := find(within, service, state, object.Notes)
	seen := state
	seen.refresh(ctx, vm, object.Notes, &diags)
	return unchanged.Keep(ctx, state.ID.ValueString(), vm, err), err == nil && len(diags) == 0 && fields.Same(state, seen)
}

// find asks for the instance, unless Look has just done so.
func find(ctx context.Context, service *lifecycle.Lifecycle, state model, notes private.State) (api.VM, error) {
	id := state.ID.ValueString()
	return unchanged.Ask(ctx, id, func() (api.VM, error) {
		made, _ := unfinished(ctx, notes)
		return service.Find(ctx, id, made)
	})
}

// Update notes changes that need no request, and completes the adoption of an imported instance.
func (r *Resource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	defer diagnose.Panic(&resp.Diagnostics)
	var planned, state model
	resp.Diagnostics.Append(req.Plan.Get(ctx, &planned)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	if resp.Diagnostics.HasError() {
		return
	}
	if plan.AwaitsAdoption(ctx, req.Private, state.OnCreateFailure.IsNull()) {
		r.adopt(ctx, &planned, resp)
	} else {
		// Labels that somebody removed and the user then gave up are nobody's any more.
		private.Set(ctx, resp.Private, private.OwnLabels, planned.ownLabels(), &resp.Diagnostics)
	}
	if resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, planned)...)
	resp.Diagnostics.Append(resp.Identity.Set(ctx, identity{ID: planned.ID})...)
}

// adopt reads the imported instance once more, and notes what later drift is judged against.
func (r *Resource) adopt(ctx context.Context, planned *model, resp *resource.UpdateResponse) {
	service := r.service.Lifecycle(&resp.Diagnostics)
	hashes := upload.PlanSources(planned.Files, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	vm, err := service.API.Get(ctx, planned.ID.ValueString())
	if err != nil {
		diagnose.GPUVM.Error(&resp.Diagnostics, "Imported instance "+planned.ID.ValueString()+" can't be adopted", err)
		return
	}
	planned.Status = types.StringValue(vm.Status)
	remember(ctx, resp.Private, *planned, vm, hashes, &resp.Diagnostics)
	private.Clear(ctx, resp.Private, private.Imported, &resp.Diagnostics)
}

// remember notes what later plans and refreshes compare with.
func remember(ctx context.Context, notes private.State, m model, vm api.VM, sourceHashes map[string]string, diags *diag.Diagnostics) {
	stamp, own := m.stamp(vm.Labels)
	private.Set(ctx, notes, private.Labels, stamp, diags)
	private.Set(ctx, notes, private.OwnLabels, own, diags)
	private.Set(ctx, notes, private.SourceHashes, sourceHashes, diags)
}

// Delete runs the teardown script, ends the instance and waits until the service no longer knows it.
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
	made, failed := unfinished(ctx, req.Private)
	teardown := destroy.Script(state.TeardownScript.ValueString(), id, failed, &resp.Diagnostics)
	destroy.Machine(ctx, lifecycle.Made{Lifecycle: service, At: made}, diagnose.GPUVM, "Instance", id, teardown, &resp.Diagnostics)
}

// unfinished tells of an instance whose create failed, and when that made it.
func unfinished(ctx context.Context, notes private.State) (made time.Time, failed bool) {
	failed = private.Get(ctx, notes, private.Unfinished, &made)
	return made, failed
}

// ImportState takes an id. The first apply after it adopts the instance.
func (r *Resource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	defer diagnose.Panic(&resp.Diagnostics)
	plan.ImportByID(ctx, req, resp)
}

// reportFailedCreate says what failed and what became of the machine, and keeps one that stands in the state.
func (r *Resource) reportFailedCreate(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse, err error) {
	var failure *lifecycle.CreateError
	if !errors.As(err, &failure) {
		diagnose.GPUVM.Error(&resp.Diagnostics, "Instance was not created", err)
		return
	}
	if errors.Is(failure.Err, context.Canceled) {
		diagnose.GPUVM.Error(&resp.Diagnostics, "Create of the instance was interrupted", err)
	} else {
		diagnose.GPUVM.AttributeError(&resp.Diagnostics, path.Root(stageAttribute[failure.Stage]), stageSummary[failure.Stage], err)
	}
	if failure.Stands() {
		plan.Note(ctx, req, resp, failure.ID)
		private.Set(ctx, resp.Private, private.Unfinished, failure.Made, &resp.Diagnostics)
	} else {
		resp.State.RemoveResource(ctx)
	}
}

var stageSummary = map[lifecycle.Stage]string{
	lifecycle.StageCreate:    "Instance was not created",
	lifecycle.StageBoot:      "Instance did not boot",
	lifecycle.StagePorts:     "Instance lacks an exposed port",
	lifecycle.StageReadiness: "Instance did not become ready",
	lifecycle.StageFiles:     "File upload failed",
	lifecycle.StageSetup:     "Setup script failed",
}

var stageAttribute = map[lifecycle.Stage]string{
	lifecycle.StageCreate:    "image",
	lifecycle.StageBoot:      "image",
	lifecycle.StagePorts:     "exposed_ports",
	lifecycle.StageReadiness: "readiness_command",
	lifecycle.StageFiles:     "files",
	lifecycle.StageSetup:     "setup_script",
}

// refuseUnfinishedImport: a booting machine tells no ports, and an instance imported so would seem to lack them.
func refuseUnfinishedImport(status, id string, diags *diag.Diagnostics) {
	if status == "booting" {
		diags.AddError("Instance "+id+" is still booting", "Its ports aren't known before it runs, so it can't be imported yet.\n\nWhat to do: import it again once it runs.")
	}
}

// spec is what the lifecycle is to make: the request, and the work in the new machine. Contents come from the
// configuration, since no plan holds write-only ones.
type spec struct {
	lifecycle.Spec
	sourceHashes map[string]string
}

func (r *Resource) spec(ctx context.Context, planned *model, config model, diags *diag.Diagnostics) (spec, map[string]string) {
	attribution, _ := r.service.Attribution(diags)
	if planned.EffectiveLabels.IsUnknown() {
		own, _ := labels.FromMap(planned.Labels)
		planned.EffectiveLabels = labels.ToMap(ctx, labels.Merge(r.service.KnownDefaults(diags), own), diags)
	}
	effective, _ := labels.FromMap(planned.EffectiveLabels)

	var readiness []string
	diags.Append(planned.ReadinessCommand.ElementsAs(ctx, &readiness, false)...)
	files := upload.Files(config.Files, diags)
	s := spec{sourceHashes: upload.SourceHashes(files)}
	s.Request = planned.request(labels.Merge(attribution, effective))
	s.ReadinessCommand = readiness
	s.SetupScript = planned.SetupScript.ValueString()
	s.Secrets = upload.Contents(config.Files)
	s.KeepFailed = planned.OnCreateFailure.ValueString() == onFailureKeep
	for _, file := range files {
		s.Files = append(s.Files, lifecycle.File{Path: file.Path, Data: file.Data})
	}
	return s, labels.Without(attribution, effective)
}

// createTimeouts gives the bound of all of create and, where the timeouts block gives none, that of the boot.
func (r *Resource) createTimeouts(ctx context.Context, planned model, diags *diag.Diagnostics) (total, boot time.Duration) {
	const absent = 0
	total, d := planned.Timeouts.Create(ctx, absent)
	diags.Append(d...)
	if total == absent {
		return createTimeout + r.service.BootTimeout, r.service.BootTimeout
	}
	return total, 0
}
