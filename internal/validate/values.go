package validate

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// MoreThanZero is a validator of sizes: the stock one has only "at least".
func MoreThanZero() validator.Float64 { return moreThanZero{} }

type moreThanZero struct{}

func (moreThanZero) Description(context.Context) string { return "is more than 0" }

func (v moreThanZero) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

func (moreThanZero) ValidateFloat64(_ context.Context, req validator.Float64Request, resp *validator.Float64Response) {
	if !req.ConfigValue.IsNull() && !req.ConfigValue.IsUnknown() && req.ConfigValue.ValueFloat64() <= 0 {
		resp.Diagnostics.AddAttributeError(req.Path, "Number out of range", fmt.Sprintf("%v is not more than 0.", req.ConfigValue.ValueFloat64()))
	}
}

// NoNulls is a validator of maps of text: a null value would be an entry that is neither there nor absent. what is the
// word for an entry: "Label".
func NoNulls(what string) validator.Map { return noNulls{what} }

type noNulls struct{ what string }

func (noNulls) Description(context.Context) string { return "no value is null" }

func (v noNulls) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

func (v noNulls) ValidateMap(_ context.Context, req validator.MapRequest, resp *validator.MapResponse) {
	for key, element := range req.ConfigValue.Elements() {
		if value, ok := element.(types.String); ok && value.IsNull() {
			resp.Diagnostics.AddAttributeError(req.Path.AtMapKey(key), v.what+" is null",
				"Give "+key+" a text, which may be empty, or leave its key out.")
		}
	}
}

// NoNullElements is a validator of lists of text.
func NoNullElements() validator.List { return noNullElements{} }

type noNullElements struct{}

func (noNullElements) Description(context.Context) string { return "no element is null" }

func (v noNullElements) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

func (noNullElements) ValidateList(_ context.Context, req validator.ListRequest, resp *validator.ListResponse) {
	for i, element := range req.ConfigValue.Elements() {
		if element.IsNull() {
			resp.Diagnostics.AddAttributeError(req.Path.AtListIndex(i), "Null element", "Give the element a text, or leave it out.")
		}
	}
}
