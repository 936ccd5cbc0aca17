package opensandboxsandbox

import (
	"context"
	"maps"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentenv/terraform-provider-gpuvm/internal/plan"
	"github.com/agentenv/terraform-provider-gpuvm/internal/sandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/wholenumber"
)

// computed are the attributes that the server tells.
var computed = []string{
	"id", "status", "status_reason", "status_message", "ports", "vnc_url", "effective_metadata", "attribution_metadata",
	"created_at", "expires_at",
}

// statusAttributes change together.
var statusAttributes = []string{"status", "status_reason", "status_message"}

// Schema is the sandbox's arguments, what happens to it later, and what the server tells.
func (r *Resource) Schema(ctx context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	attributes := sandbox.Attributes()
	maps.Copy(attributes, laterAttributes())
	maps.Copy(attributes, computedAttributes())
	blocks := sandbox.Blocks()
	blocks["timeouts"] = plan.TimeoutsBlock(ctx, timeouts.Opts{
		Create: true, Read: true, Update: true, Delete: true,
		CreateDescription: "How long all of create may take, as a duration such as `\"30m\"`. Defaults to `30m`.",
		ReadDescription:   "How long a refresh may take. Defaults to `2m`.",
		UpdateDescription: "How long a change in place may take. Defaults to `10m`.",
		DeleteDescription: "How long a destroy may take, until the server no longer knows the sandbox. Defaults to `10m`.",
	})
	resp.Schema = schema.Schema{
		MarkdownDescription: "A sandbox of an OpenSandbox server: a container to run commands in, made exactly once however often its create has to be tried.",
		Attributes:          attributes,
		Blocks:              blocks,
	}
}

// laterAttributes say what is to become of a sandbox that stands, or whose create fails, and tell of changes that nothing else
// shows.
func laterAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"env_wo_version": schema.Int64Attribute{
			MarkdownDescription: "Version of `env_wo`, a whole number: raise it when a variable changes, which replaces the sandbox. Defaults to none.",
			Optional:            true, CustomType: wholenumber.Type{},
		},
		"files_wo_version": schema.Int64Attribute{
			MarkdownDescription: "Version of the `content_wo` of `files`, a whole number: raise it when one of them changes, which replaces the sandbox. Defaults to none.",
			Optional:            true, CustomType: wholenumber.Type{},
		},
		"renew_below_seconds": schema.Int64Attribute{
			MarkdownDescription: "A plan that is made when the sandbox has less than this many seconds left renews it to the whole of `ttl_seconds`; a whole number of 1 or more, less than `ttl_seconds`. A change is noted. Defaults to none: only a change of `ttl_seconds` renews.",
			Optional:            true, CustomType: wholenumber.Type{},
			Validators: []validator.Int64{int64validator.AtLeast(1)},
		},
		"paused": schema.BoolAttribute{
			MarkdownDescription: "Whether the sandbox is paused. Its time to live runs on; on Kubernetes its processes and memory are lost. Changed in place. Defaults to none: whether it is paused isn't managed.",
			Optional:            true,
		},
		"teardown_script": schema.StringAttribute{
			MarkdownDescription: "Script that the sandbox's shell runs before the sandbox is destroyed. If it fails, the sandbox stays and the destroy ends with an error; it is skipped with a warning where the sandbox isn't running. A change is noted, nothing is run. Defaults to none.",
			Optional:            true,
		},
		"on_create_failure": schema.StringAttribute{
			MarkdownDescription: "What becomes of a sandbox whose create fails after it was made: `delete`, or `keep` it in the state, tainted, for debugging (it costs until the next apply). A change is noted. Defaults to `delete`.",
			Optional:            true, Computed: true, Default: stringdefault.StaticString(onFailureDelete),
			Validators: []validator.String{stringvalidator.OneOf(onFailureDelete, onFailureKeep)},
		},
	}
}

func computedAttributes() map[string]schema.Attribute {
	text := func(description string) schema.StringAttribute {
		return schema.StringAttribute{Computed: true, MarkdownDescription: description}
	}
	texts := func(description string) schema.MapAttribute {
		return schema.MapAttribute{Computed: true, ElementType: types.StringType, MarkdownDescription: description}
	}
	return map[string]schema.Attribute{
		"id":                   text("The server's id of the sandbox."),
		"status":               text("The server's word for its state, such as `Running`, `Paused`, `Failed` or `Terminated`. A sandbox that is `Failed` or `Terminated` is replaced by the next apply."),
		"status_reason":        text("The server's code for why the state is what it is; null where it gives none."),
		"status_message":       text("The server's words about the state; null where it gives none."),
		"ports":                texts("The URL of each of `exposed_ports`, by port. The keys are known at plan; null where the server doesn't tell one. A URL is told whether or not something listens there. Headers that an endpoint demands never stand here."),
		"vnc_url":              text("URL of `vnc_port`; null without it."),
		"effective_metadata":   texts("The own metadata over the provider's `default_metadata`, with values as the server gets them: each run of other characters than `A-Z a-z 0-9 _ . -` becomes `_`, `_ . -` are cut off at both ends, and all beyond 63 characters; a value of which nothing is left becomes `metadata`."),
		"attribution_metadata": texts("The metadata that came from the provider's `attribution` block, frozen at create; empty without the block and after an import."),
		"created_at":           text("When the sandbox was made (RFC 3339)."),
		"expires_at":           text("When the server ends the sandbox (RFC 3339); null where it never expires."),
	}
}

// IdentitySchema is the sandbox's identity: its id.
func (r *Resource) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse) {
	resp.IdentitySchema = identityschema.Schema{Attributes: map[string]identityschema.Attribute{
		"id": identityschema.StringAttribute{RequiredForImport: true, Description: "The server's id of the sandbox."},
	}}
}
