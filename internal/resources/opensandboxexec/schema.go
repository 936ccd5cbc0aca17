package opensandboxexec

import (
	"context"
	"maps"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/agentenv/terraform-provider-gpuvm/internal/execution"
	"github.com/agentenv/terraform-provider-gpuvm/internal/wholenumber"
)

// Schema is the contract with users.
func (r *Resource) Schema(ctx context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	attributes := execution.ResourceAttributes(execution.Sandbox)
	maps.Copy(attributes, execution.ProcessAttributes())
	attributes["timeout_seconds"] = schema.Int64Attribute{
		MarkdownDescription: "Seconds after which the sandbox's agent kills the command, a whole number of 1 or more; its exit code is -1 then. A change is noted, nothing is run. Defaults to none: only the `timeouts` block bounds it.",
		Optional:            true, CustomType: wholenumber.Type{},
		Validators: []validator.Int64{int64validator.AtLeast(1)},
	}
	resp.Schema = schema.Schema{
		MarkdownDescription: "A command that runs once in an `opensandbox_sandbox`, when the object is made; whatever it depends on goes into `triggers`. " +
			"If it ends with another exit code than `expected_exit_codes` the apply fails, the error shows the end of its output, and the next apply runs it again. " +
			"A command of which the sandbox's agent tells no exit code counts as ended with 125, one that was killed with -1. " +
			"A command whose answer is lost is sent again only as often as the provider's `command_retries` allows. An interrupt ends it. " +
			"Destroying the object only forgets it, and it can't be imported; a sandbox that is gone takes the object out of the state.",
		Attributes: attributes,
		Blocks:     map[string]schema.Block{"timeouts": execution.TimeoutsBlock(ctx)},
	}
}
