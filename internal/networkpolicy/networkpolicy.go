// Package networkpolicy is the network_policy block that both providers have.
package networkpolicy

import (
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentenv/terraform-provider-gpuvm/internal/validate"
)

// The actions of a policy and its rules.
const (
	Allow = "allow"
	Deny  = "deny"
)

// Policy says what a machine may reach. The first rule that fits decides.
type Policy struct {
	DefaultAction string
	Egress        []Rule
}

// Rule allows or denies a target.
type Rule struct{ Action, Target string }

// Block is the schema; description is the provider's word on it.
func Block(description string) schema.SingleNestedBlock {
	action := []validator.String{stringvalidator.OneOf(Allow, Deny)}
	return schema.SingleNestedBlock{
		MarkdownDescription: description,
		Validators:          []validator.Object{validate.Requires("default_action")},
		Attributes: map[string]schema.Attribute{
			"default_action": schema.StringAttribute{
				MarkdownDescription: "`allow` or `deny`, for what no rule matches; required in the block.",
				Optional:            true, Validators: action,
			},
		},
		Blocks: map[string]schema.Block{
			"egress": schema.ListNestedBlock{
				MarkdownDescription: "A rule for outgoing traffic. The first that fits decides.",
				NestedObject: schema.NestedBlockObject{Attributes: map[string]schema.Attribute{
					"action": schema.StringAttribute{MarkdownDescription: "`allow` or `deny`.", Required: true, Validators: action},
					"target": schema.StringAttribute{MarkdownDescription: "Domain name, or one with a leading `*.`.", Required: true, Validators: []validator.String{stringvalidator.LengthAtLeast(1)}},
				}},
			},
		},
	}
}

var (
	ruleType = types.ObjectType{AttrTypes: map[string]attr.Type{"action": types.StringType, "target": types.StringType}}
	// Type is the block's type.
	Type = types.ObjectType{AttrTypes: map[string]attr.Type{
		"default_action": types.StringType, "egress": types.ListType{ElemType: ruleType},
	}}
)

// Of reads a block whose values are known; nil where it is absent.
func Of(block types.Object) *Policy {
	if block.IsNull() || block.IsUnknown() {
		return nil
	}
	policy := &Policy{DefaultAction: text(block, "default_action"), Egress: []Rule{}}
	egress, _ := block.Attributes()["egress"].(types.List)
	for _, element := range egress.Elements() {
		if rule, ok := element.(types.Object); ok {
			policy.Egress = append(policy.Egress, Rule{Action: text(rule, "action"), Target: text(rule, "target")})
		}
	}
	return policy
}

func text(object types.Object, name string) string {
	value, _ := object.Attributes()[name].(types.String)
	return value.ValueString()
}

// Block gives the policy as the block holds it.
func (p Policy) Block() types.Object {
	rules := []attr.Value{}
	for _, rule := range p.Egress {
		rules = append(rules, types.ObjectValueMust(ruleType.AttrTypes, map[string]attr.Value{
			"action": types.StringValue(rule.Action), "target": types.StringValue(rule.Target),
		}))
	}
	return types.ObjectValueMust(Type.AttrTypes, map[string]attr.Value{
		"default_action": types.StringValue(p.DefaultAction), "egress": types.ListValueMust(ruleType, rules),
	})
}
