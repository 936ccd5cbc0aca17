package terraformcore

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// Unknown stands in a configuration for a value that isn't known yet.
var Unknown any = unknown{}

type unknown struct{}

// valueOf makes a value of a type from plain Go values: nil is null, Unknown is unknown, the rest is as in JSON.
func valueOf(t tftypes.Type, plain any) (tftypes.Value, error) {
	switch plain {
	case nil:
		return tftypes.NewValue(t, nil), nil
	case Unknown:
		return tftypes.NewValue(t, tftypes.UnknownValue), nil
	}
	switch t := t.(type) {
	case tftypes.List:
		return listOf(t, t.ElementType, plain)
	case tftypes.Set:
		return listOf(t, t.ElementType, plain)
	case tftypes.Map:
		given, ok := plain.(map[string]any)
		if !ok {
			return tftypes.Value{}, fmt.Errorf("%T is no map", plain)
		}
		elements := map[string]tftypes.Value{}
		for key, element := range given {
			value, err := valueOf(t.ElementType, element)
			if err != nil {
				return tftypes.Value{}, fmt.Errorf("%s: %w", key, err)
			}
			elements[key] = value
		}
		return tftypes.NewValue(t, elements), nil
	case tftypes.Object:
		return objectOf(t, plain)
	}
	return primitiveOf(t, plain)
}

func listOf(t, element tftypes.Type, plain any) (tftypes.Value, error) {
	given, ok := plain.([]any)
	if !ok {
		return tftypes.Value{}, fmt.Errorf("%T is no list", plain)
	}
	elements := []tftypes.Value{}
	for i, one := range given {
		value, err := valueOf(element, one)
		if err != nil {
			return tftypes.Value{}, fmt.Errorf("%d: %w", i, err)
		}
		elements = append(elements, value)
	}
	return tftypes.NewValue(t, elements), nil
}

// objectOf reads an object. What is left out is null, or empty where it stands for a repeated block: Terraform never hands
// over a null list of blocks.
func objectOf(t tftypes.Object, plain any) (tftypes.Value, error) {
	given, ok := plain.(map[string]any)
	if !ok {
		return tftypes.Value{}, fmt.Errorf("%T is no object", plain)
	}
	fields := map[string]tftypes.Value{}
	for name, of := range t.AttributeTypes {
		value, err := valueOf(of, given[name])
		if err != nil {
			return tftypes.Value{}, fmt.Errorf("%s: %w", name, err)
		}
		fields[name] = value
	}
	for name := range given {
		if _, known := fields[name]; !known {
			return tftypes.Value{}, fmt.Errorf("there is no %s", name)
		}
	}
	return tftypes.NewValue(t, fields), nil
}

func primitiveOf(t tftypes.Type, plain any) (tftypes.Value, error) {
	switch value := plain.(type) {
	case int:
		plain = big.NewFloat(float64(value))
	case float64:
		plain = big.NewFloat(value)
	case json.Number:
		number, _, err := big.ParseFloat(value.String(), 10, 512, big.ToNearestEven)
		if err != nil {
			return tftypes.Value{}, err
		}
		plain = number
	}
	if err := tftypes.ValidateValue(t, plain); err != nil {
		return tftypes.Value{}, err
	}
	return tftypes.NewValue(t, plain), nil
}

// Plain is the opposite of valueOf: what encoding/json would read, with Unknown where a value isn't known.
func Plain(v tftypes.Value) any {
	switch {
	case !v.IsKnown():
		return Unknown
	case v.IsNull():
		return nil
	}
	if text := new(string); v.As(text) == nil {
		return *text
	}
	if truth := new(bool); v.As(truth) == nil {
		return *truth
	}
	if number := new(big.Float); v.As(number) == nil {
		return json.Number(number.Text('g', -1))
	}
	if isKeyed(v.Type()) {
		plain := map[string]any{}
		for key, element := range fields(v) {
			plain[key] = Plain(element)
		}
		return plain
	}
	plain := []any{}
	for _, element := range elements(v) {
		plain = append(plain, Plain(element))
	}
	return plain
}

func isKeyed(t tftypes.Type) bool { return t.Is(tftypes.Map{}) || t.Is(tftypes.Object{}) }

// MarshalJSON writes an unknown value as no state could hold it.
func (unknown) MarshalJSON() ([]byte, error) { return []byte(`"(unknown)"`), nil }

// fields gives the members of an object or a map; none of one that is null or unknown.
func fields(v tftypes.Value) map[string]tftypes.Value {
	var members map[string]tftypes.Value
	if v.IsNull() || !v.IsKnown() || v.As(&members) != nil {
		return nil
	}
	return members
}

// elements gives the members of a list or a set; none of one that is null or unknown.
func elements(v tftypes.Value) []tftypes.Value {
	var members []tftypes.Value
	if v.IsNull() || !v.IsKnown() || v.As(&members) != nil {
		return nil
	}
	return members
}

// field is one member, null of the given type where there is none.
func field(v tftypes.Value, name string, t tftypes.Type) tftypes.Value {
	if member, ok := fields(v)[name]; ok {
		return member
	}
	return tftypes.NewValue(t, nil)
}

// at is a place in a value, for messages.
type at string

func (a at) name(name string) at {
	if a == "" {
		return at(name)
	}
	return a + "." + at(name)
}

func (a at) key(key any) at {
	if text, ok := key.(string); ok {
		return a + at("["+strconv.Quote(text)+"]")
	}
	return a + at(fmt.Sprintf("[%v]", key))
}

// shown is a value in a message.
func shown(v tftypes.Value) string {
	encoded, err := json.Marshal(Plain(v))
	if err != nil {
		return err.Error()
	}
	return string(encoded)
}

func sortedNames[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
