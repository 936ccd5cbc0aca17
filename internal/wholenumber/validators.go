package wholenumber

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
)

// Elements is a validator of a set whose elements are whole numbers from low to high.
func Elements(low, high int64) validator.Set { return elements{low, high} }

type elements struct{ low, high int64 }

func (e elements) Description(context.Context) string {
	return fmt.Sprintf("each element is a whole number from %d to %d", e.low, e.high)
}

func (e elements) MarkdownDescription(ctx context.Context) string { return e.Description(ctx) }

func (e elements) ValidateSet(_ context.Context, req validator.SetRequest, resp *validator.SetResponse) {
	if req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() {
		return
	}
	for _, element := range req.ConfigValue.Elements() {
		number, ok := element.(Value)
		at := req.Path.AtSetValue(element)
		switch {
		case !ok || number.IsUnknown():
		case number.IsNull():
			resp.Diagnostics.AddAttributeError(at, "Null element", fmt.Sprintf("An element is null. Each has to be a whole number from %d to %d.", e.low, e.high))
		case number.refused != "":
			resp.Diagnostics.AddAttributeError(at, "Not a whole number", number.complaint())
		case number.ValueInt64() < e.low || number.ValueInt64() > e.high:
			resp.Diagnostics.AddAttributeError(at, "Number out of range", fmt.Sprintf("%d is not from %d to %d.", number.ValueInt64(), e.low, e.high))
		}
	}
}
