package gpuvminstance_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/agentenv/terraform-provider-gpuvm/internal/acctest"
	fake "github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/gpuvm"
)

const name = "gpuvm_instance.client"

// instance is a configuration of one instance with the given lines in it.
func instance(service *acctest.GPUVM, lines ...string) string {
	text := service.Provider() + "resource \"gpuvm_instance\" \"client\" {\n"
	for _, line := range lines {
		text += "  " + line + "\n"
	}
	return text + "}\n"
}

func TestAccCreateSendsTheWholeSpec(t *testing.T) {
	service := acctest.NewGPUVM(t)
	config := service.Provider(`default_labels = { team = "games", tier = "default" }`) + `
resource "gpuvm_instance" "client" {
  image         = "openciv3-client"
  cpu           = 2.5
  memory_mb     = 4096
  disk_gb       = 20.5
  ttl_seconds   = 600
  exposed_ports = [18765, 80]
  priority      = 3
  labels        = { tier = "own" }
}
`
	acctest.Run(t, resource.TestCase{
		CheckDestroy: service.Empty,
		Steps: []resource.TestStep{{
			Config: config,
			ConfigStateChecks: []statecheck.StateCheck{
				statecheck.ExpectKnownValue(name, tfjsonpath.New("status"), knownvalue.StringExact("running")),
				statecheck.ExpectKnownValue(name, tfjsonpath.New("ports"), knownvalue.MapSizeExact(2)),
				statecheck.ExpectKnownValue(name, tfjsonpath.New("ports").AtMapKey("80"), knownvalue.StringRegexp(regexp.MustCompile("^http"))),
				statecheck.ExpectKnownValue(name, tfjsonpath.New("vnc_url"), knownvalue.StringRegexp(regexp.MustCompile("^http"))),
				statecheck.ExpectKnownValue(name, tfjsonpath.New("error"), knownvalue.Null()),
				statecheck.ExpectKnownValue(name, tfjsonpath.New("effective_labels"), knownvalue.MapExact(map[string]knownvalue.Check{
					"team": knownvalue.StringExact("games"), "tier": knownvalue.StringExact("own"),
				})),
				statecheck.ExpectKnownValue(name, tfjsonpath.New("attribution_labels"), knownvalue.MapSizeExact(0)),
				statecheck.ExpectKnownValue(name, tfjsonpath.New("created_at"), knownvalue.StringRegexp(regexp.MustCompile(`Z$`))),
				statecheck.ExpectKnownValue(name, tfjsonpath.New("expires_at"), knownvalue.StringRegexp(regexp.MustCompile(`Z$`))),
			},
			Check: func(*terraform.State) error {
				for _, request := range service.Faults().Requests() {
					if request.Method != "POST" {
						continue
					}
					var got map[string]any
					if err := json.Unmarshal(request.Body, &got); err != nil {
						return err
					}
					want := `map[cpu:2.5 disk_gb:20.5 image:openciv3-client labels:map[team:games tier:own] memory_mb:4096 ports:[80 18765] priority:3 ttl_seconds:600]`
					if fmt.Sprint(got) != want {
						return fmt.Errorf("sent %v", got)
					}
					if request.Header.Get("Idempotency-Key") == "" {
						return fmt.Errorf("no Idempotency-Key")
					}
				}
				return nil
			},
		}, {
			Config:           config,
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}},
		}},
	})
	if got := service.Posted(); got != 1 {
		t.Errorf("%d creates were sent, want 1", got)
	}
}

func TestAccDefaults(t *testing.T) {
	service := acctest.NewGPUVM(t)
	acctest.Run(t, resource.TestCase{
		CheckDestroy: service.Empty,
		Steps: []resource.TestStep{{
			Config: instance(service, `image = "client"`),
			ConfigStateChecks: []statecheck.StateCheck{
				statecheck.ExpectKnownValue(name, tfjsonpath.New("cpu"), knownvalue.Float64Exact(1)),
				statecheck.ExpectKnownValue(name, tfjsonpath.New("memory_mb"), knownvalue.Int64Exact(8192)),
				statecheck.ExpectKnownValue(name, tfjsonpath.New("disk_gb"), knownvalue.Float64Exact(10)),
				statecheck.ExpectKnownValue(name, tfjsonpath.New("ttl_seconds"), knownvalue.Int64Exact(7200)),
				statecheck.ExpectKnownValue(name, tfjsonpath.New("exposed_ports"), knownvalue.SetSizeExact(0)),
				statecheck.ExpectKnownValue(name, tfjsonpath.New("labels"), knownvalue.Null()),
				statecheck.ExpectKnownValue(name, tfjsonpath.New("priority"), knownvalue.Null()),
				statecheck.ExpectKnownValue(name, tfjsonpath.New("on_create_failure"), knownvalue.StringExact("delete")),
			},
		}},
	})
}

func TestAccPortsAreKnownByKeyAtPlan(t *testing.T) {
	service := acctest.NewGPUVM(t)
	acctest.Run(t, resource.TestCase{
		CheckDestroy: service.Empty,
		Steps: []resource.TestStep{{
			Config: instance(service, `image = "client"`, `exposed_ports = [80, 443]`) + `
resource "terraform_data" "link" {
  count = join(",", keys(gpuvm_instance.client.ports)) == "443,80" ? 2 : 0
  input = values(gpuvm_instance.client.ports)[count.index]
}
`,
			ConfigStateChecks: []statecheck.StateCheck{
				statecheck.ExpectKnownValue(`terraform_data.link[0]`, tfjsonpath.New("output"), knownvalue.StringRegexp(regexp.MustCompile("443"))),
			},
		}},
	})
}

func TestAccChangesInPlaceSendNothing(t *testing.T) {
	service := acctest.NewGPUVM(t)
	acctest.Run(t, resource.TestCase{
		CheckDestroy: service.Empty,
		Steps: []resource.TestStep{{
			Config: instance(service, `image = "client"`),
		}, {
			PreConfig: func() { service.Faults().Reset() },
			Config: instance(service, `image = "client"`, `teardown_script = "true"`, `on_create_failure = "keep"`,
				`readiness_command = ["true"]`, `labels = {}`, `setup_script = ""`, `files = {}`, `network_policy {`, `default_action = "allow"`, `}`),
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
				plancheck.ExpectResourceAction(name, plancheck.ResourceActionUpdate),
				plancheck.ExpectKnownValue(name, tfjsonpath.New("vnc_url"), knownvalue.NotNull()),
				plancheck.ExpectKnownValue(name, tfjsonpath.New("status"), knownvalue.StringExact("running")),
			}},
		}},
	})
	if got := service.Posted(); got != 0 {
		t.Errorf("%d requests were posted by an update that needs none", got)
	}
}

func TestAccReplacements(t *testing.T) {
	for attribute, line := range map[string]string{
		"image": `image = "other"`, "cpu": `cpu = 2`, "memory_mb": `memory_mb = 1024`, "disk_gb": `disk_gb = 11`, "ttl_seconds": `ttl_seconds = 60`,
		"exposed_ports": `exposed_ports = [80]`, "labels": `labels = { a = "b" }`, "priority": `priority = 1`,
		"files": `files = { "/etc/motd" = { content = "hello" } }`, "files_wo_version": `files_wo_version = 2`, "setup_script": `setup_script = "true"`,
	} {
		t.Run(attribute, func(t *testing.T) {
			service := acctest.NewGPUVM(t)
			lines := []string{line}
			if attribute != "image" {
				lines = append(lines, `image = "client"`)
			}
			acctest.Run(t, resource.TestCase{
				CheckDestroy: service.Empty,
				Steps: []resource.TestStep{
					{Config: instance(service, `image = "client"`)},
					{
						Config: instance(service, lines...),
						ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
							plancheck.ExpectResourceAction(name, plancheck.ResourceActionDestroyBeforeCreate),
						}},
					},
				},
			})
			if got := len(service.VMs()); got != 0 {
				t.Errorf("%d machines are left", got)
			}
		})
	}
}

func TestAccDeletedOutsideIsPlannedAnew(t *testing.T) {
	service := acctest.NewGPUVM(t)
	acctest.Run(t, resource.TestCase{
		CheckDestroy: service.Empty,
		Steps: []resource.TestStep{
			{Config: instance(service, `image = "client"`)},
			{
				PreConfig: func() { service.Delete(service.VMs()[0].ID) },
				Config:    instance(service, `image = "client"`),
				ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
					plancheck.ExpectResourceAction(name, plancheck.ResourceActionCreate),
				}},
			},
		},
	})
}

func TestAccFailedLaterIsShownAndReplaced(t *testing.T) {
	service := acctest.NewGPUVM(t)
	acctest.Run(t, resource.TestCase{
		CheckDestroy: service.Empty,
		Steps: []resource.TestStep{
			{Config: instance(service, `image = "client"`)},
			{
				PreConfig:          func() { service.Fail(service.VMs()[0].ID, "GPU fell off the bus") },
				RefreshState:       true,
				ExpectNonEmptyPlan: true,
				RefreshPlanChecks: resource.RefreshPlanChecks{PostRefresh: []plancheck.PlanCheck{
					plancheck.ExpectResourceAction(name, plancheck.ResourceActionDestroyBeforeCreate),
				}},
				Check: resource.TestCheckResourceAttr(name, "error", "GPU fell off the bus"),
			},
			{Config: instance(service, `image = "client"`), Check: resource.TestCheckResourceAttr(name, "status", "running")},
		},
	})
}

func TestAccWhatTheServiceRewritesIsNoDrift(t *testing.T) {
	service := acctest.NewGPUVM(t, func(o *fake.Options) {
		o.ForeignLabels = map[string]string{"scheduler": "rack-7"}
		o.RewriteLabel = func(_, value string) string { return "x-" + value }
		o.RewriteImage = func(image string) string { return "registry/" + image + ":latest" }
	})
	acctest.Run(t, resource.TestCase{
		CheckDestroy: service.Empty,
		Steps: []resource.TestStep{
			{Config: instance(service, `image = "client"`, `labels = { team = "games" }`)},
			{
				Config:           instance(service, `image = "client"`, `labels = { team = "games" }`),
				ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}},
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownValue(name, tfjsonpath.New("image"), knownvalue.StringExact("client")),
					statecheck.ExpectKnownValue(name, tfjsonpath.New("labels"), knownvalue.MapExact(map[string]knownvalue.Check{"team": knownvalue.StringExact("games")})),
				},
			},
		},
	})
}

func TestAccOwnLabelChangedOutsideReplaces(t *testing.T) {
	service := acctest.NewGPUVM(t)
	acctest.Run(t, resource.TestCase{
		CheckDestroy: service.Empty,
		Steps: []resource.TestStep{
			{Config: instance(service, `image = "client"`, `labels = { team = "games" }`)},
			{
				PreConfig: func() { service.SetLabels(service.VMs()[0].ID, map[string]string{"team": "other"}) },
				Config:    instance(service, `image = "client"`, `labels = { team = "games" }`),
				ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
					plancheck.ExpectResourceAction(name, plancheck.ResourceActionDestroyBeforeCreate),
				}},
			},
		},
	})
}

func TestAccLabelPutBackOutsideIsNoDrift(t *testing.T) {
	service := acctest.NewGPUVM(t)
	config := instance(service, `image = "client"`, `labels = { team = "games", tier = "gold" }`)
	change := func(labels map[string]string) func() {
		return func() { service.SetLabels(service.VMs()[0].ID, labels) }
	}
	acctest.Run(t, resource.TestCase{
		CheckDestroy: service.Empty,
		Steps: []resource.TestStep{
			{Config: config},
			{
				PreConfig: change(map[string]string{"tier": "lead"}), RefreshState: true, ExpectNonEmptyPlan: true,
				Check: resource.ComposeTestCheckFunc(resource.TestCheckResourceAttr(name, "labels.tier", "lead"), resource.TestCheckNoResourceAttr(name, "labels.team")),
			},
			{PreConfig: change(map[string]string{"team": "games", "tier": "gold"}), RefreshState: true, Check: resource.TestCheckResourceAttr(name, "labels.team", "games")},
		},
	})
}

func TestAccDefaultLabelsNeverReplace(t *testing.T) {
	service := acctest.NewGPUVM(t)
	body := "resource \"gpuvm_instance\" \"client\" {\n  image = \"client\"\n}\n"
	acctest.Run(t, resource.TestCase{
		CheckDestroy: service.Empty,
		Steps: []resource.TestStep{
			{Config: service.Provider(`default_labels = { team = "games" }`) + body},
			{
				Config:           service.Provider(`default_labels = { team = "other", new = "yes" }`) + body,
				ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}},
			},
		},
	})
}
