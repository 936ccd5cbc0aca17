package examples

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentenv/terraform-provider-gpuvm/internal/acctest"
)

// importObjects imports what the example has made once more in each way that the folder shows, into a state that lacks it, and
// sees that the first apply after that adopts it and changes nothing.
func (c *configuration) importObjects() {
	t := c.stage.t
	t.Helper()
	for _, file := range glob(t, c.from, "import.sh") {
		words := strings.Fields(string(c.read(file)))
		if len(words) < 4 || words[0] != "terraform" || words[1] != "import" {
			t.Errorf("%s is no terraform import", file)
			continue
		}
		address := words[len(words)-2]
		fresh, id := c.without(address)
		fresh.text("import", "-input=false", address, id)
		fresh.adopts(file)
	}
	for _, file := range glob(t, c.from, "import-by-*.tf") {
		for _, block := range blocks(t, file, c.read(file), "import") {
			address := text(t, block, "to")
			identity := block.Body.Attributes["identity"]
			fresh, id := c.without(address)
			if identity != nil && !atHand().can(t, identityImportsSince) {
				t.Logf(notOfThisProgram, "imports by identity", file+" is "+throughProtocolPhrase)
				kind, _, _ := strings.Cut(address, ".")
				c.stage.importByIdentity(kind, values(t, asBlock(t, identity), nil), id)
				continue
			}
			named := block
			if identity != nil {
				named = asBlock(t, identity)
			}
			placeholder := text(t, named, "id")
			fresh.write(file, []byte(strings.ReplaceAll(string(c.read(file)), placeholder, id)))
			fresh.adopts(file)
		}
	}
}

// without is the same configuration and state, but for one object, whose id it gives.
func (c *configuration) without(address string) (fresh *configuration, id string) {
	t := c.stage.t
	t.Helper()
	for _, object := range c.state() {
		if object.Address == address {
			id, _ = object.AttributeValues["id"].(string)
		}
	}
	if id == "" {
		t.Fatalf("the example's state has no %s with an id", address)
	}
	copied := *c
	copied.Dir = t.TempDir()
	if err := os.CopyFS(copied.Dir, os.DirFS(c.Dir)); err != nil {
		t.Fatal(err)
	}
	copied.text("state", "rm", address)
	return &copied, id
}

// adopts: the import's first apply makes and ends nothing, and the plan after it is empty.
func (c *configuration) adopts(file string) {
	t := c.stage.t
	t.Helper()
	before := c.stage.holds()
	changes, _, err := c.run("apply", "-auto-approve", "-input=false")
	if err != nil && !strings.Contains(err.Error(), "can't be verified") { // that warning belongs to an import
		t.Errorf("%s: %v", filepath.Base(file), err)
	}
	if changes.Add > 0 || changes.Remove > 0 || c.stage.holds() != before {
		t.Errorf("%s: the first apply after it makes %d and ends %d objects", file, changes.Add, changes.Remove)
	}
	if _, _, err := c.run("plan", "-detailed-exitcode", "-input=false"); err != nil {
		t.Errorf("%s: the plan after its first apply has changes, or fails: %v", file, err)
	}
}

// importByIdentity asks the provider for what an import block with an identity asks it for.
func (s *stage) importByIdentity(kind string, identity acctest.Values, id string) {
	t := s.t
	t.Helper()
	protocol := s.protocol(kind)
	schemas, err := protocol.GetResourceIdentitySchemas(t.Context(), &tfprotov6.GetResourceIdentitySchemasRequest{})
	if err != nil {
		t.Fatal(err)
	}
	schema, known := schemas.IdentitySchemas[kind]
	if !known {
		t.Fatalf("%s has no identity", kind)
	}
	if _, given := identity["id"]; !given || len(identity) != len(schema.IdentityAttributes) {
		t.Errorf("the identity %v isn't that of %s", identity, kind)
	}
	of := schema.ValueType()
	data, err := tfprotov6.NewDynamicValue(of, tftypes.NewValue(of, map[string]tftypes.Value{"id": tftypes.NewValue(tftypes.String, id)}))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := protocol.ImportResourceState(t.Context(), &tfprotov6.ImportResourceStateRequest{
		TypeName: kind, Identity: &tfprotov6.ResourceIdentityData{IdentityData: &data},
	})
	if err != nil || len(answer.Diagnostics) > 0 || len(answer.ImportedResources) != 1 {
		t.Fatalf("import by identity: %v %s", err, acctest.Text(answer.Diagnostics))
	}
	imported := answer.ImportedResources[0]
	object, diagnostics := protocol.Refresh(t.Context(), kind, acctest.Object{State: imported.State, Private: imported.Private})
	var found string
	if len(diagnostics) > 0 || !object.Exists() || object.Attributes["id"].As(&found) != nil || found != id {
		t.Errorf("imported by identity: %q, want %q %s", found, id, acctest.Text(diagnostics))
	}
}
