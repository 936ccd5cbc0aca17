package terraformcore

import (
	"fmt"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// body is what a block and the object of a nested attribute have in common: attributes, and a block's own blocks.
type body struct {
	attributes []*tfprotov6.SchemaAttribute
	blocks     []*tfprotov6.SchemaNestedBlock
}

func blockBody(b *tfprotov6.SchemaBlock) body { return body{b.Attributes, b.BlockTypes} }

func objectBody(o *tfprotov6.SchemaObject) body { return body{attributes: o.Attributes} }

// nesting is how a body is repeated.
type nesting int

const (
	single nesting = iota
	list
	set
	mapped
)

func blockNesting(n *tfprotov6.SchemaNestedBlock) nesting {
	switch n.Nesting {
	case tfprotov6.SchemaNestedBlockNestingModeList:
		return list
	case tfprotov6.SchemaNestedBlockNestingModeSet:
		return set
	case tfprotov6.SchemaNestedBlockNestingModeMap:
		return mapped
	default:
		return single
	}
}

func objectNesting(n *tfprotov6.SchemaObject) nesting {
	switch n.Nesting {
	case tfprotov6.SchemaObjectNestingModeList:
		return list
	case tfprotov6.SchemaObjectNestingModeSet:
		return set
	case tfprotov6.SchemaObjectNestingModeMap:
		return mapped
	default:
		return single
	}
}

// config makes a configuration's value, with blocks that are left out as Terraform decodes them: a repeated one is empty.
func (b body) config(t tftypes.Type, plain map[string]any) (tftypes.Value, error) {
	filled := map[string]any{}
	for name, value := range plain {
		filled[name] = value
	}
	for _, nested := range b.blocks {
		given := filled[nested.TypeName]
		if given == nil && blockNesting(nested) != single {
			given = empty(blockNesting(nested))
		}
		filled[nested.TypeName] = blockBody(nested.Block).repeated(blockNesting(nested), given)
	}
	value, err := valueOf(t, filled)
	if err != nil {
		return tftypes.Value{}, fmt.Errorf("configuration: %w", err)
	}
	return value, nil
}

func empty(n nesting) any {
	if n == mapped {
		return map[string]any{}
	}
	return []any{}
}

// repeated fills in the blocks of each of the bodies that a nested block holds.
func (b body) repeated(n nesting, plain any) any {
	each := func(one any) any {
		given, ok := one.(map[string]any)
		if !ok {
			return one
		}
		filled := map[string]any{}
		for name, value := range given {
			filled[name] = value
		}
		for _, nested := range b.blocks {
			inner := filled[nested.TypeName]
			if inner == nil && blockNesting(nested) != single {
				inner = empty(blockNesting(nested))
			}
			filled[nested.TypeName] = blockBody(nested.Block).repeated(blockNesting(nested), inner)
		}
		return filled
	}
	switch given := plain.(type) {
	case []any:
		all := []any{}
		for _, one := range given {
			all = append(all, each(one))
		}
		return all
	case map[string]any:
		if n != mapped {
			return each(given)
		}
		all := map[string]any{}
		for key, one := range given {
			all[key] = each(one)
		}
		return all
	}
	return plain
}
