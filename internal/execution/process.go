package execution

import (
	"context"

	actionschema "github.com/hashicorp/terraform-plugin-framework/action/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	lifecycle "github.com/agentenv/terraform-provider-gpuvm/internal/lifecycle/opensandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/validate"
)

// ReplacingProcess are the attributes of Process whose change runs the command anew.
var ReplacingProcess = []string{"user", "cwd", "env"}

const (
	userDescription  = "User to run the command as: `root`, a uid, or a name known in the sandbox."
	cwdDescription   = "Folder in the sandbox to run the command in."
	envDescription   = "Environment variables of the command, over the sandbox's own."
	envWODescription = "Environment variables laid over `env`, write-only, for secrets: they are taken out of what the command prints."
)

// ProcessAttributes are the attributes of Process in a resource.
func ProcessAttributes() map[string]schema.Attribute {
	const again = " A change replaces the object: the command runs again."
	return map[string]schema.Attribute{
		"user": schema.StringAttribute{
			MarkdownDescription: userDescription + again + " Defaults to the user of the sandbox's agent, mostly root.",
			Optional:            true, Validators: []validator.String{userValidator{}},
		},
		"cwd": schema.StringAttribute{
			MarkdownDescription: cwdDescription + again + " Defaults to that of the sandbox's agent.",
			Optional:            true,
		},
		"env": schema.MapAttribute{
			MarkdownDescription: envDescription + " They stand in the state; use `env_wo` for secrets." + again + " Defaults to none.",
			Optional:            true, ElementType: types.StringType, Validators: []validator.Map{validate.Variables()},
		},
		"env_wo": schema.MapAttribute{
			MarkdownDescription: envWODescription + " They stand in no state and no plan. Terraform can't see that one changed: put a version into `triggers` to run the command again. Defaults to none.",
			Optional:            true, Sensitive: true, WriteOnly: true, ElementType: types.StringType, Validators: []validator.Map{validate.Variables()},
		},
	}
}

// ProcessActionAttributes are the attributes of Process in an action.
func ProcessActionAttributes() map[string]actionschema.Attribute {
	return map[string]actionschema.Attribute{
		"user": actionschema.StringAttribute{
			MarkdownDescription: userDescription + " Defaults to the user of the sandbox's agent, mostly root.",
			Optional:            true, Validators: []validator.String{userValidator{}},
		},
		"cwd": actionschema.StringAttribute{MarkdownDescription: cwdDescription + " Defaults to that of the sandbox's agent.", Optional: true},
		"env": actionschema.MapAttribute{
			MarkdownDescription: envDescription + " They stand in plans; use `env_wo` for secrets. Defaults to none.",
			Optional:            true, ElementType: types.StringType, Validators: []validator.Map{validate.Variables()},
		},
		"env_wo": actionschema.MapAttribute{
			MarkdownDescription: envWODescription + " An ephemeral value stands in no plan; Terraform passes it on where an `action_trigger` of a create or update invokes the action, and drops it for `-invoke` and before or after a destroy. Defaults to none.",
			Optional:            true, WriteOnly: true, ElementType: types.StringType, Validators: []validator.Map{validate.Variables()},
		},
	}
}

// userValidator refuses what can name no user.
type userValidator struct{}

func (userValidator) Description(context.Context) string { return "is a uid or the name of a user" }

func (v userValidator) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

func (userValidator) ValidateString(_ context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() {
		return
	}
	if err := lifecycle.CheckUser(req.ConfigValue.ValueString()); err != nil {
		resp.Diagnostics.AddAttributeError(req.Path, "User can't be meant", err.Error()+".")
	}
}
