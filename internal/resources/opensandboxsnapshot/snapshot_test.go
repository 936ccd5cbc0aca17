package opensandboxsnapshot_test

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
)

const name = "opensandbox_snapshot.daily"

// taken is the configuration of a sandbox and of a snapshot of it, with the given lines in its block.
func taken(server *acctest.OpenSandbox, lines string) string {
	return server.Provider() + `
resource "opensandbox_sandbox" "source" {
  image = "busybox"
}

resource "opensandbox_snapshot" "daily" {
  sandbox_id = opensandbox_sandbox.source.id
` + lines + "\n}\n"
}

func action(want plancheck.ResourceActionType) resource.ConfigPlanChecks {
	return resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectResourceAction(name, want)}}
}

func noChange() resource.ConfigPlanChecks {
	return resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}}
}

func known(attribute string, check knownvalue.Check) statecheck.StateCheck {
	return statecheck.ExpectKnownValue(name, tfjsonpath.New(attribute), check)
}

// posted is a check of how many snapshots were asked for.
func posted(server *acctest.OpenSandbox, want int) resource.TestCheckFunc {
	return func(*terraform.State) error {
		if got := server.Asked("POST", "/sandboxes/{id}/snapshots"); got != want {
			return fmt.Errorf("%d snapshots were asked for, want %d", got, want)
		}
		return nil
	}
}

func TestAccSnapshot(t *testing.T) {
	server := acctest.NewOpenSandbox(t)
	acctest.Run(t, resource.TestCase{
		CheckDestroy: server.EmptyOfAll,
		Steps: []resource.TestStep{
			{
				Config: taken(server, `name = "daily"`),
				ConfigStateChecks: []statecheck.StateCheck{
					known("status", knownvalue.StringExact("Ready")), known("created_at", knownvalue.NotNull()), known("name", knownvalue.StringExact("daily")),
				},
				Check: posted(server, 1),
			},
			{Config: taken(server, `name = "daily"`), ConfigPlanChecks: noChange()},
			{
				ResourceName: name, ImportState: true, ImportStateVerify: true,
			},
			{Config: taken(server, `name = "daily"`), ConfigPlanChecks: noChange()},
			{
				Config:           taken(server, "name = \"daily\"\ntimeouts {\n  delete = \"5m\"\n}"),
				ConfigPlanChecks: action(plancheck.ResourceActionUpdate), Check: posted(server, 1),
			},
			{
				Config:           taken(server, `name = "weekly"`),
				ConfigPlanChecks: action(plancheck.ResourceActionDestroyBeforeCreate), Check: posted(server, 2),
			},
			{
				Config:           taken(server, ``),
				ConfigPlanChecks: action(plancheck.ResourceActionDestroyBeforeCreate), ConfigStateChecks: []statecheck.StateCheck{known("name", knownvalue.Null())},
			},
			{
				PreConfig: func() { server.DropSnapshot(server.Snapshots()[0].ID) },
				Config:    taken(server, ``), ConfigPlanChecks: action(plancheck.ResourceActionCreate),
			},
		},
	})
}

// A sandbox that was made from it is destroyed first where the configuration says so, and otherwise explains why it stays.
func TestAccSnapshotInUse(t *testing.T) {
	server := acctest.NewOpenSandbox(t)
	restored := `
resource "opensandbox_sandbox" "copy" {
  snapshot_id = opensandbox_snapshot.daily.id
}
`
	acctest.Run(t, resource.TestCase{
		CheckDestroy: server.EmptyOfAll,
		Steps: []resource.TestStep{
			{Config: taken(server, `name = "daily"`) + restored},
			{Config: taken(server, `name = "weekly"`) + restored},
			{
				// Somebody else's sandbox stands on it.
				PreConfig: func() {
					server.Make(t, fmt.Sprintf(`{"snapshotId":%q,"resourceLimits":{"cpu":"1"}}`, server.Snapshots()[0].ID))
				},
				Config:      server.Provider(),
				ExpectError: acctest.Said("is in use: delete the sandboxes that were made from it first"),
			},
			{
				PreConfig: func() {
					for _, sandbox := range server.Sandboxes() {
						server.Kill(sandbox.ID)
					}
				},
				Config: server.Provider(),
			},
		},
	})
}

func TestAccBadSnapshotIsRefused(t *testing.T) {
	for title, c := range map[string]struct{ lines, says string }{
		"empty name": {`name = ""`, "string length must be at least 1"},
		"no time":    {"timeouts {\n create = \"-1m\"\n}", "more than 0"},
		"no update":  {"timeouts {\n update = \"1m\"\n}", `named "update" is not expected here`},
	} {
		t.Run(title, func(t *testing.T) {
			server := acctest.NewOpenSandbox(t)
			acctest.Run(t, resource.TestCase{Steps: []resource.TestStep{{Config: taken(server, c.lines), ExpectError: acctest.Said(c.says)}}})
			if sent := len(server.Faults().Requests()); sent != 0 {
				t.Errorf("%d requests were sent", sent)
			}
		})
	}
}
