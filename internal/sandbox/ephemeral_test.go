package sandbox

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/ephemeral/schema"
	of "github.com/hashicorp/terraform-plugin-framework/resource/schema"
)

func TestEphemeralTakesTheSameArguments(t *testing.T) {
	t.Parallel()
	if want, got := slices.Sorted(maps.Keys(Attributes())), slices.Sorted(maps.Keys(EphemeralAttributes())); !slices.Equal(want, got) {
		t.Errorf("attributes %v, want %v", got, want)
	}
	if want, got := slices.Sorted(maps.Keys(Blocks())), slices.Sorted(maps.Keys(EphemeralBlocks())); !slices.Equal(want, got) {
		t.Errorf("blocks %v, want %v", got, want)
	}
	sameAttributes(t, "", Attributes(), EphemeralAttributes())
	for name, block := range Blocks() {
		sameBlock(t, name, block, EphemeralBlocks()[name])
	}
}

func sameAttributes(t *testing.T, at string, want map[string]of.Attribute, got map[string]schema.Attribute) {
	t.Helper()
	for name, attribute := range want {
		counterpart := got[name]
		if counterpart == nil || !attribute.GetType().Equal(counterpart.GetType()) || attribute.IsRequired() != counterpart.IsRequired() ||
			attribute.IsOptional() != counterpart.IsOptional() || attribute.IsSensitive() != counterpart.IsSensitive() || counterpart.IsComputed() {
			t.Errorf("%s%s: its counterpart is %+v", at, name, counterpart)
		}
		checkText(t, at+name, attribute.GetMarkdownDescription(), counterpart.GetMarkdownDescription())
	}
}

func sameBlock(t *testing.T, at string, want of.Block, got schema.Block) {
	t.Helper()
	checkText(t, at, want.GetMarkdownDescription(), got.GetMarkdownDescription())
	for name, attribute := range want.GetNestedObject().GetAttributes() {
		counterpart, ok := got.GetNestedObject().GetAttributes()[name]
		if !ok || !attribute.GetType().Equal(counterpart.GetType()) {
			t.Errorf("%s.%s has no counterpart", at, name)
			continue
		}
		checkText(t, at+"."+name, attribute.GetMarkdownDescription(), counterpart.GetMarkdownDescription())
	}
	for name := range want.GetNestedObject().GetBlocks() {
		if _, ok := got.GetNestedObject().GetBlocks()[name]; !ok {
			t.Errorf("the block %s.%s has no counterpart", at, name)
		}
	}
}

// checkText: nothing that is no state's knows of states, plans and later changes; defaults and ranges hold for both.
func checkText(t *testing.T, at, resource, ephemeral string) {
	t.Helper()
	for _, word := range []string{"replace", " state", "change", "plans", "at plan", "write-only", "_version"} {
		if strings.Contains(ephemeral, word) {
			t.Errorf("%s: %q speaks of %q", at, ephemeral, word)
		}
	}
	if ephemeral == "" || !strings.HasSuffix(ephemeral, ".") {
		t.Errorf("%s: the description is %q", at, ephemeral)
	}
	if _, after, found := strings.Cut(resource, "Defaults to "); found {
		if said, _, _ := strings.Cut(after, ","); !strings.Contains(ephemeral, "Defaults to "+strings.TrimSuffix(said, ".")) {
			t.Errorf("%s: %q lacks the default of %q", at, ephemeral, resource)
		}
	}
}
