package opensandboxfile_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"

	"github.com/agentenv/terraform-provider-gpuvm/internal/acctest"
	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/faults"
	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/machine"
)

func TestAccChangesInTheSandboxAreSeenAndPutRight(t *testing.T) {
	for title, content := range map[string]string{
		"as long": "jello\n", "longer": strings.Repeat("long\n", 1000),
	} {
		t.Run(title, func(t *testing.T) {
			server := acctest.NewOpenSandbox(t)
			config := file(server, path, `content = "hello\n"`)
			acctest.Run(t, resource.TestCase{
				CheckDestroy: server.Empty,
				Steps: []resource.TestStep{
					{Config: config},
					{
						PreConfig:         write(t, server, content),
						Config:            config,
						ConfigPlanChecks:  plans(plancheck.ResourceActionUpdate),
						ConfigStateChecks: sha256(knownvalue.StringExact(hello)),
						Check:             holds(server, "hello\n", 0o755),
					},
				},
			})
		})
	}
}

func TestAccAnEmptyFileThatGrewIsSeen(t *testing.T) {
	server := acctest.NewOpenSandbox(t)
	config := file(server, path, `content = ""`)
	acctest.Run(t, resource.TestCase{
		CheckDestroy: server.Empty,
		Steps: []resource.TestStep{
			{Config: config},
			{PreConfig: write(t, server, "x"), Config: config, ConfigPlanChecks: plans(plancheck.ResourceActionUpdate), Check: holds(server, "", 0o755)},
		},
	})
}

func TestAccFileOrSandboxGoneIsPlannedAnew(t *testing.T) {
	server := acctest.NewOpenSandbox(t)
	config := file(server, path, `content = "hello\n"`)
	acctest.Run(t, resource.TestCase{
		CheckDestroy: server.Empty,
		Steps: []resource.TestStep{
			{Config: config},
			{
				PreConfig: func() {
					if err := inside(server).Remove("/etc/motd"); err != nil {
						t.Error(err)
					}
				},
				Config:           config,
				ConfigPlanChecks: plans(plancheck.ResourceActionCreate),
				Check:            holds(server, "hello\n", 0o755),
			},
			{
				PreConfig:        func() { server.Kill(server.Sandboxes()[0].ID) },
				Config:           config,
				ConfigPlanChecks: plans(plancheck.ResourceActionCreate),
				Check:            holds(server, "hello\n", 0o755),
			},
			{
				PreConfig:   func() { server.Faults().Order(faults.Fault{Kind: faults.Status, Status: 401, Times: -1}) },
				Config:      config,
				ExpectError: said("can't be read"),
			},
			{PreConfig: server.Faults().Clear, Config: config, ConfigPlanChecks: unchanged},
		},
	})
}

func TestAccPausedSandboxIsLeftAlone(t *testing.T) {
	server := acctest.NewOpenSandbox(t)
	paused := func(extra string) string {
		return strings.Replace(file(server, path, `content = "hello\n"`), `image = "busybox"`, "image = \"busybox\"\n  paused = true\n"+extra, 1)
	}
	acctest.Run(t, resource.TestCase{
		CheckDestroy: server.Empty,
		Steps: []resource.TestStep{
			{Config: file(server, path, `content = "hello\n"`)},
			{Config: paused("")},
			{Config: paused(""), ConfigPlanChecks: unchanged},
			// Destroyed while it is paused: the file can't be deleted, and nothing fails.
		},
	})
}

func TestAccFailedUploadIsMadeGoodEvenForTheOldContent(t *testing.T) {
	server := acctest.NewOpenSandbox(t)
	acctest.Run(t, resource.TestCase{
		CheckDestroy: server.Empty,
		Steps: []resource.TestStep{
			{Config: file(server, path, `content = "hello\n"`)},
			{
				PreConfig: func() {
					server.Faults().Order(faults.Fault{Method: "POST", Path: "/direct/**", Kind: faults.ResetAfter, Times: -1})
				},
				Config:      file(server, path, `content = "bye\n"`),
				ExpectError: said("File /etc/motd was not uploaded"),
			},
			{
				PreConfig:         server.Faults().Clear,
				Config:            file(server, path, `content = "hello\n"`),
				ConfigPlanChecks:  plans(plancheck.ResourceActionUpdate),
				ConfigStateChecks: sha256(knownvalue.StringExact(hello)),
				Check:             holds(server, "hello\n", 0o755),
			},
		},
	})
}

// A folder in the file's place, or a file in the place of its folder, holds up neither a plan nor a destroy.
func TestAccSomethingElseInTheFilesPlaceIsToldWhenItIsPutRight(t *testing.T) {
	for says, put := range map[string]string{"is a directory": "/etc/app/motd/deeper", "not a directory": "/etc/app"} {
		t.Run(says, func(t *testing.T) {
			server := acctest.NewOpenSandbox(t)
			config := file(server, `path = "/etc/app/motd"`, `content = "hello\n"`)
			acctest.Run(t, resource.TestCase{
				CheckDestroy: server.Empty,
				Steps: []resource.TestStep{
					{Config: config},
					{
						PreConfig: func() {
							err := errors.Join(inside(server).Remove("/etc/app"), inside(server).WriteFile(put, machine.File{}))
							if err != nil {
								t.Error(err)
							}
						},
						Config:           config,
						ConfigPlanChecks: plans(plancheck.ResourceActionUpdate),
						ExpectError:      said(says),
					},
				},
			})
		})
	}
}
