package terraformcore

import (
	"fmt"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// planFaults lists where a plan departs from the configuration though it must not: a provider may choose the values of
// computed attributes that aren't configured, and keep a prior value that means the same as the configured one.
func (b body) planFaults(path at, prior, config, planned tftypes.Value) []string {
	switch {
	case planned.IsNull() && !config.IsNull():
		return []string{string(path) + ": planned for absence, but configured"}
	case config.IsNull() && !planned.IsNull():
		return []string{string(path) + ": planned, but not configured"}
	case planned.IsNull(), !config.IsKnown() && !planned.IsKnown():
		return nil
	case !planned.IsKnown():
		return []string{string(path) + ": planned unknown, but configured"}
	}
	var faults []string
	for _, a := range b.attributes {
		t := a.ValueType()
		faults = append(faults, attributeFaults(path.name(a.Name), a, field(prior, a.Name, t), field(config, a.Name, t), field(planned, a.Name, t))...)
	}
	for _, n := range b.blocks {
		t := n.ValueType()
		before, given, then := field(prior, n.TypeName, t), field(config, n.TypeName, t), field(planned, n.TypeName, t)
		if then.Equal(given) {
			continue
		}
		faults = append(faults, blockBody(n.Block).repeatedFaults(path.name(n.TypeName), blockNesting(n), before, given, then)...)
	}
	return faults
}

func attributeFaults(path at, a *tfprotov6.SchemaAttribute, prior, config, planned tftypes.Value) []string {
	value := func(v tftypes.Value) string {
		if a.Sensitive {
			return "(sensitive)"
		}
		return shown(v)
	}
	switch {
	case a.WriteOnly && planned.IsNull():
		return nil
	case a.WriteOnly:
		return []string{string(path) + ": a write-only attribute is planned with a value"}
	case planned.Equal(config),
		planned.Equal(prior) && !prior.IsNull() && !config.IsNull(),
		a.Computed && !a.Optional,
		a.Computed && config.IsNull():
		return nil
	case config.IsNull():
		return []string{fmt.Sprintf("%s: planned %s for an attribute that is neither configured nor computed", path, value(planned))}
	case a.NestedType != nil:
		return objectBody(a.NestedType).repeatedFaults(path, objectNesting(a.NestedType), prior, config, planned)
	}
	return []string{fmt.Sprintf("%s: planned %s, configured %s, before %s", path, value(planned), value(config), value(prior))}
}

func (b body) repeatedFaults(path at, n nesting, prior, config, planned tftypes.Value) []string {
	if n == single {
		return b.planFaults(path, prior, config, planned)
	}
	switch {
	case !config.IsKnown() && !planned.IsKnown():
		return nil
	case planned.IsNull() != config.IsNull(), planned.IsKnown() != config.IsKnown():
		return []string{fmt.Sprintf("%s: planned %s, configured %s", path, shown(planned), shown(config))}
	}
	given, then, before := map[any]tftypes.Value{}, map[any]tftypes.Value{}, map[any]tftypes.Value{}
	for _, side := range []struct {
		from tftypes.Value
		into map[any]tftypes.Value
	}{{config, given}, {planned, then}, {prior, before}} {
		for key, element := range fields(side.from) {
			side.into[key] = element
		}
		for i, element := range elements(side.from) {
			side.into[i] = element
		}
	}
	if len(given) != len(then) {
		return []string{fmt.Sprintf("%s: %d planned, %d configured", path, len(then), len(given))}
	}
	if n == set { // elements of a set can't be told apart
		return nil
	}
	var faults []string
	for key, configured := range given {
		element, ok := then[key]
		if !ok {
			faults = append(faults, string(path.key(key))+": configured, but not planned")
			continue
		}
		was, ok := before[key]
		if !ok {
			was = tftypes.NewValue(configured.Type(), nil)
		}
		faults = append(faults, b.planFaults(path.key(key), was, configured, element)...)
	}
	return faults
}
