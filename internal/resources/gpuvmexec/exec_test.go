package gpuvmexec_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/agentenv/terraform-provider-gpuvm/internal/acctest"
)

const (
	name     = "gpuvm_exec.setup"
	instance = `instance_id = gpuvm_instance.client.id`
)

// execution is a configuration of a machine, and of one execution with the given lines in it.
func execution(service *acctest.GPUVM, lines ...string) string {
	return service.Provider(`max_retries = 1`) + `
resource "gpuvm_instance" "client" {
  image = "client"
}

resource "gpuvm_exec" "setup" {
` + strings.Join(lines, "\n") + "\n}\n"
}

func said(text string) *regexp.Regexp {
	return regexp.MustCompile(`(?s)` + strings.ReplaceAll(regexp.QuoteMeta(text), " ", `[\s│]+`))
}

// execs lists the bodies of the commands that were sent.
func execs(service *acctest.GPUVM) []string {
	var bodies []string
	for _, request := range service.Faults().Requests() {
		if strings.HasSuffix(request.Path, "/exec") {
			bodies = append(bodies, string(request.Body))
		}
	}
	return bodies
}

// sent checks which commands were sent.
func sent(service *acctest.GPUVM, want ...string) resource.TestCheckFunc {
	return func(*terraform.State) error {
		if got := execs(service); fmt.Sprint(got) != fmt.Sprint(want) {
			return fmt.Errorf("sent %s, want %s", got, want)
		}
		return nil
	}
}

func action(a plancheck.ResourceActionType) resource.ConfigPlanChecks {
	return resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectResourceAction(name, a)}}
}

func TestAccScriptRunsOnceAndItsResultsAreKept(t *testing.T) {
	service := acctest.NewGPUVM(t)
	config := execution(service, instance, `script = "echo out; echo trouble >&2"`)
	acctest.Run(t, resource.TestCase{
		CheckDestroy: service.Empty,
		Steps: []resource.TestStep{{
			Config: config,
			ConfigStateChecks: []statecheck.StateCheck{
				statecheck.ExpectKnownValue(name, tfjsonpath.New("exit_code"), knownvalue.Int64Exact(0)),
				statecheck.ExpectKnownValue(name, tfjsonpath.New("stdout"), knownvalue.StringExact("out\n")),
				statecheck.ExpectKnownValue(name, tfjsonpath.New("stderr"), knownvalue.StringExact("trouble\n")),
				statecheck.ExpectKnownValue(name, tfjsonpath.New("stdout_truncated"), knownvalue.Bool(false)),
				statecheck.ExpectKnownValue(name, tfjsonpath.New("stderr_truncated"), knownvalue.Bool(false)),
				statecheck.ExpectKnownValue(name, tfjsonpath.New("expected_exit_codes"), knownvalue.SetExact([]knownvalue.Check{knownvalue.Int64Exact(0)})),
				statecheck.ExpectKnownValue(name, tfjsonpath.New("triggers"), knownvalue.Null()),
				statecheck.ExpectSensitiveValue(name, tfjsonpath.New("stdout")),
				statecheck.ExpectSensitiveValue(name, tfjsonpath.New("stderr")),
			},
			Check: sent(service, `{"argv":["sudo","bash","-c","echo out; echo trouble \u003e\u00262"]}`),
		}, {
			PreConfig:        service.Faults().Reset,
			Config:           config,
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}},
			Check:            sent(service),
		}},
	})
}

func TestAccArgvRunsWithoutAShell(t *testing.T) {
	service := acctest.NewGPUVM(t)
	acctest.Run(t, resource.TestCase{
		CheckDestroy: service.Empty,
		Steps: []resource.TestStep{{
			Config: execution(service, instance, `argv = ["echo", "$HOME", ""]`),
			ConfigStateChecks: []statecheck.StateCheck{
				statecheck.ExpectKnownValue(name, tfjsonpath.New("stdout"), knownvalue.StringExact("$HOME \n")),
			},
			Check: sent(service, `{"argv":["echo","$HOME",""]}`),
		}},
	})
}

func TestAccOnlyTheEndOfALongOutputIsKept(t *testing.T) {
	service := acctest.NewGPUVM(t)
	acctest.Run(t, resource.TestCase{
		CheckDestroy: service.Empty,
		Steps: []resource.TestStep{{
			Config: execution(service, instance, `script = "for i in $(seq 8000); do echo $i Grüße; done"`),
			ConfigStateChecks: []statecheck.StateCheck{
				statecheck.ExpectKnownValue(name, tfjsonpath.New("stdout"), knownvalue.StringFunc(func(text string) error {
					if len(text) > 64<<10 || len(text) < 64<<10-2 || !strings.HasSuffix(text, "8000 Grüße\n") {
						return fmt.Errorf("%d bytes, ends %q", len(text), text[max(0, len(text)-20):])
					}
					return nil
				})),
				statecheck.ExpectKnownValue(name, tfjsonpath.New("stdout_truncated"), knownvalue.Bool(true)),
				statecheck.ExpectKnownValue(name, tfjsonpath.New("stderr_truncated"), knownvalue.Bool(false)),
			},
		}},
	})
}

func TestAccOtherExitCodesCanBeExpected(t *testing.T) {
	service := acctest.NewGPUVM(t)
	acctest.Run(t, resource.TestCase{
		CheckDestroy: service.Empty,
		Steps: []resource.TestStep{
			{
				Config: execution(service, instance, `script = "exit 3"`, `expected_exit_codes = [0, 3]`),
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownValue(name, tfjsonpath.New("exit_code"), knownvalue.Int64Exact(3)),
				},
				Check: sent(service, `{"argv":["sudo","bash","-c","exit 3"]}`),
			},
			{
				PreConfig:        service.Faults().Reset,
				Config:           execution(service, instance, `script = "exit 3"`), // noted only: it has run
				ConfigPlanChecks: action(plancheck.ResourceActionUpdate),
				Check:            sent(service),
			},
		},
	})
}

func TestAccWhatChangesInPlaceRunsNothing(t *testing.T) {
	service := acctest.NewGPUVM(t)
	acctest.Run(t, resource.TestCase{
		CheckDestroy: service.Empty,
		Steps: []resource.TestStep{
			{Config: execution(service, instance, `script = "true"`)},
			{
				PreConfig: service.Faults().Reset,
				Config:    execution(service, instance, `script = "true"`, `triggers = {}`, `expected_exit_codes = [0, 1]`, `timeouts {`, `create = "5m"`, `}`),
				ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
					plancheck.ExpectResourceAction(name, plancheck.ResourceActionUpdate),
					plancheck.ExpectKnownValue(name, tfjsonpath.New("exit_code"), knownvalue.Int64Exact(0)),
				}},
				Check: sent(service),
			},
		},
	})
}

func TestAccRunsAgainInAnotherMachine(t *testing.T) {
	service := acctest.NewGPUVM(t)
	config := execution(service, instance, `argv = ["true"]`)
	acctest.Run(t, resource.TestCase{
		CheckDestroy: service.Empty,
		Steps: []resource.TestStep{
			{Config: config},
			{
				Config: strings.Replace(config, `image = "client"`, `image = "other"`, 1),
				ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
					plancheck.ExpectResourceAction(name, plancheck.ResourceActionDestroyBeforeCreate),
					plancheck.ExpectUnknownValue(name, tfjsonpath.New("exit_code")),
				}},
			},
		},
	})
	if got := execs(service); len(got) != 2 {
		t.Errorf("sent %s", got)
	}
}

func TestAccUnknownCommandRunsAtApply(t *testing.T) {
	service := acctest.NewGPUVM(t)
	late := `
resource "terraform_data" "late" {
  input = { argv = ["echo", "a"], script = null, codes = [0, 1], version = "1" }
}
`
	acctest.Run(t, resource.TestCase{
		CheckDestroy: service.Empty,
		Steps: []resource.TestStep{
			{
				Config: execution(service, instance, `argv = terraform_data.late.output.argv`, `script = terraform_data.late.output.script`,
					`expected_exit_codes = terraform_data.late.output.codes`, `triggers = { version = terraform_data.late.output.version }`) + late,
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownValue(name, tfjsonpath.New("stdout"), knownvalue.StringExact("a\n")),
				},
			},
			{
				Config: execution(service, instance, `script = terraform_data.later.output`) + late + `
resource "terraform_data" "later" {
  input = ""
}
`,
				ExpectError: said("Script is empty"),
			},
		},
	})
}

func TestAccCantBeImported(t *testing.T) {
	service := acctest.NewGPUVM(t)
	acctest.Run(t, resource.TestCase{
		CheckDestroy: service.Empty,
		Steps: []resource.TestStep{
			{Config: execution(service, instance, `argv = ["true"]`)},
			{ResourceName: name, ImportState: true, ImportStateId: "vm-1", ExpectError: said("Resource Import Not Implemented")},
		},
	})
}

func TestAccExample(t *testing.T) {
	service := acctest.NewGPUVM(t)
	example := acctest.Example(t, "gpuvm/resources/gpuvm_exec/resource.tf", service.Provider())
	acctest.Run(t, resource.TestCase{
		CheckDestroy: service.Empty,
		Steps: []resource.TestStep{
			{Config: example},
			{Config: example, ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}}},
		},
	})
}
