package opensandboxsandbox_test

import (
	"fmt"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/agentenv/terraform-provider-gpuvm/internal/acctest"
)

// echoed is the configuration of an ephemeral sandbox, and of a resource that tells what it was.
func echoed(server *acctest.OpenSandbox, lines string) string {
	return acctest.Echoed(server.Provider()) + `
ephemeral "opensandbox_sandbox" "box" {
  image = "busybox"
` + lines + `
}

provider "echo" {
  data = ephemeral.opensandbox_sandbox.box
}

resource "echo" "test" {}
`
}

func TestAccEphemeralSandbox(t *testing.T) {
	server := acctest.NewOpenSandbox(t)
	data := tfjsonpath.New("data")
	acctest.Run(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.WithEcho(),
		CheckDestroy:             server.Empty,
		Steps: []resource.TestStep{{
			Config: echoed(server, "exposed_ports = [8080]\nenv = { A = \"b\" }\nsetup_script = \"test $A = b\""),
			ConfigStateChecks: []statecheck.StateCheck{
				statecheck.ExpectKnownValue("echo.test", data.AtMapKey("id"), knownvalue.NotNull()),
				statecheck.ExpectKnownValue("echo.test", data.AtMapKey("status"), knownvalue.StringExact("Running")),
				statecheck.ExpectKnownValue("echo.test", data.AtMapKey("ports").AtMapKey("8080"), knownvalue.NotNull()),
			},
			Check: server.Empty, // by the end of the apply
		}},
	})
}

// A plan boots nothing with open = terraform.applying.
func TestAccEphemeralSandboxOfTheApplyOnly(t *testing.T) {
	server := acctest.NewOpenSandbox(t)
	config := echoed(server, `open = terraform.applying`)
	made := func(want int) resource.TestCheckFunc {
		return func(*terraform.State) error {
			if got := server.Asked("POST", "/sandboxes"); got != want {
				return fmt.Errorf("%d sandboxes were made, want %d", got, want)
			}
			return server.Empty(nil)
		}
	}
	acctest.Run(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.WithEcho(),
		CheckDestroy:             server.Empty,
		Steps: []resource.TestStep{
			{Config: config, PlanOnly: true, ExpectNonEmptyPlan: true},
			{PreConfig: func() { noError(t, made(0)(nil)) }, Config: config, Check: made(1)},
		},
	})
}

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

func TestAccEphemeralSandboxThatFails(t *testing.T) {
	server := acctest.NewOpenSandbox(t)
	acctest.Run(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.WithEcho(),
		Steps: []resource.TestStep{{
			Config: echoed(server, `setup_script = "exit 7"`), ExpectError: acctest.Said("Script failed (exit 7)"),
		}},
	})
	noError(t, server.Empty(nil))
}
