package sandbox

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentenv/terraform-provider-gpuvm/internal/diagnose"
	lifecycle "github.com/agentenv/terraform-provider-gpuvm/internal/lifecycle/opensandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/nullable"
	"github.com/agentenv/terraform-provider-gpuvm/internal/plan"
)

// Reached gives the attributes ports and vnc_url of URLs that were looked up, by port.
func (a Arguments) Reached(urls map[string]string) (ports types.Map, vncURL types.String) {
	vncURL = types.StringNull()
	if !a.VNCPort.IsNull() {
		vncURL = nullable.Text(urls[a.VNCPort.String()])
	}
	return plan.PortsOf(a.ExposedPorts, urls), vncURL
}

// URLsOf gives the URLs of a usable sandbox by port, that of the display among them.
func (a Arguments) URLsOf(usable lifecycle.Usable) map[string]string {
	urls := URLs(usable.Ports)
	if !a.VNCPort.IsNull() {
		urls[a.VNCPort.String()] = usable.VNCURL
	}
	return urls
}

// WarnOfReservations tells what didn't stop a create and yet is to be known.
func WarnOfReservations(usable lifecycle.Usable, diags *diag.Diagnostics) {
	for _, warning := range usable.Warnings {
		diags.AddWarning("Sandbox "+usable.Sandbox.ID+" was created, with a reservation", warning)
	}
}

// ReportFailedCreate tells of a create that failed, under the attribute that it belongs to. next says what comes of it in
// terms of Terraform; "" says nothing.
func (a Arguments) ReportFailedCreate(err error, next string, diags *diag.Diagnostics) {
	failure, ok := errors.AsType[*lifecycle.CreateError](err)
	if !ok {
		diagnose.OpenSandbox.Error(diags, "Sandbox was not created", err)
		return
	}
	if next != "" && !errors.Is(err, context.Canceled) {
		err = fmt.Errorf("%w\n\n%s", err, next)
	}
	detail := err.Error()
	if failure.Hint == "" { // else what is to be done is said already
		detail = diagnose.OpenSandbox.Detail(err)
	}
	summary, attribute := a.failedAt(failure.Stage)
	diags.AddAttributeError(path.Root(attribute), summary, detail)
}

// failedAt says what failed where a create failed at that stage, and the attribute that it belongs to.
func (a Arguments) failedAt(stage lifecycle.Stage) (summary, attribute string) {
	switch stage {
	case lifecycle.StagePool:
		return "Pool can't be used", "pool_ref"
	case lifecycle.StageBoot:
		return "Sandbox did not start", a.source()
	case lifecycle.StageHealth:
		return "Sandbox's agent did not answer", "ready_timeout_seconds"
	case lifecycle.StageProbe:
		return "Sandbox did not become ready", a.source()
	case lifecycle.StageFiles:
		return "File upload failed", "files"
	case lifecycle.StageSetup:
		return "Setup script failed", "setup_script"
	case lifecycle.StagePorts:
		return "Ports can't be looked up", "exposed_ports"
	case lifecycle.StagePause:
		return "Sandbox could not be paused", "paused"
	case lifecycle.StageCreate, lifecycle.StageSnapshot:
	}
	return "Sandbox was not created", a.source()
}

// source is the attribute that says what the sandbox is made from.
func (a Arguments) source() string {
	switch {
	case !a.SnapshotID.IsNull():
		return "snapshot_id"
	case !a.PoolRef.IsNull():
		return "pool_ref"
	}
	return "image"
}
