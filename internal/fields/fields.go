// Package fields turns objects of Terraform into the models of resources, and compares those. The framework turns them too, but
// compiles a regular expression for each field each time; this is for the calls that a fleet makes many of.
package fields

import (
	"context"
	"reflect"
	"sync"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/attr/xattr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// Object is an object of Terraform: its attributes and blocks, and their types.
type Object struct {
	Values map[string]tftypes.Value
	Kinds  map[string]attr.Type
}

// Of takes an object apart; ok is false for one that is null or not known.
func Of(raw tftypes.Value, kinds map[string]attr.Type) (object Object, ok bool) {
	object.Kinds = kinds
	return object, !raw.IsNull() && raw.IsKnown() && raw.As(&object.Values) == nil
}

// IsNull says whether the object has an attribute or a block of that name that is null.
func (o Object) IsNull(name string) bool {
	value, ok := o.Values[name]
	return ok && value.IsNull()
}

// Text is an attribute that is a text; "" where it is null or not known.
func (o Object) Text(name string) string {
	var text string
	if v := o.Values[name]; v.IsNull() || !v.IsKnown() || v.As(&text) != nil {
		return ""
	}
	return text
}

// Value is an attribute or a block as the framework has it; nil where it can't be.
func (o Object) Value(ctx context.Context, name string) attr.Value {
	kind, ok := o.Kinds[name]
	if !ok {
		return nil
	}
	value, err := kind.ValueFromTerraform(ctx, o.Values[name])
	if err != nil {
		return nil
	}
	return value
}

// Into fills a model: a pointer to a struct whose fields are named by tfsdk tags. ok is false where a value doesn't fit.
func (o Object) Into(ctx context.Context, model any) (ok bool) {
	return o.into(ctx, model, func(string, attr.Value) {})
}

// into is Into that shows each value.
func (o Object) into(ctx context.Context, model any, show func(name string, value attr.Value)) (ok bool) {
	target := reflect.ValueOf(model).Elem()
	for name, index := range tagged(target.Type()) {
		found := o.Value(ctx, name)
		value := reflect.ValueOf(found)
		field := target.FieldByIndex(index)
		if !value.IsValid() || !value.Type().AssignableTo(field.Type()) {
			return false
		}
		field.Set(value)
		show(name, found)
	}
	return true
}

// typed is a schema.
type typed interface{ Type() attr.Type }

// Get fills a model from a configuration, a plan or a state, and has each value that can check itself do so.
func Get(ctx context.Context, schema typed, raw tftypes.Value, model any) (diags diag.Diagnostics) {
	kind, isObject := schema.Type().(attr.TypeWithAttributeTypes)
	if isObject {
		check := func(name string, value attr.Value) {
			if value, ok := value.(xattr.ValidateableAttribute); ok {
				var resp xattr.ValidateAttributeResponse
				value.ValidateAttribute(ctx, xattr.ValidateAttributeRequest{Path: path.Root(name)}, &resp)
				diags.Append(resp.Diagnostics...)
			}
		}
		if object, ok := Of(raw, kind.AttributeTypes()); ok && object.into(ctx, model, check) {
			return diags
		}
	}
	diags.AddError("Value can't be read", "This is a fault of the provider: its schema and its model differ. Please report it.")
	return diags
}

// Same says whether two models hold the same values.
func Same[Model any](a, b Model) bool {
	left, right := reflect.ValueOf(a), reflect.ValueOf(b)
	for _, index := range tagged(left.Type()) {
		is, _ := left.FieldByIndex(index).Interface().(attr.Value)
		was, _ := right.FieldByIndex(index).Interface().(attr.Value)
		if is == nil || was == nil || !is.Equal(was) {
			return false
		}
	}
	return true
}

var known sync.Map // of reflect.Type to map[string][]int

// tagged gives where each named field of a model stands.
func tagged(model reflect.Type) map[string][]int {
	if fields, ok := known.Load(model); ok {
		return fields.(map[string][]int) //nolint:forcetypeassert // nothing else is stored
	}
	fields := map[string][]int{}
	for _, field := range reflect.VisibleFields(model) {
		if name := field.Tag.Get("tfsdk"); name != "" {
			fields[name] = field.Index
		}
	}
	known.Store(model, fields)
	return fields
}
