package secrets_test

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

// canary is a secret that was planted.
type canary struct {
	path      string
	value     string
	writeOnly bool
}

// canaries finds the values of the sensitive attributes of a block. missing lists those that have none: nobody would notice if
// they were shown.
func canaries(block *tfprotov6.SchemaBlock, config map[string]any) (found []canary, missing []string) {
	f := &finder{}
	f.block("", block, config)
	return f.found, f.missing
}

type finder struct {
	found   []canary
	missing []string
}

func (f *finder) block(path string, block *tfprotov6.SchemaBlock, values ...any) {
	f.attributes(path, block.Attributes, values)
	for _, nested := range block.BlockTypes {
		f.block(path+nested.TypeName+".", nested.Block, members(values, nested.TypeName, nested.Nesting == tfprotov6.SchemaNestedBlockNestingModeMap)...)
	}
}

func (f *finder) attributes(path string, attributes []*tfprotov6.SchemaAttribute, values []any) {
	for _, a := range attributes {
		switch {
		case a.Computed && !a.Optional:
		case a.NestedType != nil && !a.Sensitive:
			f.attributes(path+a.Name+".", a.NestedType.Attributes, members(values, a.Name, a.NestedType.Nesting == tfprotov6.SchemaObjectNestingModeMap))
		case a.Sensitive || a.WriteOnly:
			planted := 0
			for _, value := range members(values, a.Name, false) {
				for _, text := range texts(value) {
					f.found = append(f.found, canary{path + a.Name, text, a.WriteOnly})
					planted++
				}
			}
			if planted == 0 {
				f.missing = append(f.missing, path+a.Name)
			}
		}
	}
}

// members are what objects hold under a name; of a map of objects, what it holds.
func members(values []any, name string, mapped bool) []any {
	var all []any
	for _, value := range values {
		object, _ := value.(map[string]any)
		switch member := object[name].(type) {
		case nil:
		case []any:
			all = append(all, member...)
		case map[string]any:
			if !mapped {
				all = append(all, member)
				continue
			}
			for _, element := range member {
				all = append(all, element)
			}
		default:
			all = append(all, member)
		}
	}
	return all
}

// texts are the strings of a value.
func texts(value any) []string {
	switch value := value.(type) {
	case string:
		return []string{value}
	case map[string]any:
		var all []string
		for _, element := range value {
			all = append(all, texts(element)...)
		}
		return all
	}
	return nil
}

// shows reports whether a text shows a canary in one of the forms that a reader could read it from.
func (c canary) shows(text string) bool {
	forms := []string{c.value, base64.StdEncoding.EncodeToString([]byte(c.value))}
	if decoded, err := base64.StdEncoding.DecodeString(c.value); err == nil {
		forms = append(forms, string(decoded))
	}
	if quoted, err := json.Marshal(c.value); err == nil {
		forms = append(forms, strings.Trim(string(quoted), `"`))
	}
	// Of a text of several lines each is a secret.
	for line := range strings.Lines(c.value) {
		if line = strings.TrimSpace(line); len(line) > 20 && !strings.HasPrefix(line, "-----") {
			forms = append(forms, line)
		}
	}
	return slices.ContainsFunc(forms, func(form string) bool { return strings.Contains(text, form) })
}

func TestCanariesAreFound(t *testing.T) {
	t.Parallel()
	block := &tfprotov6.SchemaBlock{
		Attributes: []*tfprotov6.SchemaAttribute{
			{Name: "a", Sensitive: true, Optional: true}, {Name: "b", Optional: true}, {Name: "none", WriteOnly: true, Optional: true},
			{Name: "m", Optional: true, NestedType: &tfprotov6.SchemaObject{
				Nesting: tfprotov6.SchemaObjectNestingModeMap, Attributes: []*tfprotov6.SchemaAttribute{{Name: "c", WriteOnly: true, Optional: true}},
			}},
		},
		BlockTypes: []*tfprotov6.SchemaNestedBlock{{
			TypeName: "l", Nesting: tfprotov6.SchemaNestedBlockNestingModeList,
			Block: &tfprotov6.SchemaBlock{Attributes: []*tfprotov6.SchemaAttribute{{Name: "d", Sensitive: true, Optional: true}}},
		}},
	}
	found, missing := canaries(block, map[string]any{
		"a": "A", "b": "B", "m": map[string]any{"x": map[string]any{"c": "C"}}, "l": []any{map[string]any{"d": map[string]any{"k": "D"}}},
	})
	var values []string
	for _, c := range found {
		values = append(values, c.path+"="+c.value)
	}
	if got := strings.Join(values, " "); got != "a=A m.c=C l.d=D" || strings.Join(missing, " ") != "none" {
		t.Errorf("found %s, missing %v", got, missing)
	}
}
