package connection

import (
	"regexp"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentenv/terraform-provider-gpuvm/internal/attribution"
)

// AttributionBlock is the provider block's attribution; its presence turns attribution on.
type AttributionBlock struct {
	KeyPrefix types.String `tfsdk:"key_prefix"`
	Team      types.String `tfsdk:"team"`
	User      types.String `tfsdk:"user"`
	Workload  types.String `tfsdk:"workload"`
	Run       types.String `tfsdk:"run"`
}

// keyPrefix is a DNS subdomain (RFC 1123) of at most 253 characters with or without its closing slash, or empty.
var keyPrefix = regexp.MustCompile(`^\s*$|^\s*[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/?\s*$`)

// AttributionSchema is the block's schema. what is the service's word for labels.
func AttributionSchema(what, defaultPrefix string) schema.Block {
	field := func(text string) schema.StringAttribute {
		return schema.StringAttribute{Optional: true, MarkdownDescription: text}
	}
	prefix := field("Put before each key: a lowercase DNS name of at most 253 characters, a `/` is added where it has none; `\"\"` leaves the keys bare. Defaults to " + defaultPrefix + ".")
	prefix.Validators = []validator.String{
		stringvalidator.LengthAtMost(254),
		stringvalidator.RegexMatches(keyPrefix, "must be a lowercase DNS name such as nemo-gym.nvidia.com, with or without a closing slash, or empty"),
	}
	return schema.SingleNestedBlock{
		MarkdownDescription: "Stamps each new machine with " + what + " that say for whom it was made: `team`, `user`, `workload` and `run`. The block's presence turns this on, an empty one too. They stand in `attribution_" + what + "` and never change afterwards.",
		Attributes: map[string]schema.Attribute{
			"key_prefix": prefix,
			"team":       field("Defaults to the first of `NEMO_GYM_TEAM` and `SLURM_JOB_ACCOUNT` that is set."),
			"user":       field("Defaults to the first of `NEMO_GYM_USER` and `SLURM_JOB_USER` that is set, else the login name unless that is root."),
			"workload":   field("Defaults to the first of `NEMO_GYM_WORKLOAD`, `SLURM_JOB_NAME`, `NEMO_GYM_CONFIG_PATH` and `TFC_WORKSPACE_NAME` that is set."),
			"run":        field("Defaults to the first of `NEMO_GYM_RUN_ID` and `TFC_RUN_ID` that is set, else 12 hex digits that are the same for all of one run of the provider."),
		},
	}
}

// settings reads the block; known is false while one of its values isn't.
func (b *AttributionBlock) settings(defaultPrefix string) (settings attribution.Settings, known bool) {
	if b == nil {
		return attribution.Settings{}, true
	}
	for _, v := range []types.String{b.KeyPrefix, b.Team, b.User, b.Workload, b.Run} {
		if v.IsUnknown() {
			return attribution.Settings{}, false
		}
	}
	prefix := defaultPrefix
	if !b.KeyPrefix.IsNull() {
		prefix = b.KeyPrefix.ValueString()
	}
	return attribution.Settings{
		Enabled: true, KeyPrefix: prefix,
		Team: b.Team.ValueString(), User: b.User.ValueString(), Workload: b.Workload.ValueString(), Run: b.Run.ValueString(),
	}, true
}
