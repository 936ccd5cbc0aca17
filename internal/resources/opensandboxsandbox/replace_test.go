package opensandboxsandbox_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"

	"github.com/agentenv/terraform-provider-gpuvm/internal/acctest"
	fake "github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/opensandbox"
)

func TestAccReplacements(t *testing.T) {
	for title, c := range map[string]struct{ before, after []string }{
		"image":          {[]string{`image = "a"`}, []string{`image = "b"`}},
		"env_wo_version": {[]string{image, `env_wo = { A = "b" }`, `env_wo_version = 1`}, []string{image, `env_wo = { A = "c" }`, `env_wo_version = 2`}},
		"ttl comes":      {[]string{image}, []string{image, `ttl_seconds = 600`}},
	} {
		t.Run(title, func(t *testing.T) {
			server := acctest.NewOpenSandbox(t)
			acctest.Run(t, resource.TestCase{
				CheckDestroy: server.Empty,
				Steps: []resource.TestStep{
					{Config: box(server, c.before...)},
					{Config: box(server, c.after...), ConfigPlanChecks: replaced},
					{Config: box(server, c.after...), ConfigPlanChecks: nothing},
				},
			})
			same(t, "creates", server.Asked("POST", "/sandboxes"), 2)
		})
	}
}

func TestAccNotedChangesSendNothing(t *testing.T) {
	server := acctest.NewOpenSandbox(t)
	acctest.Run(t, resource.TestCase{
		CheckDestroy: server.Empty,
		Steps: []resource.TestStep{
			{Config: box(server, image, `ttl_seconds = 3600`, `metadata = { a = "b c" }`)},
			{
				PreConfig: server.Faults().Reset,
				Config: box(server, image, `ttl_seconds = 3600`, `metadata = { a = "b  c" }`, `image_auth = { username = "u", password_wo = "p" }`, `skip_health_check = true`,
					`ready_timeout_seconds = 5`, `teardown_script = "true"`, `on_create_failure = "keep"`, "timeouts {\n create = \"1h\"\n}"),
				ConfigPlanChecks: updated,
				Check:            onlyGets(server),
			},
			{Config: box(server, image, `ttl_seconds = 3600`, `metadata = { a = "b  c" }`, `skip_health_check = true`), ConfigPlanChecks: updated},
			{Config: box(server, image, `ttl_seconds = 3600`, `metadata = { a = "b  c" }`, `skip_health_check = true`), ConfigPlanChecks: nothing},
		},
	})
}

func TestAccEndedSandboxIsReplaced(t *testing.T) {
	for title, end := range map[string]func(*fake.Service, string){
		"Failed":     func(s *fake.Service, id string) { s.Fail(id, "disk full") },
		"Terminated": func(s *fake.Service, id string) { s.Exit(id, 0) },
	} {
		t.Run(title, func(t *testing.T) {
			server := acctest.NewOpenSandbox(t)
			config := box(server, image, `exposed_ports = [80]`)
			acctest.Run(t, resource.TestCase{
				CheckDestroy: server.Empty,
				Steps: []resource.TestStep{
					{Config: config},
					{
						PreConfig:    func() { end(server.Service, only(t, server).ID) },
						RefreshState: true, ExpectNonEmptyPlan: true,
						RefreshPlanChecks: resource.RefreshPlanChecks{PostRefresh: []plancheck.PlanCheck{plancheck.ExpectResourceAction(name, plancheck.ResourceActionDestroyBeforeCreate)}},
					},
					{Config: config, ConfigPlanChecks: replaced, ConfigStateChecks: holds(map[string]any{"status": "Running"})},
				},
			})
		})
	}
}

func TestAccDeletedOutsideIsPlannedAnew(t *testing.T) {
	server := acctest.NewOpenSandbox(t)
	config := box(server, image)
	acctest.Run(t, resource.TestCase{
		CheckDestroy: server.Empty,
		Steps: []resource.TestStep{
			{Config: config},
			{
				PreConfig:        func() { server.Kill(only(t, server).ID) },
				Config:           config,
				ConfigPlanChecks: action(plancheck.ResourceActionCreate),
			},
		},
	})
}
