package plan

import (
	"slices"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

func TestWhichChangesMatter(t *testing.T) {
	text := func(v any) tftypes.Value { return tftypes.NewValue(tftypes.String, v) }
	mapType := tftypes.Map{ElementType: tftypes.String}
	entries := func(v any) tftypes.Value { return tftypes.NewValue(mapType, v) }
	none, one := map[string]tftypes.Value{}, map[string]tftypes.Value{"a": text("b")}
	for title, c := range map[string]struct {
		state, plan, config tftypes.Value
		matters             bool
	}{
		"same":                             {text("a"), text("a"), text("a"), false},
		"changed":                          {text("a"), text("b"), text("b"), true},
		"removed":                          {text("a"), text(nil), text(nil), true},
		"set":                              {text(nil), text("a"), text("a"), true},
		"default fills a null":             {text(nil), text("default"), text(nil), false},
		"default replaces a value":         {text("a"), text("default"), text(nil), true},
		"null and empty text":              {text(nil), text(""), text(""), false},
		"empty text and null":              {text(""), text(nil), text(nil), false},
		"null and empty map":               {entries(nil), entries(none), entries(none), false},
		"empty map and null":               {entries(none), entries(nil), entries(nil), false},
		"map filled":                       {entries(none), entries(one), entries(one), true},
		"becomes known later":              {text("a"), text(tftypes.UnknownValue), text(tftypes.UnknownValue), true},
		"null becomes known later":         {text(nil), text(tftypes.UnknownValue), text(tftypes.UnknownValue), true},
		"default for a null, set to empty": {entries(nil), entries(one), entries(none), false},
	} {
		change := Change{
			State: map[string]tftypes.Value{"x": c.state}, Plan: map[string]tftypes.Value{"x": c.plan}, Config: map[string]tftypes.Value{"x": c.config},
		}
		if got := slices.Contains(change.Of("x"), "x"); got != c.matters {
			t.Errorf("%s: got %v, want %v", title, got, c.matters)
		}
	}
}

func TestKnownMakesEachUnknownNull(t *testing.T) {
	object := tftypes.Object{AttributeTypes: map[string]tftypes.Type{"a": tftypes.String, "m": tftypes.Map{ElementType: tftypes.String}}}
	in := tftypes.NewValue(object, map[string]tftypes.Value{
		"a": tftypes.NewValue(tftypes.String, tftypes.UnknownValue),
		"m": tftypes.NewValue(tftypes.Map{ElementType: tftypes.String}, map[string]tftypes.Value{"80": tftypes.NewValue(tftypes.String, tftypes.UnknownValue)}),
	})
	if known := Known(in); !known.IsFullyKnown() {
		t.Errorf("got %s", known)
	}
}
