package gpuvminstance_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/agentenv/terraform-provider-gpuvm/internal/acctest"
	"github.com/agentenv/terraform-provider-gpuvm/internal/provider"
)

func imported(id string, config string) resource.TestStep {
	return resource.TestStep{
		Config: config, ResourceName: name, ImportState: true, ImportStateId: id, ImportStatePersist: true,
	}
}

func TestAccImportedInstanceIsAdoptedWithoutARequest(t *testing.T) {
	service := acctest.NewGPUVM(t)
	id := service.Make(t, `{"image":"client","cpu":4,"memory_mb":1024,"disk_gb":5,"ttl_seconds":900,"ports":[80],"labels":{"owner":"ada","rack":"7"},"priority":null}`)
	config := instance(service, `image = "client"`, `cpu = 4`, `memory_mb = 2048`, `setup_script = "true"`, `exposed_ports = [80]`, `labels = { owner = "ada" }`)
	acctest.Run(t, resource.TestCase{
		CheckDestroy: service.Empty,
		Steps: []resource.TestStep{
			imported(id, config),
			{
				Config: config,
				ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
					plancheck.ExpectResourceAction(name, plancheck.ResourceActionUpdate),
					plancheck.ExpectUnknownValue(name, tfjsonpath.New("status")),
				}},
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownValue(name, tfjsonpath.New("id"), knownvalue.StringExact(id)),
					statecheck.ExpectKnownValue(name, tfjsonpath.New("status"), knownvalue.StringExact("running")),
					statecheck.ExpectKnownValue(name, tfjsonpath.New("created_at"), knownvalue.Null()),
					statecheck.ExpectKnownValue(name, tfjsonpath.New("expires_at"), knownvalue.Null()),
					statecheck.ExpectKnownValue(name, tfjsonpath.New("effective_labels"), knownvalue.MapExact(map[string]knownvalue.Check{"owner": knownvalue.StringExact("ada")})),
				},
			},
			{
				Config:           config,
				ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}},
			},
			{
				// The flag is gone: now the same change replaces.
				Config: instance(service, `image = "client"`, `cpu = 5`, `memory_mb = 2048`, `setup_script = "true"`, `exposed_ports = [80]`, `labels = { owner = "ada" }`),
				ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
					plancheck.ExpectResourceAction(name, plancheck.ResourceActionDestroyBeforeCreate),
				}},
			},
		},
	})
	if got := service.Posted(); got != 1 {
		t.Errorf("%d creates were sent, want that of the replacement only", got)
	}
}

func TestAccImportComparesPortsAndLabels(t *testing.T) {
	for title, line := range map[string]string{"port": `exposed_ports = [81]`, "label": `labels = { owner = "bob" }`, "missing label": `labels = { more = "yes" }`} {
		t.Run(title, func(t *testing.T) {
			service := acctest.NewGPUVM(t)
			id := service.Make(t, `{"image":"client","cpu":1,"memory_mb":1024,"disk_gb":5,"ttl_seconds":900,"ports":[],"labels":{"owner":"ada"},"priority":null}`)
			config := instance(service, `image = "client"`, line)
			acctest.Run(t, resource.TestCase{
				CheckDestroy: service.Empty,
				Steps: []resource.TestStep{
					imported(id, config),
					{
						Config: config,
						ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
							plancheck.ExpectResourceAction(name, plancheck.ResourceActionDestroyBeforeCreate),
						}},
						Check: func(state *terraform.State) error {
							if state.RootModule().Resources[name].Primary.ID == id {
								return fmt.Errorf("%s was not replaced", id)
							}
							return nil
						},
					},
				},
			})
		})
	}
}

func TestAccImportOfWhatIsGoneOrOdd(t *testing.T) {
	for id, says := range map[string]string{
		"vm-none": `Cannot import non-existent remote object`, "../vms": `Cannot import non-existent remote object`,
		"a b?c": `Cannot import non-existent remote object`, "..": `import id isn't usable`,
	} {
		t.Run(id, func(t *testing.T) {
			service := acctest.NewGPUVM(t)
			config := instance(service, `image = "client"`)
			acctest.Run(t, resource.TestCase{
				Steps: []resource.TestStep{{
					Config: config, ResourceName: name, ImportState: true, ImportStateId: id, ExpectError: said(says),
				}},
			})
		})
	}
}

// Nobody is told to verify the settings of a machine that is replaced.
func TestReplacedImportIsNotCalledAdopted(t *testing.T) {
	t.Parallel()
	service := acctest.NewGPUVM(t)
	p := acctest.NewProtocol(t, provider.GPUVM("test")(), acctest.Values{"base_url": service.URL, "api_token": service.Token})
	imported, diagnostics := p.Import(t.Context(), "gpuvm_instance",
		service.Make(t, `{"image":"client","cpu":1,"memory_mb":1024,"disk_gb":5,"ttl_seconds":900,"ports":[80],"labels":{},"priority":null}`))
	if len(diagnostics) > 0 {
		t.Fatal(acctest.Text(diagnostics))
	}
	for attribute, config := range map[string]acctest.Values{
		"exposed_ports": {"image": "client", "cpu": 2, "exposed_ports": []int{81}},
		"labels":        {"image": "client", "cpu": 2, "exposed_ports": []int{80}, "labels": acctest.Values{"a": "b"}},
		"":              {"image": "client", "cpu": 2, "exposed_ports": []int{80}},
	} {
		change := p.PlanChange(t.Context(), "gpuvm_instance", imported, config)
		said := acctest.Text(change.Diagnostics)
		if strings.Join(change.Replace, " ") != attribute || strings.Contains(said, "can't be verified") != (attribute == "") {
			t.Errorf("replaced through %v; it says %s", change.Replace, said)
		}
	}
}
