package sandbox

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/ephemeral/schema"
	of "github.com/hashicorp/terraform-plugin-framework/resource/schema"
)

// EphemeralAttributes is the schema of the arguments that are attributes, for an ephemeral sandbox.
func EphemeralAttributes() map[string]schema.Attribute { return ephemeralAttributes(Attributes()) }

// EphemeralBlocks is the schema of the arguments that are blocks, for an ephemeral sandbox.
func EphemeralBlocks() map[string]schema.Block {
	blocks := map[string]schema.Block{}
	for name, block := range Blocks() {
		blocks[name] = ephemeralBlock(block)
	}
	return blocks
}

func ephemeralAttributes(attributes map[string]of.Attribute) map[string]schema.Attribute {
	all := map[string]schema.Attribute{}
	for name, attribute := range attributes {
		all[name] = ephemeralAttribute(attribute)
	}
	return all
}

// ephemeralAttribute is an argument without what only an object in a state has: nothing is computed or replaced, and nothing
// has to be write-only. What is left out counts as the default that the description states.
func ephemeralAttribute(attribute of.Attribute) schema.Attribute {
	said := ephemeralText(attribute.GetMarkdownDescription())
	switch a := attribute.(type) {
	case of.StringAttribute:
		return schema.StringAttribute{MarkdownDescription: said, Required: a.Required, Optional: a.Optional, Sensitive: a.Sensitive, CustomType: a.CustomType, Validators: a.Validators}
	case of.Int64Attribute:
		return schema.Int64Attribute{MarkdownDescription: said, Required: a.Required, Optional: a.Optional, Sensitive: a.Sensitive, CustomType: a.CustomType, Validators: a.Validators}
	case of.Float64Attribute:
		return schema.Float64Attribute{MarkdownDescription: said, Required: a.Required, Optional: a.Optional, Sensitive: a.Sensitive, CustomType: a.CustomType, Validators: a.Validators}
	case of.BoolAttribute:
		return schema.BoolAttribute{MarkdownDescription: said, Required: a.Required, Optional: a.Optional, Sensitive: a.Sensitive, CustomType: a.CustomType, Validators: a.Validators}
	case of.ListAttribute:
		return schema.ListAttribute{MarkdownDescription: said, Required: a.Required, Optional: a.Optional, Sensitive: a.Sensitive, ElementType: a.ElementType, Validators: a.Validators}
	case of.SetAttribute:
		return schema.SetAttribute{MarkdownDescription: said, Required: a.Required, Optional: a.Optional, Sensitive: a.Sensitive, ElementType: a.ElementType, Validators: a.Validators}
	case of.MapAttribute:
		return schema.MapAttribute{MarkdownDescription: said, Required: a.Required, Optional: a.Optional, Sensitive: a.Sensitive, ElementType: a.ElementType, Validators: a.Validators}
	case of.SingleNestedAttribute:
		return schema.SingleNestedAttribute{MarkdownDescription: said, Required: a.Required, Optional: a.Optional, Sensitive: a.Sensitive, Attributes: ephemeralAttributes(a.Attributes), Validators: a.Validators}
	case of.MapNestedAttribute:
		return schema.MapNestedAttribute{
			MarkdownDescription: said, Required: a.Required, Optional: a.Optional, Sensitive: a.Sensitive, Validators: a.Validators,
			NestedObject: schema.NestedAttributeObject{Attributes: ephemeralAttributes(a.NestedObject.Attributes), Validators: a.NestedObject.Validators},
		}
	}
	panic(fmt.Sprintf("an argument of a sandbox is a %T, which has no ephemeral counterpart here", attribute))
}

func ephemeralBlock(block of.Block) schema.Block {
	said := ephemeralText(block.GetMarkdownDescription())
	switch b := block.(type) {
	case of.SingleNestedBlock:
		return schema.SingleNestedBlock{MarkdownDescription: said, Attributes: ephemeralAttributes(b.Attributes), Blocks: ephemeralBlocks(b.Blocks), Validators: b.Validators}
	case of.ListNestedBlock:
		return schema.ListNestedBlock{
			MarkdownDescription: said, Validators: b.Validators,
			NestedObject: schema.NestedBlockObject{
				Attributes: ephemeralAttributes(b.NestedObject.Attributes), Blocks: ephemeralBlocks(b.NestedObject.Blocks), Validators: b.NestedObject.Validators,
			},
		}
	}
	panic(fmt.Sprintf("a block of a sandbox is a %T, which has no ephemeral counterpart here", block))
}

func ephemeralBlocks(blocks map[string]of.Block) map[string]schema.Block {
	all := map[string]schema.Block{}
	for name, block := range blocks {
		all[name] = ephemeralBlock(block)
	}
	return all
}

var (
	sentences = regexp.MustCompile(`[^.]*(?:\.[^\s][^.]*)*\.(?:\s+|$)`)
	// lasting begins the sentences of a description that tell of states and of later changes.
	lasting = regexp.MustCompile(`^(A change|Changed in place|They stand in the state|It stands in the state|Not for secrets|Raise |It stays as configured|It is read at plan)`)
	// written are clauses about the state inside of a sentence.
	written = strings.NewReplacer(", write-only: it stands in no state and no plan", "", ", write-only: they stand in no state and no plan", "",
		", whose change reaches only sandboxes that are made afterwards", "", ", as `effective_metadata` shows at plan", "",
		" and, without `ttl_seconds`, its expiry", "")
)

// ephemeralText is a description without what has no meaning for an object that is in no state.
func ephemeralText(description string) string {
	var kept strings.Builder
	for _, sentence := range sentences.FindAllString(description, -1) {
		if !lasting.MatchString(sentence) {
			kept.WriteString(sentence)
		}
	}
	return strings.TrimSpace(written.Replace(kept.String()))
}
