package examples

import (
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"testing"

	"github.com/hashicorp/go-version"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	tfjson "github.com/hashicorp/terraform-json"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/agentenv/terraform-provider-gpuvm/internal/acctest"
)

// blocks gives the top-level blocks of a type in a file.
func blocks(t *testing.T, file string, text []byte, kind string) []*hclsyntax.Block {
	t.Helper()
	parsed, diags := hclsyntax.ParseConfig(text, path.Base(file), hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	var found []*hclsyntax.Block
	for _, block := range parsed.Body.(*hclsyntax.Body).Blocks {
		if block.Type == kind {
			found = append(found, block)
		}
	}
	return found
}

// inner gives the one nested block of a type, or nil.
func inner(block *hclsyntax.Block, kind string) *hclsyntax.Block {
	for _, nested := range block.Body.Blocks {
		if nested.Type == kind {
			return nested
		}
	}
	return nil
}

// withoutActions takes out of a configuration what Terraform before 1.14 can't read, and the word that it needs a newer one than
// is at hand.
func withoutActions(t *testing.T, file string, text []byte, atHand *version.Version) []byte {
	t.Helper()
	parsed, diags := hclwrite.ParseConfig(text, path.Base(file), hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	for _, block := range parsed.Body().Blocks() {
		switch block.Type() {
		case "action":
			parsed.Body().RemoveBlock(block)
		case "terraform":
			if required := block.Body().GetAttribute("required_version"); required != nil {
				wanted := strings.Trim(string(required.Expr().BuildTokens(nil).Bytes()), `" `)
				constraint, err := version.NewConstraint(wanted)
				if err != nil {
					t.Fatal(err)
				}
				if !constraint.Check(atHand.Core()) {
					block.Body().RemoveAttribute("required_version")
				}
			}
		case "resource":
			for _, lifecycle := range block.Body().Blocks() {
				for _, trigger := range lifecycle.Body().Blocks() {
					if trigger.Type() == "action_trigger" {
						lifecycle.Body().RemoveBlock(trigger)
					}
				}
			}
		}
	}
	return parsed.Bytes()
}

// scope is what an example's expressions may refer to: its variables, and what its state holds.
func (c *configuration) scope(state []*tfjson.StateResource) *hcl.EvalContext {
	t := c.stage.t
	t.Helper()
	variables := map[string]cty.Value{}
	for name, value := range c.stage.variables {
		variables[name] = cty.StringVal(value)
	}
	types := map[string]map[string]cty.Value{}
	for _, object := range state {
		if object.Mode != tfjson.ManagedResourceMode || object.Index != nil {
			continue
		}
		encoded, err := json.Marshal(object.AttributeValues)
		if err != nil {
			t.Fatal(err)
		}
		kind, err := ctyjson.ImpliedType(encoded)
		if err != nil {
			t.Fatal(err)
		}
		value, err := ctyjson.Unmarshal(encoded, kind)
		if err != nil {
			t.Fatal(err)
		}
		if types[object.Type] == nil {
			types[object.Type] = map[string]cty.Value{}
		}
		types[object.Type][object.Name] = value
	}
	scope := &hcl.EvalContext{
		Variables: map[string]cty.Value{"var": cty.ObjectVal(variables)},
		Functions: map[string]function.Function{"jsonencode": stdlib.JSONEncodeFunc},
	}
	for name, objects := range types {
		scope.Variables[name] = cty.ObjectVal(objects)
	}
	return scope
}

// values evaluates the attributes of a block, nil for none.
func values(t *testing.T, block *hclsyntax.Block, scope *hcl.EvalContext) acctest.Values {
	t.Helper()
	all := acctest.Values{}
	if block == nil {
		return all
	}
	if len(block.Body.Blocks) > 0 {
		t.Fatalf("%s: the tests of examples read no block inside of a %s block", block.Range(), block.Type)
	}
	for name, attribute := range block.Body.Attributes {
		value, diags := attribute.Expr.Value(scope)
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		all[name] = plain(t, value)
	}
	return all
}

// plain gives a value as acctest takes it.
func plain(t *testing.T, value cty.Value) any {
	t.Helper()
	switch kind := value.Type(); {
	case value.IsNull():
		return nil
	case kind == cty.String:
		return value.AsString()
	case kind == cty.Bool:
		return value.True()
	case kind == cty.Number:
		return value.AsBigFloat()
	case kind.IsListType(), kind.IsTupleType(), kind.IsSetType():
		all := []any{}
		for _, element := range value.AsValueSlice() {
			all = append(all, plain(t, element))
		}
		return all
	case kind.IsMapType(), kind.IsObjectType():
		all := map[string]any{}
		for key, element := range value.AsValueMap() {
			all[key] = plain(t, element)
		}
		return all
	default:
		t.Fatalf("a value of type %s", kind.FriendlyName())
		return nil
	}
}

// label is what stands behind a block's type, with dots.
func label(block *hclsyntax.Block) string { return strings.Join(block.Labels, ".") }

// text is an attribute that is plain text.
func text(t *testing.T, block *hclsyntax.Block, name string) string {
	t.Helper()
	attribute, given := block.Body.Attributes[name]
	if !given {
		t.Fatalf("%s: %s is missing", block.Range(), name)
	}
	if traversal, diags := hcl.AbsTraversalForExpr(attribute.Expr); !diags.HasErrors() {
		return traversalText(traversal)
	}
	value, diags := attribute.Expr.Value(nil)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return fmt.Sprint(plain(t, value))
}

func traversalText(traversal hcl.Traversal) string {
	words := make([]string, len(traversal))
	for i, step := range traversal {
		switch step := step.(type) {
		case hcl.TraverseRoot:
			words[i] = step.Name
		case hcl.TraverseAttr:
			words[i] = step.Name
		}
	}
	return strings.Join(words, ".")
}

// asBlock gives an attribute that is an object the form of a block.
func asBlock(t *testing.T, attribute *hclsyntax.Attribute) *hclsyntax.Block {
	t.Helper()
	object, isObject := attribute.Expr.(*hclsyntax.ObjectConsExpr)
	if !isObject {
		t.Fatalf("%s is no object", attribute.Range())
	}
	body := &hclsyntax.Body{Attributes: hclsyntax.Attributes{}}
	for _, item := range object.Items {
		key, diags := item.KeyExpr.Value(nil)
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		body.Attributes[key.AsString()] = &hclsyntax.Attribute{Name: key.AsString(), Expr: item.ValueExpr, SrcRange: attribute.SrcRange}
	}
	return &hclsyntax.Block{Type: attribute.Name, Body: body}
}
