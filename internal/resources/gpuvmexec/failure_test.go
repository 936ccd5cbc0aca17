package gpuvmexec_test

import (
	"fmt"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/agentenv/terraform-provider-gpuvm/internal/acctest"
	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/faults"
)

func TestAccUnexpectedExitCodeIsRunAgainByTheNextApply(t *testing.T) {
	service := acctest.NewGPUVM(t)
	const script = `script = "echo tried >> /tmp/tries; echo not yet >&2; test $(wc -l < /tmp/tries) -ge 2"`
	acctest.Run(t, resource.TestCase{
		CheckDestroy: service.Empty,
		Steps: []resource.TestStep{
			{
				Config:      execution(service, instance, script),
				ExpectError: said("Script failed (exit 1)"),
			},
			{
				Config:           execution(service, instance, script),
				ConfigPlanChecks: action(plancheck.ResourceActionCreate),
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownValue(name, tfjsonpath.New("exit_code"), knownvalue.Int64Exact(0)),
				},
			},
		},
	})
}

func TestAccErrorShowsTheEndOfTheOutput(t *testing.T) {
	service := acctest.NewGPUVM(t)
	acctest.Run(t, resource.TestCase{
		CheckDestroy: service.Empty,
		Steps: []resource.TestStep{{
			Config:      execution(service, instance, `script = "seq 10000; echo no space left >&2; exit 28"`),
			ExpectError: said("9999 10000 no space left"),
		}},
	})
}

func TestAccMachineGoneDropsTheExecution(t *testing.T) {
	service := acctest.NewGPUVM(t)
	config := execution(service, instance, `argv = ["true"]`)
	acctest.Run(t, resource.TestCase{
		CheckDestroy: service.Empty,
		Steps: []resource.TestStep{
			{Config: config},
			{
				PreConfig:        func() { service.Delete(service.VMs()[0].ID) },
				Config:           config,
				ConfigPlanChecks: action(plancheck.ResourceActionCreate),
			},
		},
	})
}

func TestAccRefreshIsOneGetAndDropsNothingOnOtherErrors(t *testing.T) {
	service := acctest.NewGPUVM(t)
	id := service.Make(t, `{"image":"client","cpu":1,"memory_mb":1024,"disk_gb":10,"ttl_seconds":600,"ports":[],"labels":{},"priority":null}`)
	config := service.Provider(`max_retries = 0`) + fmt.Sprintf("resource \"gpuvm_exec\" \"setup\" {\n  instance_id = %q\n  argv = [\"true\"]\n}\n", id)
	acctest.Run(t, resource.TestCase{
		Steps: []resource.TestStep{
			{Config: config},
			{
				PreConfig:    service.Faults().Reset,
				RefreshState: true,
				Check: func(*terraform.State) error {
					for _, request := range service.Faults().Requests() {
						if request.Method != "GET" || request.Path != "/v1/vms/"+id {
							return fmt.Errorf("%s %s was sent", request.Method, request.Path)
						}
					}
					return nil
				},
			},
			{
				PreConfig:   func() { service.Faults().Order(faults.Fault{Kind: faults.Status, Status: 403, Times: -1}) },
				Config:      config,
				ExpectError: said("Instance " + id + " of an execution can't be read"),
			},
			{
				PreConfig:        service.Faults().Clear,
				Config:           config,
				ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}},
			},
		},
	})
	if got := execs(service); len(got) > 0 {
		t.Errorf("a refresh sent %s", got)
	}
}

func TestAccOpenOutcomeIsNeverRepeated(t *testing.T) {
	service := acctest.NewGPUVM(t)
	service.Faults().Order(faults.Fault{Path: "/v1/vms/*/exec", Kind: faults.ResetAfter, Times: -1})
	acctest.Run(t, resource.TestCase{
		CheckDestroy: service.Empty,
		Steps: []resource.TestStep{{
			Config:      execution(service, instance, `argv = ["true"]`),
			ExpectError: said("whether it still runs, is unknown"),
		}},
	})
	if got := execs(service); len(got) != 1 {
		t.Errorf("sent %s", got)
	}
}
