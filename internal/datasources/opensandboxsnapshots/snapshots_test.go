package opensandboxsnapshots_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/agentenv/terraform-provider-gpuvm/internal/acctest"
)

func TestAccSnapshotsAreFound(t *testing.T) {
	server := acctest.NewOpenSandbox(t)
	config := server.Provider() + `
resource "opensandbox_sandbox" "box" {
  count = 2
  image = "busybox"
}

resource "opensandbox_snapshot" "first" {
  count      = 2
  sandbox_id = opensandbox_sandbox.box[0].id
  name       = "first"
}

resource "opensandbox_snapshot" "second" {
  sandbox_id = opensandbox_sandbox.box[1].id
}

data "opensandbox_snapshots" "all" {
  depends_on = [opensandbox_snapshot.first, opensandbox_snapshot.second]
}

data "opensandbox_snapshots" "first" {
  sandbox_id = opensandbox_sandbox.box[0].id
  states     = ["READY", "Creating"]
  depends_on = [opensandbox_snapshot.first]
}

data "opensandbox_snapshots" "none" {
  states     = ["Failed", "of a later version"]
  depends_on = [opensandbox_snapshot.first]
}

data "opensandbox_snapshot" "second" {
  id = opensandbox_snapshot.second.id
}
`
	size := func(name string, want int) statecheck.StateCheck {
		return statecheck.ExpectKnownValue("data.opensandbox_snapshots."+name, tfjsonpath.New("snapshots"), knownvalue.ListSizeExact(want))
	}
	acctest.Run(t, resource.TestCase{
		CheckDestroy: server.EmptyOfAll,
		Steps: []resource.TestStep{{
			Config: config,
			ConfigStateChecks: []statecheck.StateCheck{
				size("all", 3), size("first", 2), size("none", 0),
				statecheck.ExpectKnownValue("data.opensandbox_snapshots.first", tfjsonpath.New("snapshots").AtSliceIndex(0), knownvalue.ObjectPartial(map[string]knownvalue.Check{
					"name": knownvalue.StringExact("first"), "status": knownvalue.StringExact("Ready"), "created_at": knownvalue.NotNull(),
				})),
				statecheck.ExpectKnownValue("data.opensandbox_snapshot.second", tfjsonpath.New("name"), knownvalue.Null()),
				statecheck.ExpectKnownValue("data.opensandbox_snapshot.second", tfjsonpath.New("status_message"), knownvalue.NotNull()),
			},
		}},
	})
}

func TestAccSnapshotThatIsGone(t *testing.T) {
	server := acctest.NewOpenSandbox(t)
	acctest.Run(t, resource.TestCase{Steps: []resource.TestStep{{
		Config:      server.Provider() + "data \"opensandbox_snapshot\" \"gone\" {\n  id = \"snap-1\"\n}\n",
		ExpectError: acctest.Said("Snapshot snap-1 doesn't exist"),
	}}})
}
