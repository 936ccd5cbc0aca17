// Package opensandboxsandbox is the ephemeral resource opensandbox_sandbox: a sandbox that lives as long as Terraform needs
// it, and that no state knows.
package opensandboxsandbox

import (
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/ephemeral"

	"github.com/agentenv/terraform-provider-gpuvm/internal/apiclient"
	"github.com/agentenv/terraform-provider-gpuvm/internal/connection"
	"github.com/agentenv/terraform-provider-gpuvm/internal/diagnose"
	"github.com/agentenv/terraform-provider-gpuvm/internal/plan"
	"github.com/agentenv/terraform-provider-gpuvm/internal/private"
	"github.com/agentenv/terraform-provider-gpuvm/internal/sandbox"
)

var (
	_ ephemeral.EphemeralResourceWithConfigure      = &Ephemeral{}
	_ ephemeral.EphemeralResourceWithValidateConfig = &Ephemeral{}
	_ ephemeral.EphemeralResourceWithRenew          = &Ephemeral{}
	_ ephemeral.EphemeralResourceWithClose          = &Ephemeral{}
)

// Ephemeral is opensandbox_sandbox.
type Ephemeral struct{ service *connection.OpenSandbox }

// New gives the ephemeral resource, not yet configured.
func New() ephemeral.EphemeralResource { return &Ephemeral{} }

// Metadata names the type.
func (e *Ephemeral) Metadata(_ context.Context, req ephemeral.MetadataRequest, resp *ephemeral.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_sandbox"
}

// Configure takes the service over from the provider.
func (e *Ephemeral) Configure(_ context.Context, req ephemeral.ConfigureRequest, _ *ephemeral.ConfigureResponse) {
	e.service, _ = req.ProviderData.(*connection.OpenSandbox)
}

const (
	openTimeout  = 30 * time.Minute // where the timeouts block doesn't say
	renewTimeout = time.Minute
	// endTimeout bounds a deletion. An interrupt doesn't cut it: nobody else would end the sandbox before its time.
	endTimeout = 2 * time.Minute
)

// ValidateConfig refuses what is wrong whatever the server says. Terraform asks once more when all values are known.
func (e *Ephemeral) ValidateConfig(ctx context.Context, req ephemeral.ValidateConfigRequest, resp *ephemeral.ValidateConfigResponse) {
	var config model
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if resp.Diagnostics.HasError() {
		return
	}
	config.Check(&resp.Diagnostics)
	plan.RefuseTimeouts(config.Timeouts.Object, &resp.Diagnostics)
}

// Open makes exactly one sandbox and sees it through to usable. What fails, or crashes, after it was made leaves it deleted:
// Terraform closes nothing whose Open failed.
func (e *Ephemeral) Open(ctx context.Context, req ephemeral.OpenRequest, resp *ephemeral.OpenResponse) {
	defer diagnose.Panic(&resp.Diagnostics)
	var config model
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if resp.Diagnostics.HasError() {
		return
	}
	if config.leftShut() {
		resp.Diagnostics.Append(resp.Result.Set(ctx, config.shut())...)
		return
	}
	service := e.service.Lifecycle(&resp.Diagnostics)
	timeout, diags := config.Timeouts.Open(ctx, openTimeout)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	spec := config.spec(ctx, e.service, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()

	lease := newLease(e.service, service, config.ttl())
	complete := false
	defer func() {
		if !complete {
			lease.abandon(ctx, &resp.Diagnostics)
		}
	}()
	spec.Noted = func(id string) { lease.begin(ctx, id) }
	usable, err := service.Create(ctx, spec.Spec)
	lease.rest()
	if err != nil {
		lease.settle(err)
		config.ReportFailedCreate(err, "", &resp.Diagnostics)
		return
	}
	sandbox.WarnOfReservations(*usable, &resp.Diagnostics)
	config.opened(*usable)
	resp.Diagnostics.Append(resp.Result.Set(ctx, config)...)
	private.Set(ctx, resp.Private, private.Lease, lease.note(), &resp.Diagnostics)
	resp.RenewAt = lease.renewAt()
	complete = !resp.Diagnostics.HasError()
}

// Renew gives the sandbox the whole of ttl_seconds again. Terraform doesn't ask again after an error, so a failure that may
// pass isn't one as long as there is time left.
func (e *Ephemeral) Renew(ctx context.Context, req ephemeral.RenewRequest, resp *ephemeral.RenewResponse) {
	defer diagnose.Panic(&resp.Diagnostics)
	var held note
	service := e.service.Lifecycle(&resp.Diagnostics)
	if !private.Get(ctx, req.Private, private.Lease, &held) || resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, renewTimeout)
	defer cancel()
	lease := newLease(e.service, service, held.TTL)
	lease.id, lease.expires = held.ID, held.Expires
	err := lease.renew(ctx)
	switch {
	case err != nil && apiclient.IsTransient(err) && lease.lasts():
		resp.Diagnostics.AddWarning("Sandbox "+held.ID+" was not renewed yet", "It is tried again soon.\n\n"+diagnose.OpenSandbox.Detail(err))
	case err != nil:
		diagnose.OpenSandbox.Error(&resp.Diagnostics, "Sandbox "+held.ID+" was not renewed",
			fmt.Errorf("%w\n\nWithout a renewal the server ends it %s after it was renewed last", err, held.TTL))
		return
	}
	private.Set(ctx, resp.Private, private.Lease, lease.note(), &resp.Diagnostics)
	resp.RenewAt = lease.renewAt()
}

// Close deletes the sandbox and waits until the server no longer knows it. One that is gone already is a success.
func (e *Ephemeral) Close(ctx context.Context, req ephemeral.CloseRequest, resp *ephemeral.CloseResponse) {
	defer diagnose.Panic(&resp.Diagnostics)
	var held note
	if !private.Get(ctx, req.Private, private.Lease, &held) {
		return // it was left shut
	}
	service := e.service.Lifecycle(&resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	lease := newLease(e.service, service, held.TTL)
	lease.id = held.ID
	if err := lease.end(ctx); err != nil {
		diagnose.OpenSandbox.Error(&resp.Diagnostics, "Ephemeral sandbox "+held.ID+" was not deleted",
			fmt.Errorf("%w\n\nThe server ends it by itself at most %s after it was renewed last", err, held.TTL))
	}
}
