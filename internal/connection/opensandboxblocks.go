package connection

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"

	lifecycle "github.com/agentenv/terraform-provider-gpuvm/internal/lifecycle/opensandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/sandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/wholenumber"
)

// createBlock rules a create until the sandbox runs.
type createBlock struct {
	RequestTimeoutSeconds wholenumber.Value `tfsdk:"request_timeout_seconds"`
	Retries               wholenumber.Value `tfsdk:"retries"`
	RetryDelaySeconds     wholenumber.Value `tfsdk:"retry_delay_seconds"`
	RetryMaxDelaySeconds  wholenumber.Value `tfsdk:"retry_max_delay_seconds"`
	SkipHealthCheck       types.Bool        `tfsdk:"skip_health_check"`
	ImagePullPolicy       types.String      `tfsdk:"image_pull_policy"`
}

func (b createBlock) settings() lifecycle.CreateSettings {
	return lifecycle.CreateSettings{
		Timeout: seconds(b.RequestTimeoutSeconds, 1200*time.Second),
		Retry: lifecycle.Retry{
			Times:    int(number(b.Retries, 2)),
			Delay:    seconds(b.RetryDelaySeconds, 5*time.Second),
			MaxDelay: seconds(b.RetryMaxDelaySeconds, 60*time.Second),
		},
	}
}

func (b createBlock) pullPolicy() string {
	if b.ImagePullPolicy.IsNull() {
		return sandbox.PullIfNotPresent
	}
	return b.ImagePullPolicy.ValueString()
}

// probeBlock is the command that has to succeed before a new sandbox counts as usable.
type probeBlock struct {
	Command            types.String      `tfsdk:"command"`
	ExpectedStdout     types.String      `tfsdk:"expected_stdout"`
	TimeoutSeconds     wholenumber.Value `tfsdk:"timeout_seconds"`
	DeadlineSeconds    wholenumber.Value `tfsdk:"deadline_seconds"`
	StableCount        wholenumber.Value `tfsdk:"stable_count"`
	StableDelaySeconds wholenumber.Value `tfsdk:"stable_delay_seconds"`
}

const probeMark = "opensandbox-ready"

func (b probeBlock) probe() lifecycle.Probe {
	probe := lifecycle.Probe{
		Line: b.Command.ValueString(), Expected: b.ExpectedStdout.ValueString(),
		Timeout:     seconds(b.TimeoutSeconds, 30*time.Second),
		Deadline:    seconds(b.DeadlineSeconds, 0),
		StableCount: int(number(b.StableCount, 1)),
		StableDelay: seconds(b.StableDelaySeconds, 0),
	}
	if b.Command.IsNull() {
		probe.Line = "printf " + probeMark
		if b.ExpectedStdout.IsNull() {
			probe.Expected = probeMark
		}
	}
	return probe
}

// operationsBlock rules everything after create.
type operationsBlock struct {
	Retries              wholenumber.Value `tfsdk:"retries"`
	RetryDelaySeconds    wholenumber.Value `tfsdk:"retry_delay_seconds"`
	RetryMaxDelaySeconds wholenumber.Value `tfsdk:"retry_max_delay_seconds"`
	CommandRetries       wholenumber.Value `tfsdk:"command_retries"`
	CloseTimeoutSeconds  wholenumber.Value `tfsdk:"close_timeout_seconds"`
}

// settings gives the block's values; where one isn't set, a connection setting that is takes its place.
func (b operationsBlock) settings(general Settings) lifecycle.Operations {
	return lifecycle.Operations{
		Retry: lifecycle.Retry{
			Times:    int(number(b.Retries, number(general.MaxRetries, 3))),
			Delay:    seconds(b.RetryDelaySeconds, time.Second),
			MaxDelay: seconds(b.RetryMaxDelaySeconds, seconds(general.RetryMaxDelaySeconds, 15*time.Second)),
		},
		CommandRetries: int(number(b.CommandRetries, 0)),
		CloseTimeout:   seconds(b.CloseTimeoutSeconds, 30*time.Second),
	}
}

// read decodes a block and notes what of it isn't known yet.
func (c *OpenSandbox) read(ctx context.Context, name string, block types.Object, into any, diags *diag.Diagnostics) {
	if block.IsUnknown() {
		c.unknown = append(c.unknown, name)
	}
	if block.IsUnknown() || block.IsNull() {
		return
	}
	for _, attribute := range slices.Sorted(maps.Keys(block.Attributes())) {
		if block.Attributes()[attribute].IsUnknown() {
			c.unknown = append(c.unknown, name+"."+attribute)
		}
	}
	diags.Append(block.As(ctx, into, basetypes.ObjectAsOptions{})...)
}

// OpenSandboxBlocks is the schema of the blocks that the provider "opensandbox" has of its own.
func OpenSandboxBlocks() map[string]schema.Block {
	return map[string]schema.Block{
		"create":     createSchema(),
		"probe":      probeSchema(),
		"operations": operationsSchema(),
	}
}

func whole(low int64, description string) schema.Int64Attribute {
	return schema.Int64Attribute{
		MarkdownDescription: description, Optional: true, CustomType: wholenumber.Type{},
		Validators: []validator.Int64{int64validator.AtLeast(low)},
	}
}

func retries(description string) schema.Int64Attribute {
	attribute := whole(0, description)
	attribute.Validators = []validator.Int64{int64validator.Between(0, 100)}
	return attribute
}

func createSchema() schema.Block {
	return schema.SingleNestedBlock{
		MarkdownDescription: "How sandboxes are made. Exactly one is left of however many attempts: before another one, the provider looks for what the last one may have made.",
		Attributes: map[string]schema.Attribute{
			"request_timeout_seconds": whole(1, "Seconds that one attempt may take, with the pull of the image, 1 or more. Defaults to `1200`."),
			"retries":                 retries("How often a create is tried again after a failure that may pass (no answer, an overloaded server, an image that can't be pulled), 0 to 100. A quota, a refused request and refused credentials never are. Defaults to `2`."),
			"retry_delay_seconds":     whole(0, "Before the first retry a random time up to this many seconds is waited, before each further one twice that, 0 or more. Defaults to `5`."),
			"retry_max_delay_seconds": whole(0, "The longest such time in seconds, 0 or more. Defaults to `60`."),
			"skip_health_check":       schema.BoolAttribute{MarkdownDescription: "Whether creates leave out waiting for the sandbox's agent; `true` wins over a sandbox's own `skip_health_check`. The probe still runs, unless its command is `\"\"`. Defaults to `false`.", Optional: true},
			"image_pull_policy": schema.StringAttribute{
				MarkdownDescription: "When images are pulled, where a sandbox doesn't say: `Always`, `IfNotPresent` or `Never`. A change reaches only sandboxes that are made afterwards. Defaults to `IfNotPresent`.",
				Optional:            true,
				Validators:          []validator.String{stringvalidator.OneOf(sandbox.PullAlways, sandbox.PullIfNotPresent, sandbox.PullNever)},
			},
		},
	}
}

func probeSchema() schema.Block {
	return schema.SingleNestedBlock{
		MarkdownDescription: "A command that has to succeed in a new sandbox before it counts as usable: it exits with 0 and prints what is expected.",
		Attributes: map[string]schema.Attribute{
			"command":              schema.StringAttribute{MarkdownDescription: "Command line for the sandbox's shell; `\"\"` turns the probe off. Defaults to `printf opensandbox-ready`.", Optional: true},
			"expected_stdout":      schema.StringAttribute{MarkdownDescription: "Text that has to occur in what it prints. Defaults to `opensandbox-ready` with the default command, else to nothing.", Optional: true},
			"timeout_seconds":      whole(1, "Seconds that one try may take, 1 or more. Defaults to `30`."),
			"deadline_seconds":     whole(1, "Seconds in which it has to have succeeded, 1 or more. Defaults to `timeout_seconds`."),
			"stable_count":         whole(1, "How many times in a row it has to succeed, 1 or more. Defaults to `1`."),
			"stable_delay_seconds": whole(0, "Seconds between two successes, 0 or more. Defaults to `0`."),
		},
	}
}

func operationsSchema() schema.Block {
	return schema.SingleNestedBlock{
		MarkdownDescription: "How everything after the create of a sandbox deals with failures.",
		Attributes: map[string]schema.Attribute{
			"retries":                 retries("How often a request is repeated after a failure that a repetition can heal, 0 to 100. Defaults to the provider's `max_retries` where that is set, else to `3`."),
			"retry_delay_seconds":     whole(0, "Before the first retry a random time up to this many seconds is waited, before each further one twice that, 0 or more. Defaults to `1`."),
			"retry_max_delay_seconds": whole(0, "The longest such time in seconds, 0 or more. Defaults to the provider's `retry_max_delay_seconds` where that is set, else to `15`."),
			"command_retries":         retries("How often a command whose outcome isn't known is run again, 0 to 100. It may run twice then. Defaults to `0`."),
			"close_timeout_seconds":   whole(1, "Seconds that the deletion of a sandbox whose create failed may take, 1 or more. Defaults to `30`."),
		},
	}
}
