package anyserver

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/agentenv/terraform-provider-gpuvm/internal/acctest"
)

const box = "opensandbox_sandbox.box"

// sandbox is a resource block of a sandbox that ends by itself should a test not come to its end.
func sandbox(lines ...string) string {
	text := strings.Join(lines, "\n  ")
	if !strings.Contains(text, "ttl_seconds") {
		text += "\n  ttl_seconds = 900"
	}
	if !strings.Contains(text, "snapshot_id") {
		text += "\n  image = IMAGE"
	}
	return "resource \"opensandbox_sandbox\" \"box\" {\n  " + text + "\n}\n"
}

func does(what plancheck.ResourceActionType) resource.ConfigPlanChecks {
	return resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectResourceAction(box, what)}}
}

var (
	created   = does(plancheck.ResourceActionCreate)
	updated   = does(plancheck.ResourceActionUpdate)
	unchanged = resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}}
)

func is(address, attribute string, want knownvalue.Check) statecheck.StateCheck {
	return statecheck.ExpectKnownValue(address, tfjsonpath.New(attribute), want)
}

func exactly(text string) knownvalue.Check { return knownvalue.StringExact(text) }

// anURL is an endpoint as a browser takes it.
var anURL = knownvalue.StringRegexp(regexp.MustCompile(`^https?://.+`))

// ways are the provider's settings by which the inside of a sandbox is reached.
func ways() map[string]string {
	ways := map[string]string{"direct": ""}
	if able("proxy") {
		ways["server proxy"] = "use_server_proxy = true"
	}
	return ways
}

func TestAccLifeOfASandbox(t *testing.T) {
	for name, settings := range ways() {
		t.Run(name, func(t *testing.T) {
			server := newServer(t)
			lines := []string{
				`env = { GREETING = "hello world" }`,
				`metadata = { a = "b", owner = "me" }`,
				`exposed_ports = [8080, 3000]`,
				`files = { "/opt/app/greet" = { content = "echo $GREETING" }, "/opt/app/é x" = { content = "x", mode = "600" } }`,
				`setup_script = "set -eu; sh /opt/app/greet > /opt/app/greeting; test \"$(cat /opt/app/greeting)\" = 'hello world'"`,
				`teardown_script = "test -s /opt/app/greeting"`,
			}
			with := func(from, to string) string {
				return server.config(settings, strings.Replace(sandbox(lines...), from, to, 1))
			}
			acctest.Run(t, resource.TestCase{
				CheckDestroy: server.gone,
				Steps: []resource.TestStep{
					{
						Config: with("", ""),
						ConfigStateChecks: []statecheck.StateCheck{
							is(box, "status", exactly("Running")),
							is(box, "ports", knownvalue.MapExact(map[string]knownvalue.Check{"8080": anURL, "3000": anURL})),
							is(box, "expires_at", knownvalue.NotNull()),
						},
					},
					{Config: with("", ""), ConfigPlanChecks: unchanged},
					{
						Config:            with(`a = "b", owner = "me"`, `a = "c", new = "x y"`),
						ConfigPlanChecks:  updated,
						ConfigStateChecks: []statecheck.StateCheck{is(box, "effective_metadata", knownvalue.MapPartial(map[string]knownvalue.Check{"a": exactly("c"), "new": exactly("x_y")}))},
					},
					{Config: with(`a = "b", owner = "me"`, `a = "b"`), ConfigPlanChecks: updated},
					{Config: with("900", "1800"), ConfigPlanChecks: updated},
					{Config: with("[8080, 3000]", "[8080]"), ConfigPlanChecks: updated},
					{Config: with("[8080, 3000]", "[8080]"), ConfigPlanChecks: unchanged},
					{ResourceName: box, ImportState: true},
				},
			})
		})
	}
}

func TestAccSandboxThatIsGoneIsMadeAnew(t *testing.T) {
	server := newServer(t)
	config := server.config("", sandbox())
	acctest.Run(t, resource.TestCase{
		CheckDestroy: server.gone,
		Steps:        []resource.TestStep{{Config: config}, {PreConfig: server.deleteAll(t), Config: config, ConfigPlanChecks: created}},
	})
}

func TestAccPauseAndResume(t *testing.T) {
	steps := func(server *server) (steps []resource.TestStep) {
		for _, paused := range []bool{true, false, true} {
			config := server.config("", sandbox(fmt.Sprintf("paused = %t", paused)))
			want := map[bool]string{true: "Paused", false: "Running"}[paused]
			steps = append(steps, resource.TestStep{Config: config, ConfigStateChecks: []statecheck.StateCheck{is(box, "status", exactly(want))}},
				resource.TestStep{Config: config, ConfigPlanChecks: unchanged})
		}
		return steps
	}
	if able("pause") {
		server := newServer(t)
		acctest.Run(t, resource.TestCase{CheckDestroy: server.gone, Steps: steps(server)})
	}
}

func TestAccNetworkPolicy(t *testing.T) {
	if !able("policy") {
		return
	}
	server := newServer(t)
	with := func(action, rules string) string {
		return server.config("", sandbox("network_policy {\n    default_action = \""+action+"\"\n"+rules+"  }"))
	}
	const rules = "    egress {\n action = \"deny\"\n target = \"a.example.com\"\n }\n    egress {\n action = \"allow\"\n target = \"*.example.com\"\n }\n"
	acctest.Run(t, resource.TestCase{
		CheckDestroy: server.gone,
		Steps: []resource.TestStep{
			{Config: with("deny", rules)},
			{Config: with("deny", rules), ConfigPlanChecks: unchanged},
			{Config: with("allow", ""), ConfigPlanChecks: updated},
			{Config: with("allow", ""), ConfigPlanChecks: unchanged},
			{Config: with("deny", rules), ConfigPlanChecks: updated},
			{Config: with("deny", rules), ConfigPlanChecks: unchanged},
		},
	})
}

func TestAccSandboxThatCannotBeMadeLeavesNothing(t *testing.T) {
	for name, c := range map[string]struct {
		lines []string
		says  string
	}{
		"script":     {[]string{`setup_script = "echo last words; exit 7"`}, "last words"},
		"owner":      {[]string{`files = { "/a" = { content = "x", owner = "nosuchuser" } }`}, "nosuchuser"},
		"snapshot":   {[]string{`snapshot_id = "8a1f3e1c-0000-4000-8000-000000000000"`}, "HTTP 40"},
		"entrypoint": {[]string{`entrypoint = ["sleep", "2"]`, `setup_script = "sleep 60"`}, "setup script"},
	} {
		t.Run(name, func(t *testing.T) {
			server := newServer(t)
			acctest.Run(t, resource.TestCase{
				CheckDestroy: server.gone,
				Steps:        []resource.TestStep{{Config: server.config("", sandbox(c.lines...)), ExpectError: acctest.Said(c.says)}},
			})
			if err := server.gone(nil); err != nil {
				t.Error(err)
			}
		})
	}
}
