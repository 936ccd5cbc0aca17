package execution

import (
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/action/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentenv/terraform-provider-gpuvm/internal/clock"
	"github.com/agentenv/terraform-provider-gpuvm/internal/diagnose"
	"github.com/agentenv/terraform-provider-gpuvm/internal/wholenumber"
)

// DefaultLimit is how long a command may take where the user doesn't say.
const DefaultLimit = 60 * time.Minute

// ActionAttributes are the attributes of an exec action.
func ActionAttributes(m Machine) map[string]schema.Attribute {
	return map[string]schema.Attribute{
		m.Attribute: schema.StringAttribute{
			MarkdownDescription: "Id of the `" + m.Type + "` to run the command in.",
			Required:            true,
			Validators:          []validator.String{stringvalidator.LengthAtLeast(1)},
		},
		"argv": schema.ListAttribute{
			MarkdownDescription: argvDescription,
			Optional:            true, ElementType: types.StringType,
		},
		"script": schema.StringAttribute{
			MarkdownDescription: "Script that " + m.Script + ". Exactly one of `argv` and `script` is given. It stands in plans, so it is no place for secrets.",
			Optional:            true,
		},
		"expected_exit_codes": schema.SetAttribute{
			MarkdownDescription: expectedDescription + " Defaults to `[0]`.",
			Optional:            true, ElementType: wholenumber.Type{},
			Validators: []validator.Set{exitCodes},
		},
		"timeout_seconds": schema.Int64Attribute{
			MarkdownDescription: "Seconds that the command may take, a whole number of 1 or more. Defaults to `3600`.",
			Optional:            true, CustomType: wholenumber.Type{},
			Validators: []validator.Int64{int64validator.AtLeast(1)},
		},
	}
}

// Limit reads timeout_seconds. No validator has seen a value that became known only after the plan.
func Limit(timeoutSeconds wholenumber.Value, diags *diag.Diagnostics) time.Duration {
	switch {
	case timeoutSeconds.IsNull() || timeoutSeconds.IsUnknown():
		return DefaultLimit
	case timeoutSeconds.ValueInt64() < 1:
		diags.AddAttributeError(path.Root("timeout_seconds"), "Number out of range", "timeout_seconds has to be 1 or more.")
		return DefaultLimit
	}
	return Seconds(timeoutSeconds)
}

// longest is ten years, far below what a duration can hold.
const longest = 10 * 365 * 24 * time.Hour

// Seconds is a number of seconds, 0 where there is none.
func Seconds(v wholenumber.Value) time.Duration {
	return time.Duration(min(v.ValueInt64(), int64(longest/time.Second))) * time.Second
}

// Invoke runs the job for an action: it says what begins, that it still goes on, and how it ended. run tells what the
// command prints.
func (j Job) Invoke(ctx context.Context, resp *action.InvokeResponse, service diagnose.Service, run func(context.Context, *Progress) (Ended, error)) {
	progress := Begin(ctx, resp, "running the "+j.noun()+" in "+j.In)
	defer progress.Close()
	ended, err := run(ctx, progress)
	if err != nil {
		j.Report(&resp.Diagnostics, service, err, ActionFailed)
		return
	}
	progress.Line(fmt.Sprintf("exit code %d", ended.ExitCode))
}

// Begin tells what an action begins to do, and after each silence that it still does it, until Close.
func Begin(ctx context.Context, resp *action.InvokeResponse, what string) *Progress {
	progress := StartProgress(ctx, resp.SendProgress)
	progress.Line(what)
	progress.Beat(clock.System(), what)
	return progress
}
