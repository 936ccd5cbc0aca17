package opensandboxsandbox_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/agentenv/terraform-provider-gpuvm/internal/acctest"
)

const name = "opensandbox_sandbox.test"

// box is the configuration of a sandbox on the server, with the given lines in its block.
func box(server *acctest.OpenSandbox, lines ...string) string {
	return server.Provider() + resourceOf(lines...)
}

func resourceOf(lines ...string) string {
	return "resource \"opensandbox_sandbox\" \"test\" {\n  " + strings.Join(lines, "\n  ") + "\n}\n"
}

// said finds a message however Terraform breaks its lines.
func said(text string) *regexp.Regexp {
	words := strings.Fields(text)
	for i := range words {
		words[i] = regexp.QuoteMeta(words[i])
	}
	return regexp.MustCompile(strings.Join(words, `[\s│╷╵]+`))
}

func TestAccCreate(t *testing.T) {
	server := acctest.NewOpenSandbox(t)
	config := box(server, `image = "busybox"`, `exposed_ports = [8080]`, `metadata = { team = "red team!" }`, `ttl_seconds = 600`)
	acctest.Run(t, resource.TestCase{
		CheckDestroy: server.Empty,
		Steps: []resource.TestStep{
			{
				Config: config,
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownValue(name, tfjsonpath.New("status"), knownvalue.StringExact("Running")),
				},
			},
			{Config: config, ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}}},
		},
	})
}
