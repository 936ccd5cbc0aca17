package gpuvmfile_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/config"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/agentenv/terraform-provider-gpuvm/internal/acctest"
)

const (
	name  = "gpuvm_file.motd"
	hello = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03" // SHA-256 of "hello\n"
	empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
)

// file is a configuration of a machine, and of one file in it with the given lines.
func file(service *acctest.GPUVM, lines ...string) string {
	return service.Provider(`max_retries = 1`) + `
resource "gpuvm_instance" "client" {
  image = "client"
}

resource "gpuvm_file" "motd" {
  instance_id = gpuvm_instance.client.id
` + strings.Join(lines, "\n") + "\n}\n"
}

const path = `path = "/etc/motd"`

func said(text string) *regexp.Regexp {
	return regexp.MustCompile(`(?s)` + strings.ReplaceAll(regexp.QuoteMeta(text), " ", `[\s│]+`))
}

// puts lists the contents that were uploaded.
func puts(service *acctest.GPUVM) []string {
	var bodies []string
	for _, request := range service.Faults().Requests() {
		if request.Method == "PUT" {
			bodies = append(bodies, string(request.Body))
		}
	}
	return bodies
}

// uploaded checks what was uploaded since the requests were last forgotten.
func uploaded(service *acctest.GPUVM, want ...string) resource.TestCheckFunc {
	return func(*terraform.State) error {
		if got := puts(service); fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
			return fmt.Errorf("uploaded %q, want %q", got, want)
		}
		return nil
	}
}

func sha256(want knownvalue.Check) []statecheck.StateCheck {
	return []statecheck.StateCheck{statecheck.ExpectKnownValue(name, tfjsonpath.New("sha256"), want)}
}

func plans(action plancheck.ResourceActionType) resource.ConfigPlanChecks {
	checks := []plancheck.PlanCheck{plancheck.ExpectResourceAction(name, action)}
	if action == plancheck.ResourceActionUpdate {
		checks = append(checks, plancheck.ExpectUnknownValue(name, tfjsonpath.New("sha256")))
	}
	return resource.ConfigPlanChecks{PreApply: checks}
}

var unchanged = resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}}

func TestAccContentIsUploadedAndChangedInPlace(t *testing.T) {
	service := acctest.NewGPUVM(t)
	acctest.Run(t, resource.TestCase{
		CheckDestroy: service.Empty,
		Steps: []resource.TestStep{
			{
				Config:            file(service, path, `content = "hello\n"`),
				ConfigStateChecks: sha256(knownvalue.StringExact(hello)),
				Check:             uploaded(service, "hello\n"),
			},
			{
				PreConfig:        service.Faults().Reset,
				Config:           file(service, path, `content = "hello\n"`),
				ConfigPlanChecks: unchanged,
			},
			{
				Config:            file(service, path, `content = ""`),
				ConfigPlanChecks:  plans(plancheck.ResourceActionUpdate),
				ConfigStateChecks: sha256(knownvalue.StringExact(empty)),
				Check:             uploaded(service, ""),
			},
			{
				PreConfig:         service.Faults().Reset,
				Config:            file(service, path, `content_base64 = "aGVsbG8K"`),
				ConfigPlanChecks:  plans(plancheck.ResourceActionUpdate),
				ConfigStateChecks: sha256(knownvalue.StringExact(hello)),
				Check:             uploaded(service, "hello\n"),
			},
		},
	})
}

func TestAccFileStandsWhereCommandsSeeIt(t *testing.T) {
	service := acctest.NewGPUVM(t)
	acctest.Run(t, resource.TestCase{
		CheckDestroy: service.Empty,
		Steps: []resource.TestStep{{
			Config: file(service, `path = "/etc/a b/ü&?#.conf"`, `content = "hello\n"`) + `
resource "gpuvm_exec" "read" {
  instance_id = gpuvm_instance.client.id
  argv        = ["cat", gpuvm_file.motd.path]
  triggers    = { content = gpuvm_file.motd.sha256 }
}
`,
			ConfigStateChecks: []statecheck.StateCheck{
				statecheck.ExpectKnownValue("gpuvm_exec.read", tfjsonpath.New("stdout"), knownvalue.StringExact("hello\n")),
			},
		}},
	})
}

func TestAccSourceIsReadAtPlanAndUploadedAgainWhenItChanges(t *testing.T) {
	service := acctest.NewGPUVM(t)
	local := filepath.Join(t.TempDir(), "motd")
	write := func(content string) func() {
		return func() {
			service.Faults().Reset()
			if err := os.WriteFile(local, []byte(content), 0o600); err != nil {
				t.Error(err)
			}
		}
	}
	config := file(service, path, fmt.Sprintf("source = %q", local))
	acctest.Run(t, resource.TestCase{
		CheckDestroy: service.Empty,
		Steps: []resource.TestStep{
			{Config: config, ExpectError: said("no such file")},
			{PreConfig: write("hello\n"), Config: config, ConfigStateChecks: sha256(knownvalue.StringExact(hello)), Check: uploaded(service, "hello\n")},
			{PreConfig: write("hello\n"), Config: config, ConfigPlanChecks: unchanged},
			{
				PreConfig: write("bye\n"), Config: config,
				ConfigPlanChecks: plans(plancheck.ResourceActionUpdate),
				Check:            uploaded(service, "bye\n"),
			},
			{PreConfig: write("bye\n"), Config: config, ConfigPlanChecks: unchanged},
		},
	})
}

func TestAccDestroyDoesntNeedTheSource(t *testing.T) {
	service := acctest.NewGPUVM(t)
	local := filepath.Join(t.TempDir(), "motd")
	if err := os.WriteFile(local, []byte("hello\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	acctest.Run(t, resource.TestCase{
		CheckDestroy: service.Empty,
		Steps: []resource.TestStep{{
			Config: file(service, path, fmt.Sprintf("source = %q", local)),
			Check:  func(*terraform.State) error { return nil },
		}, {
			PreConfig: func() { _ = os.Remove(local) },
			Config:    service.Provider(),
		}},
	})
}

func TestAccWriteOnlyContentStandsNowhere(t *testing.T) {
	service := acctest.NewGPUVM(t)
	const secret = "correct-horse-battery-staple"
	wo := func(content, version string) string {
		return file(service, path, fmt.Sprintf("content_wo = %q", content), version)
	}
	acctest.Run(t, resource.TestCase{
		CheckDestroy: service.Empty,
		Steps: []resource.TestStep{
			{
				Config:            wo(secret, `content_wo_version = 1`),
				ConfigStateChecks: append(sha256(knownvalue.Null()), statecheck.ExpectKnownValue(name, tfjsonpath.New("content_wo"), knownvalue.Null())),
				Check:             uploaded(service, secret),
			},
			{PreConfig: service.Faults().Reset, Config: wo("other", `content_wo_version = 1`), ConfigPlanChecks: unchanged},
			{
				Config:            wo("other", `content_wo_version = 2`),
				ConfigPlanChecks:  plans(plancheck.ResourceActionUpdate),
				ConfigStateChecks: sha256(knownvalue.Null()),
				Check:             uploaded(service, "other"),
			},
			{
				PreConfig:         service.Faults().Reset,
				Config:            file(service, path, `content = "hello\n"`),
				ConfigPlanChecks:  plans(plancheck.ResourceActionUpdate),
				ConfigStateChecks: sha256(knownvalue.StringExact(hello)),
				Check:             uploaded(service, "hello\n"),
			},
			{
				PreConfig:         service.Faults().Reset,
				Config:            wo("hello\n", ""),
				ConfigPlanChecks:  plans(plancheck.ResourceActionUpdate),
				ConfigStateChecks: sha256(knownvalue.Null()),
				Check:             uploaded(service, "hello\n"),
			},
		},
	})
}

func TestAccWhatReplaces(t *testing.T) {
	service := acctest.NewGPUVM(t)
	config := file(service, path, `content = "hello\n"`)
	acctest.Run(t, resource.TestCase{
		CheckDestroy: service.Empty,
		Steps: []resource.TestStep{
			{Config: config},
			{Config: strings.Replace(config, "/etc/motd", "/etc/issue", 1), ConfigPlanChecks: plans(plancheck.ResourceActionDestroyBeforeCreate)},
			{Config: strings.Replace(config, `"client"`+"\n}", `"other"`+"\n}", 1), ConfigPlanChecks: plans(plancheck.ResourceActionDestroyBeforeCreate)},
		},
	})
	if got := puts(service); len(got) != 3 {
		t.Errorf("uploaded %d times", len(got))
	}
}

func TestAccUnknownContent(t *testing.T) {
	service := acctest.NewGPUVM(t)
	acctest.Run(t, resource.TestCase{
		CheckDestroy: service.Empty,
		Steps: []resource.TestStep{
			{
				Config: file(service, path, `content = terraform_data.late.output`, `content_base64 = terraform_data.null.output`) + `
resource "terraform_data" "late" {
  input = "hello\n"
}
resource "terraform_data" "null" {
}
`,
				Check: uploaded(service, "hello\n"),
			},
			{
				Config: file(service, path, `source = terraform_data.gone.output`) + `
resource "terraform_data" "gone" {
  input = "/no/such/file"
}
`,
				ExpectError: said("no such file"),
			},
		},
	})
}

// secret is the variable of the example.
var secret = config.Variables{"api_key": config.StringVariable("correct-horse-battery-staple")}

func TestAccExample(t *testing.T) {
	service := acctest.NewGPUVM(t)
	example := acctest.Example(t, "gpuvm/resources/gpuvm_file/resource.tf", service.Provider())
	acctest.Run(t, resource.TestCase{
		CheckDestroy: service.Empty,
		Steps: []resource.TestStep{
			{Config: example, ConfigVariables: secret},
			{Config: example, ConfigVariables: secret, ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}}},
		},
	})
}
