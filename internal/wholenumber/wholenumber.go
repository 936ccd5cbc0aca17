// Package wholenumber is the type of attributes that take whole numbers: the framework's Int64 with a message that a
// user can read where the configuration holds a fraction.
package wholenumber

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/attr/xattr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

var (
	_ basetypes.Int64Typable      = Type{}
	_ basetypes.Int64Valuable     = Value{}
	_ xattr.ValidateableAttribute = Value{}
)

// Type is an Int64 type that keeps what it can't hold until validation, which then says so.
type Type struct{ basetypes.Int64Type }

// Equal says whether the other type is this one.
func (Type) Equal(other attr.Type) bool {
	_, ok := other.(Type)
	return ok
}

// String names the type in messages.
func (Type) String() string { return "wholenumber.Type" }

// Validate leaves it to the value and to Elements to refuse a number: the message of the embedded type is not one for
// users. The framework still calls it for the elements of a collection.
func (Type) Validate(context.Context, tftypes.Value, path.Path) diag.Diagnostics { return nil }

// ValueType is the type's value.
func (Type) ValueType(context.Context) attr.Value { return Value{} }

// ValueFromInt64 wraps a stock value.
func (Type) ValueFromInt64(_ context.Context, v basetypes.Int64Value) (basetypes.Int64Valuable, diag.Diagnostics) {
	return Value{Int64Value: v}, nil
}

// ValueFromTerraform never fails for a number: one that isn't whole is kept as text for ValidateAttribute.
func (Type) ValueFromTerraform(_ context.Context, in tftypes.Value) (attr.Value, error) {
	if !in.IsKnown() {
		return Unknown(), nil
	}
	if in.IsNull() {
		return Null(), nil
	}
	var number *big.Float
	if err := in.As(&number); err != nil {
		return nil, fmt.Errorf("reading a number: %w", err)
	}
	whole, accuracy := number.Int64()
	if !number.IsInt() || accuracy != big.Exact {
		return Value{Int64Value: basetypes.NewInt64Value(whole), refused: number.Text('g', 20)}, nil
	}
	return Of(whole), nil
}

// Value is a whole number, null or unknown.
type Value struct {
	basetypes.Int64Value
	refused string // the configured number where it isn't a whole one of 64 bits
}

// Of is the known value n.
func Of(n int64) Value { return Value{Int64Value: basetypes.NewInt64Value(n)} }

// Null is the null value.
func Null() Value { return Value{Int64Value: basetypes.NewInt64Null()} }

// Unknown is the unknown value.
func Unknown() Value { return Value{Int64Value: basetypes.NewInt64Unknown()} }

// Type is the value's type.
func (Value) Type(context.Context) attr.Type { return Type{} }

// Equal says whether the other value is the same whole number.
func (v Value) Equal(other attr.Value) bool {
	o, ok := other.(Value)
	return ok && v.refused == o.refused && v.Int64Value.Equal(o.Int64Value)
}

// ValidateAttribute refuses what isn't a whole number. The framework calls it for an attribute of this type, not for
// the elements of a collection: see Elements.
func (v Value) ValidateAttribute(_ context.Context, req xattr.ValidateAttributeRequest, resp *xattr.ValidateAttributeResponse) {
	if v.refused != "" {
		resp.Diagnostics.AddAttributeError(req.Path, "Not a whole number", v.complaint())
	}
}

func (v Value) complaint() string {
	return fmt.Sprintf("%s is not a whole number. Give one without a fraction, of at most 64 bits.", v.refused)
}

// Sorted gives the elements of a set of whole numbers in ascending order, without those that aren't known.
func Sorted(set basetypes.SetValue) []int64 {
	numbers := []int64{}
	for _, element := range set.Elements() {
		if number, ok := element.(Value); ok && !number.IsNull() && !number.IsUnknown() {
			numbers = append(numbers, number.ValueInt64())
		}
	}
	slices.Sort(numbers)
	return numbers
}

// longest is longer than anything here lasts, and so much shorter than the longest duration that no sum of two overflows.
const longest = 100 * 365 * 24 * time.Hour

// Seconds is the number as a duration in seconds, of at most 100 years.
func (v Value) Seconds() time.Duration {
	return time.Duration(min(v.ValueInt64(), int64(longest/time.Second))) * time.Second
}
