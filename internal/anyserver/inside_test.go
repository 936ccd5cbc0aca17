package anyserver

import (
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"

	"github.com/agentenv/terraform-provider-gpuvm/internal/acctest"
)

const inside = `
resource "opensandbox_file" "conf" {
  sandbox_id = opensandbox_sandbox.box.id
  path       = "/etc/app/x y.conf"
  content    = "first\n"
  mode       = "640"
}
resource "opensandbox_exec" "read" {
  sandbox_id = opensandbox_sandbox.box.id
  argv       = ["cat", opensandbox_file.conf.path]
  triggers   = { content = opensandbox_file.conf.sha256 }
}
resource "opensandbox_exec" "script" {
  sandbox_id          = opensandbox_sandbox.box.id
  script              = "pwd; echo $A; id -un; echo wrong >&2; printf last; exit 3"
  cwd                 = "/etc"
  env                 = { A = "a b" }
  user                = "nobody"
  expected_exit_codes = [3]
}
`

func TestAccFilesAndCommands(t *testing.T) {
	for name, settings := range ways() {
		t.Run(name, func(t *testing.T) {
			server := newServer(t)
			with := func(more string) string { return server.config(settings, sandbox(), more) }
			acctest.Run(t, resource.TestCase{
				CheckDestroy: server.gone,
				Steps: []resource.TestStep{
					{
						Config: with(inside),
						ConfigStateChecks: []statecheck.StateCheck{
							is("opensandbox_exec.read", "stdout", exactly("first\n")),
							is("opensandbox_exec.script", "stdout", exactly("/etc\na b\nnobody\nlast\n")),
							is("opensandbox_exec.script", "stderr", exactly("wrong\n")),
							is("opensandbox_exec.script", "exit_code", knownvalue.Int64Exact(3)),
						},
					},
					{Config: with(inside), ConfigPlanChecks: unchanged},
					{
						Config:            with(strings.Replace(inside, "first", "second", 1)),
						ConfigStateChecks: []statecheck.StateCheck{is("opensandbox_exec.read", "stdout", exactly("second\n"))},
					},
					{Config: with(strings.Replace(inside, "exit 3", "exit 4", 1)), ExpectError: acctest.Said("exit 4")},
					{Config: with(strings.Replace(inside, "exit 3", "kill -9 $$", 1)), ExpectError: acctest.Said("exit")},
					{Config: with("")},
				},
			})
		})
	}
}

const copies = `
resource "opensandbox_snapshot" "first" {
  sandbox_id = opensandbox_sandbox.box.id
  name       = "first"
}
resource "opensandbox_sandbox" "copy" {
  snapshot_id  = opensandbox_snapshot.first.id
  ttl_seconds  = 900
  setup_script = "test \"$(cat /opt/kept)\" = kept"
}
data "opensandbox_snapshots" "all" {
  sandbox_id = opensandbox_snapshot.first.sandbox_id
}
`

func TestAccSnapshots(t *testing.T) {
	if !able("snapshots") {
		return
	}
	server := newServer(t)
	config := server.config("", sandbox(`files = { "/opt/kept" = { content = "kept" } }`), copies)
	acctest.Run(t, resource.TestCase{
		CheckDestroy: server.gone,
		Steps: []resource.TestStep{
			{
				Config: config,
				ConfigStateChecks: []statecheck.StateCheck{
					is("opensandbox_snapshot.first", "status", exactly("Ready")),
					is("opensandbox_sandbox.copy", "status", exactly("Running")),
					is("data.opensandbox_snapshots.all", "snapshots", knownvalue.ListSizeExact(1)),
				},
			},
			{Config: config, ConfigPlanChecks: unchanged},
		},
	})
}

const looks = `
data "opensandbox_sandbox" "one" {
  id            = opensandbox_sandbox.box.id
  exposed_ports = [9000]
}
data "opensandbox_sandboxes" "mine" {
  states   = ["running"]
  metadata = { marked = opensandbox_sandbox.box.metadata["marked"] }
}
data "opensandbox_endpoint" "web" {
  sandbox_id = opensandbox_sandbox.box.id
  port       = 8080
}
`

func TestAccDataSources(t *testing.T) {
	server := newServer(t)
	config := server.config("", sandbox(`metadata = { marked = "`+server.mark+`" }`), looks)
	acctest.Run(t, resource.TestCase{
		CheckDestroy: server.gone,
		Steps: []resource.TestStep{{
			Config: config,
			ConfigStateChecks: []statecheck.StateCheck{
				is("data.opensandbox_sandbox.one", "status", exactly("Running")),
				is("data.opensandbox_sandbox.one", "ports", knownvalue.MapExact(map[string]knownvalue.Check{"9000": anURL})),
				is("data.opensandbox_sandboxes.mine", "sandboxes", knownvalue.ListSizeExact(1)),
				is("data.opensandbox_endpoint.web", "url", anURL),
			},
		}, {Config: config, ConfigPlanChecks: unchanged}},
	})
}
