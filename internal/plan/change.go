// Package plan holds what the resources' ModifyPlan methods share: which change replaces an object, what stays known,
// how an imported object is adopted.
package plan

import (
	"context"
	"slices"
	"strconv"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentenv/terraform-provider-gpuvm/internal/fields"
)

// Change is a planned change of an object that stands: its top-level attributes and blocks before, after, and as
// configured.
type Change struct {
	State, Plan, Config map[string]tftypes.Value
}

// ChangeOf reads the change that a plan request asks about; ok is false where an object is made or destroyed.
func ChangeOf(req resource.ModifyPlanRequest) (change Change, ok bool) {
	if req.State.Raw.IsNull() || req.Plan.Raw.IsNull() {
		return Change{}, false
	}
	return Change{State: valuesOf(req.State.Raw), Plan: valuesOf(req.Plan.Raw), Config: valuesOf(req.Config.Raw)}, true
}

func valuesOf(raw tftypes.Value) map[string]tftypes.Value {
	object, _ := fields.Of(raw, nil)
	return object.Values
}

// Of gives those of the named attributes that change in a way that matters. A default that fills a null isn't one (an
// upgrade that adds a defaulted attribute must not rebuild a fleet), nor is null against empty; both hold inside of
// objects and blocks too.
func (c Change) Of(names ...string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return same(c.State[name], c.Plan[name], c.Config[name])
	})
}

// same says whether a planned value means what stands before it.
func same(before, after, config tftypes.Value) bool {
	if before.Equal(after) || isEmpty(before) && isEmpty(after) || before.IsNull() && isEmpty(config) {
		return true
	}
	was, is, written := members(before), members(after), members(config)
	if was == nil || is == nil || len(was) != len(is) {
		return false
	}
	for key, value := range was {
		if planned, ok := is[key]; !ok || !same(value, planned, written[key]) {
			return false
		}
	}
	return true
}

// members are the parts of an object, a map or a list, by name or index; nil for what has none, or isn't known. The
// elements of a set have no name to compare them by.
func members(v tftypes.Value) map[string]tftypes.Value {
	if v.IsNull() || !v.IsKnown() {
		return nil
	}
	switch {
	case v.Type().Is(tftypes.Object{}), v.Type().Is(tftypes.Map{}):
		named := map[string]tftypes.Value{}
		if v.As(&named) == nil {
			return named
		}
	case v.Type().Is(tftypes.List{}):
		var elements []tftypes.Value
		if v.As(&elements) == nil {
			numbered := map[string]tftypes.Value{}
			for i, element := range elements {
				numbered[strconv.Itoa(i)] = element
			}
			return numbered
		}
	}
	return nil
}

// isEmpty says whether a value is null, an empty text or collection, or an object of which everything is empty.
func isEmpty(v tftypes.Value) bool {
	if v.IsNull() {
		return true
	}
	if !v.IsKnown() {
		return false
	}
	switch {
	case v.Type().Is(tftypes.String):
		var text string
		return v.As(&text) == nil && text == ""
	case v.Type().Is(tftypes.Set{}):
		var elements []tftypes.Value
		return v.As(&elements) == nil && len(elements) == 0
	case v.Type().Is(tftypes.List{}), v.Type().Is(tftypes.Map{}):
		return len(members(v)) == 0
	case v.Type().Is(tftypes.Object{}):
		for _, member := range members(v) {
			if !isEmpty(member) {
				return false
			}
		}
		return true
	}
	return false
}

// Keep plans the named computed attributes as they stand in the state, whatever else changes. The framework's
// UseStateForUnknown leaves a null in state unknown; what can't change stays null here.
func (c Change) Keep(_ context.Context, resp *resource.ModifyPlanResponse, names ...string) {
	kept, err := tftypes.Transform(resp.Plan.Raw, func(at *tftypes.AttributePath, v tftypes.Value) (tftypes.Value, error) {
		steps := at.Steps()
		if len(steps) != 1 {
			return v, nil
		}
		if name, ok := steps[0].(tftypes.AttributeName); ok && slices.Contains(names, string(name)) {
			return c.State[string(name)], nil
		}
		return v, nil
	})
	if err != nil {
		resp.Diagnostics.AddError("The plan can't be made", "Keeping computed attributes failed: "+err.Error())
		return
	}
	resp.Plan.Raw = kept
}

// Replace marks the named attributes: their change replaces the object.
func Replace(resp *resource.ModifyPlanResponse, names ...string) {
	for _, name := range names {
		resp.RequiresReplace = append(resp.RequiresReplace, path.Root(name))
	}
}

// Known is an object with every unknown made null: what can be kept of a plan whose apply failed.
func Known(object tftypes.Value) tftypes.Value {
	known, err := tftypes.Transform(object, func(_ *tftypes.AttributePath, v tftypes.Value) (tftypes.Value, error) {
		if !v.IsKnown() {
			return tftypes.NewValue(v.Type(), nil), nil
		}
		return v, nil
	})
	if err != nil {
		return object
	}
	return known
}
