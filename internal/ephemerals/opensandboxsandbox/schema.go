package opensandboxsandbox

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/ephemeral/timeouts"
	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentenv/terraform-provider-gpuvm/internal/connection"
	lifecycle "github.com/agentenv/terraform-provider-gpuvm/internal/lifecycle/opensandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/metadata"
	"github.com/agentenv/terraform-provider-gpuvm/internal/nullable"
	"github.com/agentenv/terraform-provider-gpuvm/internal/sandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/wholenumber"
)

// defaultTTL is short: it bounds how long a sandbox that nobody closes costs.
const defaultTTL = 300

// model is an ephemeral sandbox: its arguments and what the server tells of it once it is open.
type model struct {
	sandbox.Arguments
	Open     types.Bool     `tfsdk:"open"`
	Timeouts timeouts.Value `tfsdk:"timeouts"`

	ID                  types.String `tfsdk:"id"`
	Status              types.String `tfsdk:"status"`
	Ports               types.Map    `tfsdk:"ports"`
	VNCURL              types.String `tfsdk:"vnc_url"`
	EffectiveMetadata   types.Map    `tfsdk:"effective_metadata"`
	AttributionMetadata types.Map    `tfsdk:"attribution_metadata"`
	CreatedAt           types.String `tfsdk:"created_at"`
}

// Schema is the resource's arguments, and what the server tells.
func (e *Ephemeral) Schema(ctx context.Context, _ ephemeral.SchemaRequest, resp *ephemeral.SchemaResponse) {
	attributes := sandbox.EphemeralAttributes()
	attributes["open"] = schema.BoolAttribute{
		MarkdownDescription: "Whether there is to be a sandbox at all; with `false` all that it would tell is null. Terraform opens ephemeral resources in a plan and in an apply: `open = terraform.applying` boots nothing for a plan. Defaults to `true`.",
		Optional:            true,
	}
	attributes["ttl_seconds"] = schema.Int64Attribute{
		MarkdownDescription: "Seconds after which the server ends the sandbox, a whole number of 60 or more. It is renewed at half of it for as long as Terraform holds it open, and bounds how long one costs that is never closed. Defaults to `300`.",
		Optional:            true, CustomType: wholenumber.Type{},
		Validators: []validator.Int64{int64validator.AtLeast(sandbox.MinTTL)},
	}
	for name, attribute := range toldAttributes() {
		attributes[name] = attribute
	}
	blocks := sandbox.EphemeralBlocks()
	blocks["timeouts"] = timeoutsBlock(ctx)
	resp.Schema = schema.Schema{
		MarkdownDescription: "A sandbox that lives only as long as Terraform needs it, for example for the tests of a CI run: it stands in no state or plan, and is deleted when the run ends. " +
			"It takes the arguments of the resource `opensandbox_sandbox` that say what to make. Terraform opens it in a plan and once more in an apply, so set `open = terraform.applying` unless a plan needs it. " +
			"Where opening fails, what was made is deleted before the error is told. Terraform closes nothing whose user fails: such a sandbox is deleted as the provider ends and, if even that fails, ends with its `ttl_seconds`.",
		Attributes: attributes,
		Blocks:     blocks,
	}
}

// timeoutsBlock is the stock one with a description, which that has none of.
func timeoutsBlock(ctx context.Context) schema.Block {
	block := timeouts.BlockWithOpts(ctx, timeouts.Opts{
		OpenDescription: "How long it may take until the sandbox is usable, as a duration such as `\"30m\"`. Defaults to `30m`.",
	})
	if single, ok := block.(schema.SingleNestedBlock); ok {
		single.MarkdownDescription = "How long opening may take at most."
		return single
	}
	return block
}

func toldAttributes() map[string]schema.Attribute {
	text := func(description string) schema.StringAttribute {
		return schema.StringAttribute{Computed: true, MarkdownDescription: description}
	}
	texts := func(description string) schema.MapAttribute {
		return schema.MapAttribute{Computed: true, ElementType: types.StringType, MarkdownDescription: description}
	}
	return map[string]schema.Attribute{
		"id":                   text("The server's id of the sandbox."),
		"status":               text("The server's word for its state once it was usable: `Running`."),
		"ports":                texts("The URL of each of `exposed_ports`, by port. A URL is told whether or not something listens there. Headers that an endpoint demands come from the ephemeral resource `opensandbox_endpoint`."),
		"vnc_url":              text("URL of `vnc_port`; null without it."),
		"effective_metadata":   texts("The own metadata over the provider's `default_metadata`, as the server got it."),
		"attribution_metadata": texts("The metadata that came from the provider's `attribution` block; empty without the block."),
		"created_at":           text("When the sandbox was made (RFC 3339)."),
	}
}

// leftShut says whether no sandbox is wanted.
func (m *model) leftShut() bool { return !m.Open.IsNull() && !m.Open.ValueBool() }

// shut is the result without a sandbox.
func (m *model) shut() model {
	shut := *m
	shut.ID, shut.Status, shut.VNCURL, shut.CreatedAt = types.StringNull(), types.StringNull(), types.StringNull(), types.StringNull()
	none := types.MapNull(types.StringType)
	shut.Ports, shut.EffectiveMetadata, shut.AttributionMetadata = none, none, none
	return shut
}

func (m *model) ttl() time.Duration {
	if m.TTLSeconds.IsNull() {
		return defaultTTL * time.Second
	}
	return m.TTLSeconds.Seconds()
}

// spec is the sandbox that the lifecycle is to make; its metadata goes into the result.
func (m *model) spec(ctx context.Context, provider *connection.OpenSandbox, diags *diag.Diagnostics) sandbox.Spec {
	m.EffectiveMetadata = metadata.Effective(ctx, m.Metadata, provider.KnownDefaults(diags), diags)
	attribution, stamped := provider.Stamp(ctx, m.EffectiveMetadata, diags)
	m.AttributionMetadata = attribution
	wanted := m.Arguments
	if wanted.TTLSeconds.IsNull() {
		wanted.TTLSeconds = wholenumber.Of(defaultTTL)
	}
	return wanted.Spec(ctx, m.Arguments, stamped, provider.Manner, diags)
}

// opened writes what the server told of the sandbox.
func (m *model) opened(usable lifecycle.Usable) {
	m.ID, m.Status = types.StringValue(usable.Sandbox.ID), nullable.Text(usable.Sandbox.Status.State)
	m.CreatedAt = nullable.Time(usable.Sandbox.CreatedAt.Time)
	m.Ports, m.VNCURL = m.Reached(m.URLsOf(usable))
}
