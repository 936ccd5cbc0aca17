//go:build unix

package interrupts_test

import (
	"strings"
	"testing"

	"github.com/agentenv/terraform-provider-gpuvm/internal/acctest"
)

const sandbox = `
terraform {
  required_providers {
    opensandbox = {
      source = "registry.terraform.io/agentenv/opensandbox"
    }
  }
}

resource "opensandbox_sandbox" "it" {
  image           = "busybox"
  metadata        = { found-by = "interrupts" }
  ttl_seconds     = 3600
  exposed_ports   = [8080]
  files           = { "/etc/motd" = { content = "hello" } }
  setup_script    = "true"
  teardown_script = "true"
}
`

// changedSandbox differs in what is changed by requests of its own.
var changedSandbox = strings.NewReplacer(
	`"interrupts" }`, `"interrupts", more = "yes" }`, "3600", "7200", "exposed_ports   = [8080]", "exposed_ports   = [8080]\n  paused          = true",
).Replace(sandbox)

func TestInterruptsOfOpenSandbox(t *testing.T) {
	t.Parallel()
	const one, direct = "/v1/sandboxes/*", "/direct/"
	testInterrupts(t, side{
		name: "opensandbox", start: startOpenSandbox, address: "opensandbox_sandbox.it", config: sandbox,
		operations: []operation{
			{
				name: "create", args: apply, again: apply, state: none,
				moments: []moment{
					{name: "POST", method: "POST", path: "/v1/sandboxes"},
					{name: "POST not yet done", method: "POST", path: "/v1/sandboxes", before: true},
					{name: "boot", method: "GET", path: one},
					{name: "endpoint", method: "GET", path: one + "/endpoints/*"},
					{name: "ping", method: "GET", path: direct},
					{name: "probe", method: "POST", path: direct},
					{name: "upload", method: "POST", path: direct, skip: 1},
					{name: "script", method: "POST", path: direct, skip: 2},
					{name: "port", method: "GET", path: one + "/endpoints/*", skip: 1},
				},
			},
			{
				name: "update", args: apply, again: applyAnew, state: applied, config: changedSandbox,
				moments: []moment{
					{name: "look", method: "GET", path: one},
					{name: "renewal", method: "POST", path: one + "/renew-expiration"},
					{name: "renewal not yet done", method: "POST", path: one + "/renew-expiration", before: true},
					{name: "metadata", method: "PATCH", path: one + "/metadata"},
					{name: "pause", method: "POST", path: one + "/pause"},
				},
			},
			{
				name: "destroy", args: destroy, again: destroyAnew, state: applied,
				moments: []moment{
					{name: "look", method: "GET", path: one},
					{name: "teardown", method: "POST", path: direct},
					{name: "DELETE", method: "DELETE", path: one},
					{name: "DELETE not yet done", method: "DELETE", path: one, before: true},
					{name: "wait", method: "GET", path: one, skip: 1},
				},
			},
		},
	})
}

type openSandboxService struct{ *acctest.OpenSandbox }

func startOpenSandbox(t *testing.T) service { return openSandboxService{acctest.NewOpenSandbox(t)} }

func (s openSandboxService) Env() []string {
	return []string{"OPEN_SANDBOX_DOMAIN=" + s.URL, "OPEN_SANDBOX_API_KEY=" + s.APIKey}
}

func (s openSandboxService) Standing() []string {
	var ids []string
	for _, one := range s.Sandboxes() {
		ids = append(ids, one.ID)
	}
	return ids
}

func (s openSandboxService) Labelled() []string {
	var ids []string
	for _, one := range s.Sandboxes() {
		if one.Metadata["found-by"] == "interrupts" {
			ids = append(ids, one.ID)
		}
	}
	return ids
}

func (s openSandboxService) Make(t *testing.T) string {
	return s.OpenSandbox.Make(t, `{"image":{"uri":"busybox"},"entrypoint":["tail","-f","/dev/null"],"resourceLimits":{"cpu":"1","memory":"2Gi"},"timeout":3600,"metadata":{"found-by":"interrupts"}}`)
}

func (s openSandboxService) Created() int { return s.Asked("POST", "/sandboxes") }
