package validate

import (
	"context"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
)

// Variables is a validator of environment variables.
func Variables() validator.Map { return variables{} }

type variables struct{}

func (variables) Description(context.Context) string {
	return "each key is the name of a variable, and no value is null"
}

func (v variables) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

func (variables) ValidateMap(_ context.Context, req validator.MapRequest, resp *validator.MapResponse) {
	for name, element := range req.ConfigValue.Elements() {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			resp.Diagnostics.AddAttributeError(req.Path.AtMapKey(name), "Variable can't be set", fmt.Sprintf("The name %q is empty, or holds an equals sign or a zero byte.", name))
		}
		if element.IsNull() {
			resp.Diagnostics.AddAttributeError(req.Path.AtMapKey(name), "Variable is null", "Give the variable "+name+" a text, which may be empty, or leave it out.")
		}
	}
}
