package providerschema_test

import (
	"encoding/json"
	"strings"
	"testing"

	tfjson "github.com/hashicorp/terraform-json"
	"github.com/zclconf/go-cty/cty"

	"github.com/agentenv/terraform-provider-gpuvm/internal/providerschema"
)

// exported reads the JSON form back, as the documentation generator does.
func exported(t *testing.T) *tfjson.ProviderSchema {
	t.Helper()
	schema, err := providerschema.Of(t.Context(), fruit{})
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := providerschema.JSON("fruit", schema)
	if err != nil {
		t.Fatal(err)
	}
	var all tfjson.ProviderSchemas
	if err := json.Unmarshal(encoded, &all); err != nil {
		t.Fatal(err)
	}
	return all.Schemas["fruit"]
}

func TestEveryKindIsExported(t *testing.T) {
	t.Parallel()
	schema := exported(t)
	for kind, found := range map[string]bool{
		"resource":           schema.ResourceSchemas["fruit_tree"] != nil,
		"identity":           schema.ResourceIdentitySchemas["fruit_tree"] != nil,
		"data source":        schema.DataSourceSchemas["fruit_market"] != nil,
		"ephemeral resource": schema.EphemeralResourceSchemas["fruit_juice"] != nil,
		"action":             schema.ActionSchemas["fruit_shake"] != nil,
		"list resource":      schema.ListResourceSchemas["fruit_tree"] != nil,
	} {
		if !found {
			t.Errorf("the %s is missing", kind)
		}
	}
}

func TestAttributesAndBlocksKeepWhatTheyWere(t *testing.T) {
	t.Parallel()
	schema := exported(t)

	token := schema.ConfigSchema.Block.Attributes["token"]
	if !token.Optional || !token.Sensitive || token.Description != "Opens the gate." || token.AttributeType != cty.String {
		t.Errorf("token: %+v", token)
	}
	if got := schema.ConfigSchema.Block.DescriptionKind; got != tfjson.SchemaDescriptionKindMarkdown {
		t.Errorf("the provider's description is of kind %q", got)
	}

	tree := schema.ResourceSchemas["fruit_tree"]
	attributes := tree.Block.Attributes
	if tree.Version != 3 {
		t.Errorf("version %d", tree.Version)
	}
	if !attributes["secret"].WriteOnly {
		t.Error("secret is no longer write-only")
	}
	if !attributes["labels"].Deprecated || !attributes["labels"].AttributeType.Equals(cty.Map(cty.String)) {
		t.Errorf("labels: %+v", attributes["labels"])
	}
	place := attributes["place"].AttributeNestedType
	if place == nil || place.NestingMode != tfjson.SchemaNestingModeSingle || place.Attributes["row"].AttributeType != cty.Number {
		t.Errorf("place: %+v", place)
	}
	for name, mode := range map[string]tfjson.SchemaNestingMode{"timeouts": tfjson.SchemaNestingModeSingle, "graft": tfjson.SchemaNestingModeList} {
		if block := tree.Block.NestedBlocks[name]; block == nil || block.NestingMode != mode {
			t.Errorf("block %s: %+v", name, block)
		}
	}

	id := schema.ResourceIdentitySchemas["fruit_tree"].Attributes["id"]
	if !id.RequiredForImport || id.OptionalForImport || id.IdentityType != cty.String {
		t.Errorf("identity: %+v", id)
	}
}

func TestBrokenSchemaIsAnError(t *testing.T) {
	t.Parallel()
	_, err := providerschema.Of(t.Context(), fruit{broken: true})
	if err == nil || !strings.Contains(err.Error(), "The schema can't be read.") {
		t.Errorf("got %v", err)
	}
}
