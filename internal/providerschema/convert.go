package providerschema

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	tfjson "github.com/hashicorp/terraform-json"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/zclconf/go-cty/cty"
)

func schemaOf(s *tfprotov6.Schema) (*tfjson.Schema, error) {
	if s == nil {
		return &tfjson.Schema{}, nil
	}
	version, err := count("schema version", s.Version)
	if err != nil {
		return nil, err
	}
	block, err := blockOf(s.Block)
	if err != nil {
		return nil, err
	}
	return &tfjson.Schema{Version: version, Block: block}, nil
}

func actionOf(a *tfprotov6.ActionSchema) (*tfjson.ActionSchema, error) {
	schema, err := schemaOf(a.Schema)
	if err != nil {
		return nil, err
	}
	return &tfjson.ActionSchema{Block: schema.Block}, nil
}

func identityOf(s *tfprotov6.ResourceIdentitySchema) (*tfjson.IdentitySchema, error) {
	version, err := count("identity version", s.Version)
	if err != nil {
		return nil, err
	}
	out := &tfjson.IdentitySchema{Version: version, Attributes: map[string]*tfjson.IdentityAttribute{}}
	for _, a := range s.IdentityAttributes {
		attributeType, err := typeOf(a.Type)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", a.Name, err)
		}
		out.Attributes[a.Name] = &tfjson.IdentityAttribute{
			IdentityType:      attributeType,
			Description:       a.Description,
			RequiredForImport: a.RequiredForImport,
			OptionalForImport: a.OptionalForImport,
		}
	}
	return out, nil
}

func blockOf(b *tfprotov6.SchemaBlock) (*tfjson.SchemaBlock, error) {
	if b == nil {
		return &tfjson.SchemaBlock{}, nil
	}
	attributes, err := attributesOf(b.Attributes)
	if err != nil {
		return nil, err
	}
	nested := make(map[string]*tfjson.SchemaBlockType, len(b.BlockTypes))
	for _, n := range b.BlockTypes {
		if nested[n.TypeName], err = blockTypeOf(n); err != nil {
			return nil, fmt.Errorf("%s: %w", n.TypeName, err)
		}
	}
	return &tfjson.SchemaBlock{
		Attributes:      attributes,
		NestedBlocks:    nested,
		Description:     b.Description,
		DescriptionKind: kindOf(b.DescriptionKind),
		Deprecated:      b.Deprecated,
	}, nil
}

func blockTypeOf(n *tfprotov6.SchemaNestedBlock) (*tfjson.SchemaBlockType, error) {
	block, err := blockOf(n.Block)
	if err != nil {
		return nil, err
	}
	least, err := count("least number of blocks", n.MinItems)
	if err != nil {
		return nil, err
	}
	most, err := count("greatest number of blocks", n.MaxItems)
	if err != nil {
		return nil, err
	}
	return &tfjson.SchemaBlockType{NestingMode: nestingOf(n.Nesting), Block: block, MinItems: least, MaxItems: most}, nil
}

func attributesOf(in []*tfprotov6.SchemaAttribute) (map[string]*tfjson.SchemaAttribute, error) {
	out := make(map[string]*tfjson.SchemaAttribute, len(in))
	for _, a := range in {
		converted, err := attributeOf(a)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", a.Name, err)
		}
		out[a.Name] = converted
	}
	return out, nil
}

func attributeOf(a *tfprotov6.SchemaAttribute) (*tfjson.SchemaAttribute, error) {
	out := &tfjson.SchemaAttribute{
		Description:     a.Description,
		DescriptionKind: kindOf(a.DescriptionKind),
		Deprecated:      a.Deprecated,
		Required:        a.Required,
		Optional:        a.Optional,
		Computed:        a.Computed,
		Sensitive:       a.Sensitive,
		WriteOnly:       a.WriteOnly,
	}
	var err error
	if a.NestedType == nil {
		out.AttributeType, err = typeOf(a.Type)
		return out, err
	}
	nested, err := attributesOf(a.NestedType.Attributes)
	out.AttributeNestedType = &tfjson.SchemaNestedAttributeType{Attributes: nested, NestingMode: nestingOf(a.NestedType.Nesting)}
	return out, err
}

// typeOf goes by way of the JSON form of types, which the protocol's library writes and cty reads.
func typeOf(t tftypes.Type) (cty.Type, error) {
	if t == nil {
		return cty.NilType, errors.New("has no type")
	}
	encoded, err := json.Marshal(t)
	if err != nil {
		return cty.NilType, fmt.Errorf("encoding its type: %w", err)
	}
	var out cty.Type
	if err := json.Unmarshal(encoded, &out); err != nil {
		return cty.NilType, fmt.Errorf("decoding its type: %w", err)
	}
	return out, nil
}

// nestingOf works because the protocol's names of nesting modes, in lower case, are those of the JSON form.
func nestingOf(mode fmt.Stringer) tfjson.SchemaNestingMode {
	return tfjson.SchemaNestingMode(strings.ToLower(mode.String()))
}

func kindOf(kind tfprotov6.StringKind) tfjson.SchemaDescriptionKind {
	if kind == tfprotov6.StringKindMarkdown {
		return tfjson.SchemaDescriptionKindMarkdown
	}
	return tfjson.SchemaDescriptionKindPlain
}

func count(what string, n int64) (uint64, error) {
	if n < 0 {
		return 0, fmt.Errorf("%s is negative: %d", what, n)
	}
	return uint64(n), nil
}
