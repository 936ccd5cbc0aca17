package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	tfjson "github.com/hashicorp/terraform-json"

	"github.com/agentenv/terraform-provider-gpuvm/internal/catalog"
	"github.com/agentenv/terraform-provider-gpuvm/internal/providerschema"
)

// root is the module's root, seen from this package's folder, where go test runs.
const root = "../.."

// served is one type with all that its page must tell.
type served struct {
	kind    string // folder of its page
	name    string // with the provider's prefix
	example string // file name of its example
	block   *tfjson.SchemaBlock
}

func servedTypes(t *testing.T, p catalog.Provider) []served {
	t.Helper()
	schema, err := providerschema.Of(t.Context(), constructors[p.Name]("test")())
	if err != nil {
		t.Fatal(err)
	}
	var all []served
	for kind, schemas := range map[string]map[string]*tfjson.Schema{
		"resources":           schema.ResourceSchemas,
		"data-sources":        schema.DataSourceSchemas,
		"ephemeral-resources": schema.EphemeralResourceSchemas,
		"list-resources":      schema.ListResourceSchemas,
	} {
		for name, s := range schemas {
			example := strings.TrimSuffix(kind, "s") + ".tf"
			if kind == "list-resources" {
				example = "list-resource.tfquery.hcl"
			}
			all = append(all, served{kind, name, example, s.Block})
		}
	}
	for name, s := range schema.ActionSchemas {
		all = append(all, served{"actions", name, "action.tf", s.Block})
	}
	return all
}

func (s served) page(p catalog.Provider) string {
	return filepath.Join(root, p.Docs, s.kind, strings.TrimPrefix(s.name, p.Name+"_")+".md")
}

func TestEveryServedTypeHasItsPageAndExample(t *testing.T) {
	t.Parallel()
	for _, p := range catalog.Providers() {
		expected := map[string]bool{}
		for _, s := range servedTypes(t, p) {
			expected[s.page(p)] = true
			for _, file := range []string{s.page(p), filepath.Join(root, p.Examples(), s.kind, s.name, s.example)} {
				if _, err := os.Stat(file); err != nil {
					t.Errorf("%s in %s: %v", s.name, s.kind, err)
				}
			}
		}
		for _, kind := range []string{"resources", "data-sources", "ephemeral-resources", "list-resources", "actions"} {
			found, err := filepath.Glob(filepath.Join(root, p.Docs, kind, "*.md"))
			if err != nil {
				t.Fatal(err)
			}
			for _, page := range found {
				if !expected[page] {
					t.Errorf("%s: no such type is served", page)
				}
			}
		}
	}
}

func TestPagesSayWhatTheSchemaSays(t *testing.T) {
	t.Parallel()
	for _, p := range catalog.Providers() {
		for _, s := range servedTypes(t, p) {
			page, err := os.ReadFile(s.page(p))
			if err != nil {
				t.Error(err)
				continue
			}
			for _, d := range descriptions(s.name, s.block) {
				if !strings.Contains(string(page), d.text) {
					t.Errorf("%s: the page of %s doesn't say %q", d.path, s.kind, d.text)
				}
			}
		}
	}
}

// description is what one attribute or block says of itself.
type description struct {
	path     string
	text     string
	optional bool   // an argument that may be left out
	within   string // what the attribute or block around it says
}

// descriptions walks a block in the order of its paths.
func descriptions(path string, block *tfjson.SchemaBlock) []description {
	all := attributeDescriptions(path, block.Description, block.Attributes)
	for _, name := range slices.Sorted(maps.Keys(block.NestedBlocks)) {
		nested := block.NestedBlocks[name].Block
		all = append(all, description{path: path + "." + name, text: nested.Description})
		all = append(all, descriptions(path+"."+name, nested)...)
	}
	return all
}

func attributeDescriptions(path, within string, attributes map[string]*tfjson.SchemaAttribute) []description {
	var all []description
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		a := attributes[name]
		all = append(all, description{path + "." + name, strings.TrimSpace(a.Description), a.Optional, within})
		if a.AttributeNestedType != nil {
			all = append(all, attributeDescriptions(path+"."+name, a.Description, a.AttributeNestedType.Attributes)...)
		}
	}
	return all
}

// saysWhenAbsent is whether a reader learns what holds where an optional argument is left out.
func (d description) saysWhenAbsent() bool {
	return strings.Contains(d.within+d.text, "xactly one of") ||
		slices.ContainsFunc([]string{"efaults to ", "absent", "required in"}, func(s string) bool { return strings.Contains(d.text, s) })
}

func TestEverythingIsDescribed(t *testing.T) {
	t.Parallel()
	for _, p := range catalog.Providers() {
		schema, err := providerschema.Of(t.Context(), constructors[p.Name]("test")())
		if err != nil {
			t.Fatal(err)
		}
		all := descriptions("provider "+p.Name, schema.ConfigSchema.Block)
		for _, s := range servedTypes(t, p) {
			all = append(all, description{path: s.name, text: s.block.Description})
			all = append(all, descriptions(fmt.Sprintf("%s of %s", s.name, s.kind), s.block)...)
		}
		for _, d := range all {
			switch {
			case d.text == "":
				t.Errorf("%s has no description", d.path)
			case !strings.HasSuffix(d.text, "."):
				t.Errorf("%s: %q doesn't end as a sentence does", d.path, d.text)
			case d.optional && !d.saysWhenAbsent():
				t.Errorf("%s: %q doesn't say what it defaults to", d.path, d.text)
			}
		}
	}
}
