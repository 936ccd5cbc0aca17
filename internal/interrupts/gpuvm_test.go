//go:build unix

package interrupts_test

import (
	"context"
	"testing"

	"github.com/agentenv/terraform-provider-gpuvm/internal/acctest"
	fake "github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/gpuvm"
	"github.com/agentenv/terraform-provider-gpuvm/internal/workspace"
)

func TestInterruptsOfGPUVM(t *testing.T) {
	t.Parallel()
	testInterrupts(t, side{
		name: "gpuvm", start: startGPUVM, address: "gpuvm_instance.it",
		config: `
terraform {
  required_providers {
    gpuvm = {
      source = "registry.terraform.io/agentenv/gpuvm"
    }
  }
}

resource "gpuvm_instance" "it" {
  image             = "client"
  labels            = { found-by = "interrupts" }
  readiness_command = ["true"]
  files             = { "/etc/motd" = { content = "hello" } }
  setup_script      = "true"
  teardown_script   = "true"
}
`,
		operations: []operation{
			{
				name: "create", args: apply, again: apply, state: none,
				moments: []moment{
					{name: "POST", method: "POST", path: "/v1/vms"},
					{name: "POST not yet done", method: "POST", path: "/v1/vms", before: true},
					{name: "boot", method: "GET", path: "/v1/vms/*"},
					{name: "readiness", method: "POST", path: "/v1/vms/*/exec"},
					{name: "upload", method: "PUT", path: "/v1/vms/*/files"},
					{name: "script", method: "POST", path: "/v1/vms/*/exec", skip: 1},
				},
			},
			{
				name: "update", args: apply, again: applyAnew, state: imported,
				moments: []moment{{name: "adoption", method: "GET", path: "/v1/vms/*"}},
			},
			{
				name: "destroy", args: destroy, again: destroyAnew, state: applied,
				moments: []moment{
					{name: "look", method: "GET", path: "/v1/vms/*"},
					{name: "teardown", method: "POST", path: "/v1/vms/*/exec"},
					{name: "DELETE", method: "DELETE", path: "/v1/vms/*"},
					{name: "DELETE not yet done", method: "DELETE", path: "/v1/vms/*", before: true},
					{name: "wait", method: "GET", path: "/v1/vms/*", skip: 1},
				},
			},
		},
	})
}

// Without a refresh before, the first request is the operation's own.
var (
	apply       = []string{"apply", "-auto-approve", "-input=false", "-no-color", "-refresh=false"}
	destroy     = []string{"destroy", "-auto-approve", "-input=false", "-no-color", "-refresh=false"}
	applyAnew   = []string{"apply", "-auto-approve", "-input=false", "-no-color"}
	destroyAnew = []string{"destroy", "-auto-approve", "-input=false", "-no-color"}
)

func none(context.Context, *testing.T, side) []byte { return nil }

// applied is the state after an apply, imported that after an import: the service gives each run the same ids.
func applied(ctx context.Context, t *testing.T, s side) []byte {
	service := s.start(t)
	w := workspace.New(t, s.config, nil, service.Env()...)
	w.Do(ctx, t, applyAnew...)
	return w.StateFile(t)
}

func imported(ctx context.Context, t *testing.T, s side) []byte {
	service := s.start(t)
	id := service.Make(t)
	w := workspace.New(t, s.config, nil, service.Env()...)
	w.Do(ctx, t, "import", "-input=false", "-no-color", s.address, id)
	return w.StateFile(t)
}

type gpuvmService struct{ *acctest.GPUVM }

func startGPUVM(t *testing.T) service {
	return gpuvmService{acctest.NewGPUVM(t, func(o *fake.Options) { o.Seed, o.LongPoll = 7, false })}
}

func (s gpuvmService) Env() []string {
	return []string{"GPU_VM_URL=" + s.URL, "GPU_VM_TOKEN=" + s.Token}
}

func (s gpuvmService) Standing() []string {
	var ids []string
	for _, vm := range s.VMs() {
		ids = append(ids, vm.ID)
	}
	return ids
}

func (s gpuvmService) Labelled() []string {
	var ids []string
	for _, vm := range s.VMs() {
		if vm.Spec.Labels["found-by"] == "interrupts" {
			ids = append(ids, vm.ID)
		}
	}
	return ids
}

func (s gpuvmService) Make(t *testing.T) string {
	return s.GPUVM.Make(t, `{"image":"client","cpu":1,"memory_mb":8192,"disk_gb":10,"ttl_seconds":7200,"ports":[],"labels":{"found-by":"interrupts"},"priority":null}`)
}

func (s gpuvmService) Created() int { return s.Posted() }
