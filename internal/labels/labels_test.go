package labels

import (
	"maps"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

func TestStampTellsDriftFromWhatTheServiceRewrote(t *testing.T) {
	stamp := Stamp{
		Sent:     map[string]string{"same": "a", "rewritten": "b", "dropped": "c", "changed": "d", "removed": "e"},
		Answered: map[string]string{"same": "a", "rewritten": "B", "changed": "d", "removed": "e", "foreign": "x"},
	}
	live := map[string]string{"same": "a", "rewritten": "B", "changed": "D", "foreign": "y"}
	got := stamp.Now([]string{"same", "rewritten", "dropped", "changed", "removed", "unknown"}, live)
	want := map[string]string{"same": "a", "rewritten": "b", "dropped": "c", "changed": "D"}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestMergeLaterWins(t *testing.T) {
	got := Merge(map[string]string{"a": "attribution", "b": "attribution"}, map[string]string{"b": "default", "c": "default"}, nil, map[string]string{"c": "own"})
	if want := map[string]string{"a": "attribution", "b": "default", "c": "own"}; !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestEffectiveIsUnknownWhileAPartIs(t *testing.T) {
	known := types.MapValueMust(types.StringType, map[string]attr.Value{"a": types.StringValue("1")})
	part := types.MapValueMust(types.StringType, map[string]attr.Value{"a": types.StringUnknown()})
	unknown, null := types.MapUnknown(types.StringType), types.MapNull(types.StringType)
	for title, c := range map[string]struct {
		own, defaults types.Map
		known         bool
	}{
		"both known":       {known, known, true},
		"both null":        {null, null, true},
		"own unknown":      {unknown, known, false},
		"a value unknown":  {part, known, false},
		"defaults unknown": {known, unknown, false},
	} {
		var diags diag.Diagnostics
		if got := Effective(t.Context(), c.own, c.defaults, &diags); got.IsUnknown() == c.known || diags.HasError() {
			t.Errorf("%s: got %v, %v", title, got, diags)
		}
	}
}
