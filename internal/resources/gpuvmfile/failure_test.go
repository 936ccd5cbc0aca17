package gpuvmfile_test

import (
	"fmt"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"

	"github.com/agentenv/terraform-provider-gpuvm/internal/acctest"
	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/faults"
	fake "github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/gpuvm"
)

func TestAccServiceThatEchoesGetsNoContentIntoAnError(t *testing.T) {
	service := acctest.NewGPUVM(t, func(o *fake.Options) { o.EchoSecrets = true })
	const secret = "correct-horse-battery-staple"
	acctest.Run(t, resource.TestCase{
		CheckDestroy: service.Empty,
		Steps: []resource.TestStep{{
			Config: service.Provider() + fmt.Sprintf(`
resource "gpuvm_file" "motd" {
  instance_id = "vm-0"
  path        = "/etc/motd"
  content_wo  = %q
}
`, secret),
			ExpectError: said("no such vm (you sent Bearer (redacted) (redacted))"),
		}},
	})
}

func TestAccMachineGoneDropsTheFile(t *testing.T) {
	service := acctest.NewGPUVM(t)
	config := file(service, path, `content = "hello\n"`)
	acctest.Run(t, resource.TestCase{
		CheckDestroy: service.Empty,
		Steps: []resource.TestStep{
			{Config: config},
			{
				PreConfig:        func() { service.Delete(service.VMs()[0].ID) },
				Config:           config,
				ConfigPlanChecks: plans(plancheck.ResourceActionCreate),
			},
			{
				PreConfig:   func() { service.Faults().Order(faults.Fault{Kind: faults.Status, Status: 401, Times: -1}) },
				Config:      config,
				ExpectError: said("check api_token"),
			},
			{PreConfig: service.Faults().Clear, Config: config, ConfigPlanChecks: unchanged},
		},
	})
}

func TestAccLostAnswerIsUploadedAgain(t *testing.T) {
	service := acctest.NewGPUVM(t)
	service.Faults().Order(faults.Fault{Method: "PUT", Kind: faults.ResetAfter})
	acctest.Run(t, resource.TestCase{
		CheckDestroy: service.Empty,
		Steps:        []resource.TestStep{{Config: file(service, path, `content = "hello\n"`), Check: uploaded(service, "hello\n", "hello\n")}},
	})
}

func TestAccFailedUploadIsMadeGoodEvenForTheOldContent(t *testing.T) {
	service := acctest.NewGPUVM(t)
	// The old content stands in the state, and the machine holds the new one: its answer was lost.
	fail := func() {
		service.Faults().Order(faults.Fault{Method: "PUT", Kind: faults.ResetAfter, Times: 2})
	}
	acctest.Run(t, resource.TestCase{
		CheckDestroy: service.Empty,
		Steps: []resource.TestStep{
			{Config: file(service, path, `content = "hello\n"`)},
			{PreConfig: fail, Config: file(service, path, `content = "bye\n"`), ExpectError: said("File /etc/motd was not uploaded")},
			{
				PreConfig:         service.Faults().Reset,
				Config:            file(service, path, `content = "hello\n"`),
				ConfigPlanChecks:  plans(plancheck.ResourceActionUpdate),
				ConfigStateChecks: sha256(knownvalue.StringExact(hello)),
				Check:             uploaded(service, "hello\n"),
			},
			{Config: file(service, path, `content_wo = "a"`, `content_wo_version = 1`)},
			{PreConfig: fail, Config: file(service, path, `content_wo = "b"`, `content_wo_version = 2`), ExpectError: said("was not uploaded")},
			{
				PreConfig:        service.Faults().Reset,
				Config:           file(service, path, `content_wo = "a"`, `content_wo_version = 1`),
				ConfigPlanChecks: plans(plancheck.ResourceActionUpdate),
				Check:            uploaded(service, "a"),
			},
		},
	})
}
