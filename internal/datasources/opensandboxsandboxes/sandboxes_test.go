package opensandboxsandboxes_test

import (
	"fmt"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/agentenv/terraform-provider-gpuvm/internal/acctest"
	fake "github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/opensandbox"
)

const name = "data.opensandbox_sandboxes.found"

func found(server *acctest.OpenSandbox, filter string) string {
	return server.Provider() + "data \"opensandbox_sandboxes\" \"found\" {\n" + filter + "\n}\n"
}

// ids is a check of what was found, in order.
func ids(want ...string) statecheck.StateCheck {
	var checks []knownvalue.Check
	for _, id := range want {
		checks = append(checks, knownvalue.ObjectPartial(map[string]knownvalue.Check{"id": knownvalue.StringExact(id)}))
	}
	return statecheck.ExpectKnownValue(name, tfjsonpath.New("sandboxes"), knownvalue.ListExact(checks))
}

func makeBox(t *testing.T, server *acctest.OpenSandbox, metadata string) string {
	t.Helper()
	return server.Make(t, `{"image":{"uri":"busybox"},"entrypoint":["tail"],"resourceLimits":{"cpu":"1"},"metadata":`+metadata+`}`)
}

func TestAccSandboxesAreFound(t *testing.T) {
	server := acctest.NewOpenSandbox(t)
	red := makeBox(t, server, `{"team":"red","note":"a_b"}`)
	blue := makeBox(t, server, `{"team":"blue"}`)
	ended := makeBox(t, server, `{"team":"red"}`)
	server.Exit(ended, 1)
	var steps []resource.TestStep
	for _, c := range []struct {
		filter string
		want   []string
	}{
		{``, []string{ended, blue, red}},
		{`states = []`, []string{ended, blue, red}},
		{`states = ["running"]`, []string{blue, red}},
		{`states = ["Failed", "RUNNING"]`, []string{ended, blue, red}},
		{`states = ["Paused"]`, nil},
		{`metadata = { team = "red" }`, []string{ended, red}},
		{"metadata = { team = \"red\" }\nstates = [\"Running\"]", []string{red}},
		{`metadata = { team = "red", note = "a_b" }`, []string{red}},
		{`metadata = { team = "green" }`, nil},
	} {
		steps = append(steps, resource.TestStep{Config: found(server, c.filter), ConfigStateChecks: []statecheck.StateCheck{ids(c.want...)}})
	}
	acctest.Run(t, resource.TestCase{Steps: steps})
}

func TestAccSandboxesOfAllPages(t *testing.T) {
	server := acctest.NewOpenSandbox(t)
	for range 450 {
		makeBox(t, server, `{}`)
	}
	acctest.Run(t, resource.TestCase{Steps: []resource.TestStep{{
		Config:            found(server, ``) + "output \"count\" {\n value = length(toset(data.opensandbox_sandboxes.found.sandboxes[*].id))\n}\n",
		ConfigStateChecks: []statecheck.StateCheck{statecheck.ExpectKnownOutputValue("count", knownvalue.Int64Exact(450))},
	}}})
}

func TestAccWhatIsToldOfEachSandbox(t *testing.T) {
	server := acctest.NewOpenSandbox(t, func(o *fake.Options) { o.Kubernetes, o.Newer = true, true })
	server.AddPool("warm", fake.Capacity{BufferMin: 1, BufferMax: 1, PoolMax: 3}, true)
	server.Make(t, `{"extensions":{"poolRef":"warm"},"timeout":600}`)
	want := map[string]knownvalue.Check{
		"status": knownvalue.StringExact("Running"), "status_reason": knownvalue.NotNull(), "image": knownvalue.Null(), "snapshot_id": knownvalue.Null(),
		"pool_ref": knownvalue.StringExact("warm"), "platform": knownvalue.Null(), "entrypoint": knownvalue.ListExact(nil),
		"extensions": knownvalue.MapExact(map[string]knownvalue.Check{"poolRef": knownvalue.StringExact("warm")}),
		"created_at": knownvalue.NotNull(), "expires_at": knownvalue.NotNull(),
	}
	acctest.Run(t, resource.TestCase{Steps: []resource.TestStep{{
		Config:            found(server, ``),
		ConfigStateChecks: []statecheck.StateCheck{statecheck.ExpectKnownValue(name, tfjsonpath.New("sandboxes").AtSliceIndex(0), knownvalue.ObjectPartial(want))},
	}}})
}

func TestAccBadFilterIsRefused(t *testing.T) {
	for filter, says := range map[string]string{
		`states = [""]`:             "string length must be at least 1",
		`states = [null]`:           "Null Set Value",
		`metadata = { team = null}`: "Metadata is null",
	} {
		t.Run(filter, func(t *testing.T) {
			server := acctest.NewOpenSandbox(t)
			acctest.Run(t, resource.TestCase{Steps: []resource.TestStep{{Config: found(server, filter), ExpectError: acctest.Said(says)}}})
		})
	}
}

func TestAccListThatFails(t *testing.T) {
	server := acctest.NewOpenSandbox(t)
	acctest.Run(t, resource.TestCase{Steps: []resource.TestStep{{
		Config:      server.Provider(`max_retries = 0`, fmt.Sprintf("headers = { X = %q }", "y")) + "provider \"opensandbox\" {\n  alias = \"wrong\"\n  domain = \"" + server.URL + "\"\n  api_key = \"wrong\"\n}\ndata \"opensandbox_sandboxes\" \"found\" {\n  provider = opensandbox.wrong\n}\n",
		ExpectError: acctest.Said("Sandboxes can't be listed"),
	}}})
}
