package main

import (
	"context"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"

	"github.com/agentenv/terraform-provider-gpuvm/internal/catalog"
)

// describer is what the framework's defaults and plan modifiers say of themselves.
type describer interface{ Description(context.Context) string }

// documented is what the framework's attributes and blocks have in common here.
type documented interface{ GetMarkdownDescription() string }

// TestDescriptionsAgreeWithTheCode holds each resource's descriptions against its default values and against what
// replaces the object: both stand in code, so the text could come to lie.
func TestDescriptionsAgreeWithTheCode(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	for _, p := range catalog.Providers() {
		for _, newResource := range constructors[p.Name]("test")().Resources(ctx) {
			r := newResource()
			var metadata resource.MetadataResponse
			r.Metadata(ctx, resource.MetadataRequest{ProviderTypeName: p.Name}, &metadata)
			var answer resource.SchemaResponse
			r.Schema(ctx, resource.SchemaRequest{}, &answer)
			for name, attribute := range answer.Schema.Attributes {
				checkAttribute(t, metadata.TypeName+"."+name, attribute)
			}
			for name, block := range answer.Schema.Blocks {
				checkBlock(t, metadata.TypeName+"."+name, block)
			}
		}
	}
}

func checkAttribute(t *testing.T, path string, attribute documented) {
	t.Helper()
	checkDefault(t, path, attribute)
	checkReplacement(t, path, attribute)
	if nested, ok := attribute.(schema.NestedAttribute); ok {
		for name, inner := range nested.GetNestedObject().GetAttributes() {
			checkAttribute(t, path+"."+name, inner)
		}
	}
}

func checkBlock(t *testing.T, path string, block schema.Block) {
	t.Helper()
	checkReplacement(t, path, block)
	for name, inner := range block.GetNestedObject().GetAttributes() {
		checkAttribute(t, path+"."+name, inner)
	}
	for name, inner := range block.GetNestedObject().GetBlocks() {
		if nested, ok := inner.(schema.Block); ok {
			checkBlock(t, path+"."+name, nested)
		}
	}
}

// checkDefault expects "Defaults to `8192`" where the code has the default 8192, and "Defaults to none" for an empty
// collection.
func checkDefault(t *testing.T, path string, attribute documented) {
	t.Helper()
	field := reflect.ValueOf(attribute).FieldByName("Default")
	if !field.IsValid() || field.IsNil() {
		return
	}
	said, ok := field.Interface().(describer)
	if !ok {
		t.Errorf("%s: its default doesn't describe itself", path)
		return
	}
	_, value, found := strings.Cut(said.Description(t.Context()), "defaults to ")
	if !found {
		t.Errorf("%s: its default says %q, which names no value", path, said.Description(t.Context()))
		return
	}
	if number, err := strconv.ParseFloat(value, 64); err == nil {
		value = strconv.FormatFloat(number, 'f', -1, 64) // the framework says 10.000000
	}
	want := "Defaults to `" + value + "`"
	if value == "[]" || value == "{}" {
		want = "Defaults to none"
	}
	if !strings.Contains(attribute.GetMarkdownDescription(), want) {
		t.Errorf("%s: %q doesn't say %q", path, attribute.GetMarkdownDescription(), want)
	}
}

// checkReplacement expects the word "replaces" where a plan modifier can replace the object. Plan modifiers of
// computed attributes have nothing to tell a user: no argument changes there.
func checkReplacement(t *testing.T, path string, of documented) {
	t.Helper()
	if a, ok := of.(schema.Attribute); ok && !a.IsOptional() && !a.IsRequired() {
		return
	}
	modifiers := reflect.ValueOf(of).FieldByName("PlanModifiers")
	if !modifiers.IsValid() {
		return
	}
	for i := range modifiers.Len() {
		modifier, ok := modifiers.Index(i).Interface().(describer)
		if !ok {
			continue
		}
		said := strings.ToLower(modifier.Description(t.Context()))
		if (strings.Contains(said, "recreate") || strings.Contains(said, "replace")) && !strings.Contains(of.GetMarkdownDescription(), "replace") {
			t.Errorf("%s: %q doesn't say that a change replaces", path, of.GetMarkdownDescription())
		}
	}
}
