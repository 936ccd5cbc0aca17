// Package validate holds validators that the schemas of both providers share.
package validate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
)

// Requires is a validator of a single block that needs the named attributes. The framework asks for an attribute that
// the schema calls required even where the whole block is absent, so such an attribute is optional in the schema.
func Requires(names ...string) validator.Object { return requires{names} }

type requires struct{ names []string }

func (v requires) Description(context.Context) string {
	return "needs " + strings.Join(v.names, ", ")
}

func (v requires) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

func (v requires) ValidateObject(_ context.Context, req validator.ObjectRequest, resp *validator.ObjectResponse) {
	if req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() {
		return
	}
	for _, name := range v.names {
		if given := req.ConfigValue.Attributes()[name]; given == nil || given.IsNull() {
			resp.Diagnostics.AddAttributeError(req.Path.AtName(name), fmt.Sprintf("%s has no %s", req.Path, name),
				fmt.Sprintf("This block needs %s. Give it, or leave the whole block out.", name))
		}
	}
}

// ExactlyOne is a validator of an object or block of which exactly one of the named members is given. what completes
// "a volume takes exactly one of ...".
func ExactlyOne(what string, names ...string) validator.Object { return exactlyOne{what, names} }

type exactlyOne struct {
	what  string
	names []string
}

func (v exactlyOne) Description(context.Context) string {
	return "exactly one of " + strings.Join(v.names, ", ") + " is given"
}

func (v exactlyOne) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

func (v exactlyOne) ValidateObject(_ context.Context, req validator.ObjectRequest, resp *validator.ObjectResponse) {
	if req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() {
		return
	}
	given, unknown := Given(req.ConfigValue.Attributes(), v.names...)
	all := strings.Join(v.names, ", ")
	switch {
	case len(given) > 1:
		resp.Diagnostics.AddAttributeError(req.Path, "More than one of "+all,
			fmt.Sprintf("A %s takes exactly one of %s; this one has %s.", v.what, all, strings.Join(given, " and ")))
	case len(given) == 0 && !unknown:
		resp.Diagnostics.AddAttributeError(req.Path, "None of "+all,
			fmt.Sprintf("A %s takes exactly one of %s; this one has none.", v.what, all))
	}
}

// Given names, in their order, those of the attributes that have a value, and says whether one of them may get one.
func Given[V attr.Value](attributes map[string]V, names ...string) (given []string, unknown bool) {
	given = slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		value, ok := attributes[name]
		unknown = unknown || ok && value.IsUnknown()
		return !ok || value.IsNull() || value.IsUnknown()
	})
	return given, unknown
}
