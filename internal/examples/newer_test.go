package examples

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/go-version"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/agentenv/terraform-provider-gpuvm/internal/acctest"
	providers "github.com/agentenv/terraform-provider-gpuvm/internal/provider"
	"github.com/agentenv/terraform-provider-gpuvm/internal/terraformcli"
)

// What examples show that not every program can do.
const (
	actionsSince          = "1.14" // of Terraform; no OpenTofu has them
	identityImportsSince  = "1.12"
	notOfThisProgram      = "not with this program, which has no %s: %s"
	throughProtocolPhrase = "done through the plugin protocol"
)

// program is the Terraform or OpenTofu at hand.
type program struct {
	version  *version.Version
	openTofu bool
	err      error
}

var atHand = sync.OnceValue(func() program {
	cli := terraformcli.CLI{Path: acctest.CLI(), Dir: root, Env: terraformcli.Environment(configFile)}
	name, err := cli.Version(context.Background())
	if err != nil {
		return program{err: err}
	}
	words := strings.Fields(name) // "Terraform v1.11.4"
	parsed, err := version.NewVersion(words[len(words)-1])
	return program{parsed, strings.HasPrefix(name, "OpenTofu"), err}
})

// can says whether the program has what Terraform has since a version.
func (p program) can(t *testing.T, since string) bool {
	t.Helper()
	if p.err != nil {
		t.Fatal(p.err)
	}
	return !p.openTofu && p.version.Core().GreaterThanOrEqual(version.Must(version.NewVersion(since)))
}

// action is one that an example declares.
type action struct {
	kind  string
	block *hclsyntax.Block
}

// plainForOlder takes out what the program at hand can't read, and keeps it for the protocol.
func (c *configuration) plainForOlder() {
	t := c.stage.t
	t.Helper()
	if atHand().can(t, actionsSince) {
		return
	}
	for _, file := range glob(t, c.from, "*.tf") {
		if strings.HasPrefix(file, "import-by-") {
			continue
		}
		for _, block := range blocks(t, file, c.read(file), "action") {
			c.actions = append(c.actions, action{block.Labels[0], block})
		}
		c.write(file, withoutActions(t, file, c.read(file), atHand().version))
	}
}

// invokeActions runs the actions that plainForOlder took out.
func (c *configuration) invokeActions(e example) {
	t := c.stage.t
	t.Helper()
	if len(c.actions) == 0 {
		return
	}
	scope := c.scope(c.state())
	for _, a := range c.actions {
		t.Logf(notOfThisProgram, "actions", "action."+label(a.block)+" is "+throughProtocolPhrase)
		config := values(t, inner(a.block, "config"), scope)
		protocol := c.stage.protocol(a.kind)
		if e.first != "" {
			if _, diagnostics := protocol.Invoke(t.Context(), e.first, config); len(diagnostics) > 0 {
				t.Errorf("%s: %s", e.first, acctest.Text(diagnostics))
			}
		}
		progress, diagnostics := protocol.Invoke(t.Context(), a.kind, config)
		if len(diagnostics) > 0 || len(progress) == 0 {
			t.Errorf("action.%s: %s\nprogress: %q", label(a.block), acctest.Text(diagnostics), progress)
		}
	}
}

// protocol is the provider that serves a type, configured by nothing but the address and the secret.
func (s *stage) protocol(kind string) *acctest.Protocol {
	s.t.Helper()
	var served provider.Provider
	config := acctest.Values{"base_url": s.vms.URL, "api_token": s.vms.Token}
	if strings.HasPrefix(kind, "gpuvm_") {
		served = providers.GPUVM("test")()
	} else {
		served, config = providers.OpenSandbox("test")(), acctest.Values{"domain": s.sandboxes.URL, "api_key": s.sandboxes.APIKey}
	}
	return acctest.NewProtocol(s.t, served, config)
}

// runLists runs the queries of *.tfquery.hcl: each has to find what the example has made.
func (c *configuration) runLists() {
	t := c.stage.t
	t.Helper()
	for _, file := range glob(t, c.from, "*.tfquery.hcl") {
		if atHand().can(t, actionsSince) {
			c.write(file, c.read(file))
			if found := c.text("query", "-json"); !strings.Contains(found, "list_resource_found") {
				t.Errorf("%s finds nothing:\n%s", file, found)
			}
			continue
		}
		for _, block := range blocks(t, file, c.read(file), "list") {
			t.Logf(notOfThisProgram, "queries", "list."+label(block)+" is "+throughProtocolPhrase)
			c.list(block)
		}
	}
}

func (c *configuration) list(block *hclsyntax.Block) {
	t := c.stage.t
	t.Helper()
	kind := block.Labels[0]
	protocol := c.stage.protocol(kind)
	schema, served := protocol.Schemas.ListResourceSchemas[kind]
	if !served {
		t.Fatalf("no list resource %s is served", kind)
	}
	config := protocol.Encode(schema, values(t, inner(block, "config"), c.scope(c.state())))
	valid, err := protocol.ValidateListResourceConfig(t.Context(), &tfprotov6.ValidateListResourceConfigRequest{TypeName: kind, Config: config})
	if err != nil || len(valid.Diagnostics) > 0 {
		t.Fatalf("list.%s: %v %s", label(block), err, acctest.Text(valid.Diagnostics))
	}
	stream, err := protocol.ListResource(t.Context(), &tfprotov6.ListResourceRequest{TypeName: kind, Config: config, IncludeResource: true, Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for result := range stream.Results {
		if len(result.Diagnostics) > 0 || result.Identity == nil || result.Resource == nil {
			t.Errorf("list.%s: %s", label(block), acctest.Text(result.Diagnostics))
		}
		found++
	}
	if found == 0 {
		t.Errorf("list.%s finds nothing", label(block))
	}
}
