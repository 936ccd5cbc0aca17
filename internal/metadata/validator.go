package metadata

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// Map is a validator of metadata: its keys can be set, and none of its values is null.
func Map() validator.Map { return valid{} }

type valid struct{}

func (valid) Description(context.Context) string {
	return "each key is a name of at most 63 characters, with or without a DNS name and a slash before it, and no value is null"
}

func (v valid) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

func (valid) ValidateMap(_ context.Context, req validator.MapRequest, resp *validator.MapResponse) {
	for key, element := range req.ConfigValue.Elements() {
		if err := CheckKey(key); err != nil {
			resp.Diagnostics.AddAttributeError(req.Path.AtMapKey(key), "Metadata key can't be used",
				"The server doesn't take the key \""+key+"\": "+err.Error()+".")
		}
		if value, ok := element.(types.String); ok && value.IsNull() {
			resp.Diagnostics.AddAttributeError(req.Path.AtMapKey(key), "Metadata is null",
				"Give the key "+key+" a text, or leave it out.")
		}
	}
}
