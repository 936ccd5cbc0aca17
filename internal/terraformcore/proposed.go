package terraformcore

import (
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// propose merges the prior object and the configuration into the proposed new one, of which a provider makes its plan: what
// is configured is taken from the configuration, what is computed and not configured from the prior object.
func (b body) propose(prior, config tftypes.Value) tftypes.Value {
	if config.IsNull() || !config.IsKnown() {
		return config
	}
	proposed := map[string]tftypes.Value{}
	for _, attribute := range b.attributes {
		proposed[attribute.Name] = proposeAttribute(attribute,
			field(prior, attribute.Name, attribute.ValueType()), field(config, attribute.Name, attribute.ValueType()))
	}
	for _, block := range b.blocks {
		proposed[block.TypeName] = blockBody(block.Block).proposeRepeated(blockNesting(block),
			field(prior, block.TypeName, block.ValueType()), field(config, block.TypeName, block.ValueType()))
	}
	return tftypes.NewValue(config.Type(), proposed)
}

func proposeAttribute(a *tfprotov6.SchemaAttribute, prior, config tftypes.Value) tftypes.Value {
	switch {
	case a.Computed && config.IsNull() && !wasConfigured(a, prior):
		return prior
	case a.NestedType != nil:
		return objectBody(a.NestedType).proposeRepeated(objectNesting(a.NestedType), prior, config)
	}
	return config
}

// wasConfigured reports whether a nested attribute's prior value can't have been computed: something in it can only be
// configured.
func wasConfigured(a *tfprotov6.SchemaAttribute, prior tftypes.Value) bool {
	if !a.Optional || a.NestedType == nil {
		return false
	}
	return objectBody(a.NestedType).anyConfigured(objectNesting(a.NestedType), prior)
}

func (b body) anyConfigured(n nesting, v tftypes.Value) bool {
	for _, one := range members(n, v) {
		for _, attribute := range b.attributes {
			if value := field(one, attribute.Name, attribute.ValueType()); !attribute.Computed && !value.IsNull() {
				return true
			}
		}
	}
	return false
}

// members are the bodies that a nested value holds, by no order that matters.
func members(n nesting, v tftypes.Value) []tftypes.Value {
	switch n {
	case single:
		return []tftypes.Value{v}
	case mapped:
		var all []tftypes.Value
		for _, member := range fields(v) {
			all = append(all, member)
		}
		return all
	default:
		return elements(v)
	}
}

func (b body) proposeRepeated(n nesting, prior, config tftypes.Value) tftypes.Value {
	if config.IsNull() || !config.IsKnown() {
		return config
	}
	switch n { //nolint:exhaustive // lists and sets are below
	case single:
		return b.propose(prior, config)
	case mapped:
		proposed, before := map[string]tftypes.Value{}, fields(prior)
		for key, element := range fields(config) {
			proposed[key] = element
			if was, ok := before[key]; ok {
				proposed[key] = b.propose(was, element)
			}
		}
		return tftypes.NewValue(config.Type(), proposed)
	}
	before := elements(prior)
	proposed := []tftypes.Value{}
	for i, element := range elements(config) {
		var was tftypes.Value
		found := i < len(before)
		if n == set {
			i, found = b.match(before, element)
		}
		if !found {
			proposed = append(proposed, element)
			continue
		}
		if was = before[i]; n == set {
			before = append(before[:i:i], before[i+1:]...)
		}
		proposed = append(proposed, b.propose(was, element))
	}
	return tftypes.NewValue(config.Type(), proposed)
}

// match finds the prior element of a set that a configured one may have become: they differ in nothing but what is computed.
func (b body) match(before []tftypes.Value, config tftypes.Value) (int, bool) {
	for i, was := range before {
		if b.propose(was, config).Equal(was) {
			return i, true
		}
	}
	return 0, false
}
