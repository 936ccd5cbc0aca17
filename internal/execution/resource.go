package execution

import (
	"context"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/setdefault"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentenv/terraform-provider-gpuvm/internal/plan"
	"github.com/agentenv/terraform-provider-gpuvm/internal/wholenumber"
)

// Results is what a resource keeps of a command that ended as expected.
type Results struct {
	ExitCode        types.Int64  `tfsdk:"exit_code"`
	Stdout          types.String `tfsdk:"stdout"`
	Stderr          types.String `tfsdk:"stderr"`
	StdoutTruncated types.Bool   `tfsdk:"stdout_truncated"`
	StderrTruncated types.Bool   `tfsdk:"stderr_truncated"`
}

// ResultsOf is how a command ended, for the state.
func ResultsOf(e Ended) Results {
	return Results{
		ExitCode:        types.Int64Value(int64(e.ExitCode)),
		Stdout:          types.StringValue(e.Stdout.Text),
		Stderr:          types.StringValue(e.Stderr.Text),
		StdoutTruncated: types.BoolValue(e.Stdout.Truncated),
		StderrTruncated: types.BoolValue(e.Stderr.Truncated),
	}
}

// Machine is how a provider calls what a command runs in.
type Machine struct {
	Attribute string // "instance_id"
	Type      string // "gpuvm_instance"
	Script    string // how it runs a script: "`sudo bash -c` runs in the machine"
}

// The machines of the two services.
var (
	VM      = Machine{Attribute: "instance_id", Type: "gpuvm_instance", Script: "`sudo bash -c` runs in the machine"}
	Sandbox = Machine{Attribute: "sandbox_id", Type: "opensandbox_sandbox", Script: "the sandbox's shell runs: bash where there is one, else sh"}
)

// replacing are the attributes whose change runs the command anew.
var replacing = []string{"argv", "script", "triggers"}

// resultNames are the attributes that are told once, after the run.
var resultNames = []string{"exit_code", "stdout", "stderr", "stdout_truncated", "stderr_truncated"}

// ResourceAttributes are the attributes of an exec resource.
func ResourceAttributes(m Machine) map[string]schema.Attribute {
	output := func(stream string) schema.StringAttribute {
		return schema.StringAttribute{
			MarkdownDescription: "What the command printed to its standard " + stream + ": the last 64 KiB. It stands in the state.",
			Computed:            true, Sensitive: true,
		}
	}
	truncated := func(stream string) schema.BoolAttribute {
		return schema.BoolAttribute{
			MarkdownDescription: "Whether the command printed more to its standard " + stream + " than is kept.",
			Computed:            true,
		}
	}
	return map[string]schema.Attribute{
		m.Attribute: schema.StringAttribute{
			MarkdownDescription: "Id of the `" + m.Type + "` to run the command in. A change replaces the object: the command runs in the other one.",
			Required:            true,
			Validators:          []validator.String{stringvalidator.LengthAtLeast(1)},
		},
		"argv": schema.ListAttribute{
			MarkdownDescription: argvDescription + " A change replaces the object: the command runs again.",
			Optional:            true, ElementType: types.StringType,
		},
		"script": schema.StringAttribute{
			MarkdownDescription: "Script that " + m.Script + ". Exactly one of `argv` and `script` is given. It stands in the state and in plans, so it is no place for secrets. A change replaces the object: the script runs again.",
			Optional:            true,
		},
		"triggers": schema.MapAttribute{
			MarkdownDescription: "Any values that the command depends on, for example the `sha256` of a file that it reads. A change replaces the object: the command runs again. Defaults to none.",
			Optional:            true, ElementType: types.StringType,
		},
		"expected_exit_codes": schema.SetAttribute{
			MarkdownDescription: expectedDescription + " A change is noted, nothing is run. Defaults to `[0]`.",
			Optional:            true, Computed: true, ElementType: wholenumber.Type{},
			Default:    setdefault.StaticValue(types.SetValueMust(wholenumber.Type{}, []attr.Value{wholenumber.Of(0)})),
			Validators: []validator.Set{exitCodes},
		},
		"exit_code":        schema.Int64Attribute{MarkdownDescription: "The exit code that the command ended with.", Computed: true},
		"stdout":           output("output"),
		"stderr":           output("error"),
		"stdout_truncated": truncated("output"),
		"stderr_truncated": truncated("error"),
	}
}

const (
	argvDescription     = "The program and its arguments, passed on exactly as they are: no shell expands anything in them. Exactly one of `argv` and `script` is given."
	expectedDescription = "Exit codes, -255 to 255, that count as success; a negative one stands for a signal that ended the command. With any other the command has failed."
)

var exitCodes = wholenumber.Elements(-255, 255)

// TimeoutsBlock is the timeouts block of an exec resource, whose create is bounded by 60 minutes where it says nothing.
func TimeoutsBlock(ctx context.Context) schema.Block {
	return plan.TimeoutsBlock(ctx, timeouts.Opts{
		Create:            true,
		CreateDescription: "How long the command may take, as a duration such as `\"90m\"`. Defaults to `60m`.",
	})
}

// ModifyPlan keeps what a command told when it ran, and says which change runs it anew. more are attributes of one
// provider's resource whose change does, beside those that all have.
func ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse, more ...string) {
	change, standing := plan.ChangeOf(req)
	if !standing {
		return
	}
	change.Keep(ctx, resp, resultNames...)
	plan.Replace(resp, change.Of(slices.Concat(replacing, more)...)...)
}
