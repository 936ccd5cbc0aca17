package matrix_test

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	core "github.com/agentenv/terraform-provider-gpuvm/internal/terraformcore"
)

// place is an attribute or a block that may be left out, at the top or inside of another.
type place struct {
	path  []string // names; inside of a repeated parent, in each of its elements
	value any      // one that means something
	empty any      // the empty value of its type
	// needed is an attribute that can't be left out: Terraform sees to that itself, but it may be unknown or empty.
	needed bool
}

func (p place) String() string { return strings.Join(p.path, ".") }

// table is what is known of a type's values: by the name of a top-level attribute or block.
type table struct {
	smallest map[string]any
	values   map[string][]any
	requires map[string]map[string]any
}

// places lists what may be left out of a block.
func (t table) places(block *tfprotov6.SchemaBlock) []place {
	var all []place
	for _, a := range block.Attributes {
		if !a.Optional && !a.Required {
			continue
		}
		here := place{path: []string{a.Name}, needed: a.Required, empty: emptyOf(a.ValueType()), value: t.value(a.Name, exampleOf(a.ValueType()))}
		all = append(all, here)
		if a.NestedType != nil {
			all = append(all, inside(here, a.NestedType.Attributes)...)
		}
	}
	for _, b := range block.BlockTypes {
		here := place{path: []string{b.TypeName}, empty: emptyBlock(b), value: t.value(b.TypeName, nil)}
		all = append(all, here)
		all = append(all, inside(here, b.Block.Attributes)...)
		for _, inner := range b.Block.BlockTypes {
			deeper := place{path: []string{b.TypeName, inner.TypeName}, empty: emptyBlock(inner), value: innerValue(here.value, inner.TypeName)}
			all = append(all, deeper)
			all = append(all, inside(deeper, inner.Block.Attributes)...)
		}
	}
	return all
}

func inside(parent place, attributes []*tfprotov6.SchemaAttribute) []place {
	var all []place
	for _, a := range attributes {
		if !a.Optional && !a.Required {
			continue
		}
		value := innerValue(parent.value, a.Name)
		if value == nil {
			value = exampleOf(a.ValueType())
		}
		all = append(all, place{path: append(slices.Clone(parent.path), a.Name), needed: a.Required, empty: emptyOf(a.ValueType()), value: value})
	}
	return all
}

// innerValue finds a value of a member in the elements of its parent's.
func innerValue(parent any, name string) any {
	switch parent := parent.(type) {
	case []any:
		for _, element := range parent {
			if value := innerValue(element, name); value != nil {
				return value
			}
		}
	case map[string]any:
		if value, ok := parent[name]; ok {
			return value
		}
		for _, key := range slices.Sorted(maps.Keys(parent)) {
			if value := innerValue(parent[key], name); value != nil {
				return value
			}
		}
	}
	return nil
}

// value is the first in the table that isn't empty.
func (t table) value(name string, otherwise any) any {
	for _, value := range t.values[name] {
		switch v := value.(type) {
		case nil:
		case string:
			if v != "" {
				return v
			}
		case []any:
			if len(v) > 0 {
				return v
			}
		case map[string]any:
			if len(v) > 0 {
				return v
			}
		default:
			return v
		}
	}
	return otherwise
}

func emptyOf(t tftypes.Type) any {
	switch {
	case t.Is(tftypes.String):
		return ""
	case t.Is(tftypes.Number):
		return 0
	case t.Is(tftypes.Bool):
		return false
	case t.Is(tftypes.List{}), t.Is(tftypes.Set{}):
		return []any{}
	default:
		return map[string]any{}
	}
}

func emptyBlock(b *tfprotov6.SchemaNestedBlock) any {
	switch b.Nesting {
	case tfprotov6.SchemaNestedBlockNestingModeList, tfprotov6.SchemaNestedBlockNestingModeSet:
		return []any{map[string]any{}}
	default:
		return map[string]any{}
	}
}

// exampleOf is a value for what the table doesn't know.
func exampleOf(t tftypes.Type) any {
	switch {
	case t.Is(tftypes.String):
		return "x"
	case t.Is(tftypes.Number):
		return 1
	case t.Is(tftypes.Bool):
		return true
	}
	return emptyOf(t)
}

// config is the smallest configuration with the place set to a value; nil leaves it out.
func (t table) config(p place, value any) map[string]any {
	config := maps.Clone(t.smallest)
	maps.Copy(config, t.requires[p.path[0]])
	if len(p.path) == 1 {
		set(config, p.path[0], value)
		return config
	}
	parent := t.value(p.path[0], nil)
	if parent == nil {
		parent = map[string]any{}
	}
	config[p.path[0]] = within(parent, p.path[1:], value)
	return config
}

// within copies a value with a member set, in each element that could have it.
func within(parent any, path []string, value any) any {
	switch parent := parent.(type) {
	case []any:
		changed := []any{}
		for _, element := range parent {
			changed = append(changed, within(element, path, value))
		}
		return changed
	case map[string]any:
		changed := maps.Clone(parent)
		if elements := keyed(parent); elements {
			for key, element := range parent {
				changed[key] = within(element, path, value)
			}
			return changed
		}
		if len(path) == 1 {
			set(changed, path[0], value)
		} else {
			changed[path[0]] = within(parent[path[0]], path[1:], value)
		}
		return changed
	}
	return parent
}

// keyed tells a map of objects from an object: its keys are no names.
func keyed(m map[string]any) bool {
	for key, element := range m {
		if _, object := element.(map[string]any); !object || !strings.ContainsAny(key, "/.") {
			return false
		}
	}
	return len(m) > 0
}

func set(m map[string]any, name string, value any) {
	if value == nil {
		delete(m, name)
	} else {
		m[name] = value
	}
}

// cell is a way to give nothing, or to come to it.
type cell struct {
	name          string
	plan, applied any // what is configured at plan, and at apply
}

func cells(p place) []cell {
	all := []cell{
		{"empty", p.empty, p.empty},
		{"unknown, then empty", core.Unknown, p.empty},
	}
	if p.value != nil {
		all = append(all, cell{"unknown, then a value", core.Unknown, p.value}, cell{"a value", p.value, p.value})
	}
	if p.needed {
		return all
	}
	return append(all, cell{"absent", nil, nil}, cell{"unknown, then absent", core.Unknown, nil})
}
