package execution

import (
	"math"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/action/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

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
	switch seconds := timeoutSeconds.ValueInt64(); {
	case timeoutSeconds.IsNull() || timeoutSeconds.IsUnknown():
		return DefaultLimit
	case seconds < 1:
		diags.AddAttributeError(path.Root("timeout_seconds"), "Number out of range", "timeout_seconds has to be 1 or more.")
		return DefaultLimit
	default:
		return time.Duration(min(seconds, math.MaxInt64/int64(time.Second))) * time.Second
	}
}
