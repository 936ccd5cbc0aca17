package opensandboxsandbox_test

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/agentenv/terraform-provider-gpuvm/internal/acctest"
	fake "github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/opensandbox"
)

const name = "data.opensandbox_sandbox.test"

func data(server *acctest.OpenSandbox, id, more string) string {
	return server.Provider() + fmt.Sprintf("data \"opensandbox_sandbox\" \"test\" {\n  id = %q\n  %s\n}\n", id, more)
}

func known(attribute string, check knownvalue.Check) statecheck.StateCheck {
	return statecheck.ExpectKnownValue(name, tfjsonpath.New(attribute), check)
}

func TestAccTellsAllThatTheServerTells(t *testing.T) {
	server := acctest.NewOpenSandbox(t, func(o *fake.Options) { o.Newer = true })
	id := server.Make(t, `{"image":{"uri":"busybox"},"entrypoint":["sleep","1d"],"resourceLimits":{"cpu":"1"},"timeout":600,
		"platform":{"os":"linux","arch":"amd64"},"metadata":{"team":"red","agentenv.dev/create-id":"x"},"extensions":{"a":"b"}}`)
	acctest.Run(t, resource.TestCase{
		Steps: []resource.TestStep{{
			Config: data(server, id, `exposed_ports = [80]`),
			ConfigStateChecks: []statecheck.StateCheck{
				known("status", knownvalue.StringExact("Running")),
				known("image", knownvalue.StringExact("busybox:latest")),
				known("snapshot_id", knownvalue.Null()),
				known("pool_ref", knownvalue.Null()),
				known("platform", knownvalue.ObjectExact(map[string]knownvalue.Check{"os": knownvalue.StringExact("linux"), "arch": knownvalue.StringExact("amd64")})),
				known("entrypoint", knownvalue.ListExact([]knownvalue.Check{knownvalue.StringExact("sleep"), knownvalue.StringExact("1d")})),
				known("metadata", knownvalue.MapExact(map[string]knownvalue.Check{"team": knownvalue.StringExact("red")})),
				known("extensions", knownvalue.MapExact(map[string]knownvalue.Check{"a": knownvalue.StringExact("b")})),
				known("ports", knownvalue.MapExact(map[string]knownvalue.Check{"80": knownvalue.StringRegexp(regexp.MustCompile("^http://"))})),
				known("created_at", knownvalue.NotNull()),
				known("expires_at", knownvalue.NotNull()),
			},
		}},
	})
}

func TestAccBareSandbox(t *testing.T) {
	server := acctest.NewOpenSandbox(t)
	id := server.Make(t, `{"image":{"uri":"busybox"},"entrypoint":["sleep","1d"],"resourceLimits":{"cpu":"1"}}`)
	acctest.Run(t, resource.TestCase{
		Steps: []resource.TestStep{{
			Config: data(server, id, ""),
			ConfigStateChecks: []statecheck.StateCheck{
				known("platform", knownvalue.Null()), known("expires_at", knownvalue.Null()), known("ports", knownvalue.MapExact(nil)),
				known("metadata", knownvalue.MapExact(nil)), known("extensions", knownvalue.MapExact(nil)),
			},
		}},
	})
}

func TestAccGoneIsAnErrorThatNamesIt(t *testing.T) {
	server := acctest.NewOpenSandbox(t)
	acctest.Run(t, resource.TestCase{
		Steps: []resource.TestStep{{
			Config:      data(server, "sb-166505b8", ""),
			ExpectError: regexp.MustCompile(`(?s)Sandbox sb-166505b8 doesn't exist.*GET /v1/sandboxes/sb-166505b8:\s+HTTP\s+404.*SANDBOX_NOT_FOUND`),
		}},
	})
}
