package gpuvminstance_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"

	"github.com/agentenv/terraform-provider-gpuvm/internal/acctest"
	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/faults"
	fake "github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/gpuvm"
)

// failing is one way for a create to fail after the request.
type failing struct {
	fault *faults.Fault
	lines []string
	says  string // regular expression of the error
}

var failures = map[string]failing{
	"boot fails": {
		lines: []string{`image = "fail-boot"`},
		says:  `Instance did not boot(.|\s)*What became of it: vm-\S+ was deleted again`,
	},
	"boot never ends": {
		lines: []string{`image = "hang-boot"`, `timeouts {`, `create = "300ms"`, `}`},
		says:  `Instance did not boot(.|\s)*booting(.|\s)*deleted again`,
	},
	"upload fails": {
		fault: &faults.Fault{Method: "PUT", Kind: "status", Status: 413, Body: `{"error":"file too large"}`},
		lines: []string{`image = "client"`, `files = { "/etc/motd" = { content = "hello" } }`},
		says:  `File upload failed(.|\s)*/etc/motd(.|\s)*file too large(.|\s)*deleted again`,
	},
	"script fails": {
		lines: []string{`image = "client"`, `setup_script = "echo out; echo no such display >&2; exit 3"`},
		says:  `Setup script failed(.|\s)*Script failed \(exit 3\)(.|\s)*no such display(.|\s)*deleted again`,
	},
	"script's answer is lost": {
		fault: &faults.Fault{Method: "POST", Path: "/v1/vms/*/exec", Kind: "reset-after"},
		lines: []string{`image = "client"`, `setup_script = "true"`},
		says:  `Setup script failed(.|\s)*deleted again`,
	},
	"readiness is refused": {
		fault: &faults.Fault{Method: "POST", Path: "/v1/vms/*/exec", Kind: "status", Status: 400, Body: `{"error":"no agent"}`},
		lines: []string{`image = "client"`, `readiness_command = ["true"]`},
		says:  `Instance did not become ready(.|\s)*no agent(.|\s)*deleted again`,
	},
	"never ready": {
		lines: []string{`image = "client"`, `readiness_command = ["false"]`, `timeouts {`, `create = "400ms"`, `}`},
		says:  `Instance did not become ready(.|\s)*exit code 1(.|\s)*deleted again`,
	},
	"refused": {
		fault: &faults.Fault{Method: "POST", Path: "/v1/vms", Kind: "status", Status: 422, Body: `{"error":"no such image"}`},
		lines: []string{`image = "client"`},
		says:  `Instance was not created(.|\s)*HTTP 422: no such image(.|\s)*no machine was made`,
	},
}

func TestAccFailedCreateLeavesNoMachine(t *testing.T) {
	for title, failure := range failures {
		t.Run(title, func(t *testing.T) {
			service := startFailing(t, failure)
			acctest.Run(t, resource.TestCase{
				CheckDestroy: service.Empty,
				Steps:        []resource.TestStep{{Config: instance(service, failure.lines...), ExpectError: said(failure.says)}},
			})
			if left := service.VMs(); len(left) != 0 {
				t.Errorf("%d machines are left", len(left))
			}
		})
	}
}

func TestAccFailedCreateThatIsKeptIsTaintedAndReplaced(t *testing.T) {
	for title, failure := range failures {
		if title == "refused" {
			continue
		}
		t.Run(title, func(t *testing.T) {
			service := startFailing(t, failure)
			says := strings.ReplaceAll(failure.says, "was deleted again", "is kept for debugging")
			says = strings.ReplaceAll(says, "deleted again", "is kept for debugging")
			acctest.Run(t, resource.TestCase{
				CheckDestroy: service.Empty,
				Steps: []resource.TestStep{
					{Config: instance(service, append([]string{`on_create_failure = "keep"`}, failure.lines...)...), ExpectError: said(says)},
					{
						PreConfig: func() {
							if left := service.VMs(); len(left) != 1 {
								t.Errorf("%d machines stand, want the kept one", len(left))
							}
						},
						Config: instance(service, `image = "client"`),
						ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
							plancheck.ExpectResourceAction(name, plancheck.ResourceActionDestroyBeforeCreate),
						}},
						Check: func(*terraform.State) error {
							if left := service.VMs(); len(left) != 1 {
								return fmt.Errorf("%d machines stand, want one", len(left))
							}
							return nil
						},
					},
				},
			})
		})
	}
}

func TestAccUndeletableMachineOfAFailedCreateStaysInState(t *testing.T) {
	service := acctest.NewGPUVM(t)
	service.Faults().Order(faults.Fault{Method: "DELETE", Kind: "status", Status: 409, Body: `{"error":"busy"}`})
	acctest.Run(t, resource.TestCase{
		CheckDestroy: service.Empty,
		Steps: []resource.TestStep{
			{
				Config:      instance(service, `image = "fail-boot"`),
				ExpectError: said(`could NOT be deleted(.|\s)*busy(.|\s)*in the state, tainted`),
			},
			{Config: instance(service, `image = "client"`)},
		},
	})
}

// An answer that isn't a VM may stand for one all the same.
func TestAccMalformedAnswersLeaveNoMachine(t *testing.T) {
	for title, c := range map[string]struct{ body, more, says string }{
		"no status":              {`{"id":"ID"}`, "", `isn't what its contract says: it has no status(.|\s)*deleted again`},
		"no status, and to keep": {`{"id":"ID"}`, `on_create_failure = "keep"`, `isn't what its contract says: it has no status(.|\s)*deleted again`},
		"status is a number":     {`{"id":"ID","status":7}`, "", `isn't what its contract says: status is a number(.|\s)*deleted again`},
		"a port is missing":      {`{"id":"ID","status":"running","ports":{"80":"http://a.example"}}`, "", `lacks an exposed port(.|\s)*81(.|\s)*deleted again`},
	} {
		t.Run(title, func(t *testing.T) {
			seeded := func(o *fake.Options) { o.Seed = 7 }
			const body = `{"image":"client","cpu":1,"memory_mb":1,"disk_gb":1,"ttl_seconds":60,"ports":[],"labels":{},"priority":null}`
			id := acctest.NewGPUVM(t, seeded).Make(t, body)
			service := acctest.NewGPUVM(t, seeded)
			service.Faults().Order(faults.Fault{Method: "POST", Path: "/v1/vms", Kind: "garbage", Status: 201, Body: strings.ReplaceAll(c.body, "ID", id)})
			acctest.Run(t, resource.TestCase{
				Steps: []resource.TestStep{{Config: instance(service, `image = "client"`, `exposed_ports = [80, 81]`, c.more), ExpectError: said(c.says)}},
			})
			if left := service.VMs(); len(left) != 0 {
				t.Errorf("%d machines are left", len(left))
			}
		})
	}
}

func TestAccOpenOutcomes(t *testing.T) {
	for _, kind := range []faults.Kind{"reset-before", "reset-after", "cut", "garbage", "empty"} {
		t.Run("service honours keys, "+string(kind), func(t *testing.T) {
			service := acctest.NewGPUVM(t)
			service.Faults().Order(faults.Fault{Method: "POST", Path: "/v1/vms", Kind: kind})
			acctest.Run(t, resource.TestCase{
				CheckDestroy: service.Empty,
				Steps: []resource.TestStep{{
					Config: instance(service, `image = "client"`),
					Check: func(state *terraform.State) error {
						vms := service.VMs()
						if len(vms) != 1 || vms[0].ID != state.RootModule().Resources[name].Primary.ID {
							return fmt.Errorf("the service holds %d machines, the state %s", len(vms), state.RootModule().Resources[name].Primary.ID)
						}
						return nil
					},
				}},
			})
		})
		t.Run("service doesn't know keys, "+string(kind), func(t *testing.T) {
			service := acctest.NewGPUVM(t, func(o *fake.Options) { o.IdempotencyKeys = false })
			service.Faults().Order(faults.Fault{Method: "POST", Path: "/v1/vms", Kind: kind})
			acctest.Run(t, resource.TestCase{
				Steps: []resource.TestStep{{
					Config:      instance(service, `image = "client"`, `labels = { owner = "ada" }`),
					ExpectError: said(`doesn't honour Idempotency-Key(.|\s)*owner=ada(.|\s)*Idempotency-Key`),
				}},
			})
			// The one whose answer was lost may stand; a second never does.
			if left := len(service.VMs()); left > 1 || kind == "reset-before" && left != 0 {
				t.Errorf("%d machines stand", left)
			}
		})
	}
}

func TestAccOnly404And410DropTheInstance(t *testing.T) {
	for _, status := range []int{401, 403, 400, 409} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			service := acctest.NewGPUVM(t)
			acctest.Run(t, resource.TestCase{
				CheckDestroy: service.Empty,
				Steps: []resource.TestStep{
					{Config: instance(service, `image = "client"`)},
					{
						PreConfig: func() {
							service.Faults().Order(faults.Fault{Method: "GET", Kind: "status", Status: status, Body: `{"error":"not today"}`})
						},
						Config: instance(service, `image = "client"`), ExpectError: said("can't be read(.|\\s)*not today"),
					},
					{
						Config:           instance(service, `image = "client"`),
						ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}},
					},
				},
			})
		})
	}
}

func TestAccTeardownScript(t *testing.T) {
	service := acctest.NewGPUVM(t)
	acctest.Run(t, resource.TestCase{
		CheckDestroy: service.Empty,
		Steps: []resource.TestStep{
			{Config: instance(service, `image = "client"`, `teardown_script = "echo unsaved work >&2; exit 4"`)},
			{
				Config: service.Provider(), ExpectError: said(`Teardown of vm-\S+ failed(.|\s)*Script failed \(exit 4\)(.|\s)*unsaved work(.|\s)*not destroyed`),
			},
			{Config: instance(service, `image = "client"`, `teardown_script = "true"`)},
		},
	})
}

func TestAccSourceFiles(t *testing.T) {
	service := acctest.NewGPUVM(t)
	source := filepath.Join(t.TempDir(), "motd")
	write := func(text string) func() {
		return func() {
			if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	config := instance(service, `image = "client"`, fmt.Sprintf(`files = { "/etc/motd" = { source = %q } }`, source))
	acctest.Run(t, resource.TestCase{
		CheckDestroy: service.Empty,
		Steps: []resource.TestStep{
			{Config: config, PlanOnly: true, ExpectError: said(`Source file can't be read`)},
			{PreConfig: write("one"), Config: config},
			{Config: config, ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}}},
			{
				PreConfig: write("two"), Config: config,
				ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
					plancheck.ExpectResourceAction(name, plancheck.ResourceActionDestroyBeforeCreate),
				}},
			},
		},
	})
}

func startFailing(t *testing.T, failure failing) *acctest.GPUVM {
	service := acctest.NewGPUVM(t)
	if failure.fault != nil {
		service.Faults().Order(*failure.fault)
	}
	return service
}

// said matches an error text however the program wraps its lines.
func said(pattern string) *regexp.Regexp {
	return regexp.MustCompile(strings.ReplaceAll(pattern, " ", `[\s│]+`))
}
