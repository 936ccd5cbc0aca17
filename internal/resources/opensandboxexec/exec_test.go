package opensandboxexec_test

import (
	"fmt"
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
	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/faults"
)

const (
	name = "opensandbox_exec.setup"
	box  = `sandbox_id = opensandbox_sandbox.box.id`
)

// execution is a configuration of a sandbox, and of one execution with the given lines in it.
func execution(server *acctest.OpenSandbox, lines ...string) string {
	return server.Provider(`max_retries = 1`) + `
resource "opensandbox_sandbox" "box" {
  image = "busybox"
}

resource "opensandbox_exec" "setup" {
` + strings.Join(lines, "\n") + "\n}\n"
}

func said(text string) *regexp.Regexp {
	return regexp.MustCompile(`(?s)` + strings.ReplaceAll(regexp.QuoteMeta(text), " ", `[\s│]+`))
}

// commands lists the bodies of the commands that were sent, but for the probe of a new sandbox.
func commands(server *acctest.OpenSandbox) []string {
	var bodies []string
	for _, request := range server.Faults().Requests() {
		if request.Method == "POST" && strings.HasSuffix(request.Path, "/command") && !strings.Contains(string(request.Body), "opensandbox-ready") {
			bodies = append(bodies, string(request.Body))
		}
	}
	return bodies
}

func sent(server *acctest.OpenSandbox, want ...string) resource.TestCheckFunc {
	return func(*terraform.State) error {
		if got := commands(server); fmt.Sprint(got) != fmt.Sprint(want) {
			return fmt.Errorf("sent %s, want %s", got, want)
		}
		return nil
	}
}

func known(attribute string, check knownvalue.Check) statecheck.StateCheck {
	return statecheck.ExpectKnownValue(name, tfjsonpath.New(attribute), check)
}

func action(a plancheck.ResourceActionType) resource.ConfigPlanChecks {
	return resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectResourceAction(name, a)}}
}

func TestAccScriptRunsOnceAndItsResultsAreKept(t *testing.T) {
	server := acctest.NewOpenSandbox(t)
	config := execution(server, box, `script = "echo out; echo trouble >&2"`)
	acctest.Run(t, resource.TestCase{
		CheckDestroy: server.Empty,
		Steps: []resource.TestStep{{
			Config: config,
			ConfigStateChecks: []statecheck.StateCheck{
				known("exit_code", knownvalue.Int64Exact(0)),
				known("stdout", knownvalue.StringExact("out\n")),
				known("stderr", knownvalue.StringExact("trouble\n")),
				known("stdout_truncated", knownvalue.Bool(false)),
				known("user", knownvalue.Null()),
				known("env", knownvalue.Null()),
				statecheck.ExpectSensitiveValue(name, tfjsonpath.New("stdout")),
				statecheck.ExpectSensitiveValue(name, tfjsonpath.New("stderr")),
			},
			Check: sent(server, `{"command":"echo out; echo trouble \u003e\u00262"}`),
		}, {
			PreConfig:        server.Faults().Reset,
			Config:           config,
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}},
			Check:            sent(server),
		}},
	})
}

func TestAccProcessIsSent(t *testing.T) {
	server := acctest.NewOpenSandbox(t)
	const secret = "correct-horse-battery-staple"
	acctest.Run(t, resource.TestCase{
		CheckDestroy: server.Empty,
		Steps: []resource.TestStep{{
			Config: execution(server, box, `argv = ["sh", "-c", "echo $A $B $(pwd); echo $TOKEN"]`, `cwd = "/tmp"`, `user = "1000"`,
				`env = { A = "a", B = "b" }`, `env_wo = { B = "better", TOKEN = "`+secret+`" }`, `timeout_seconds = 90`),
			ConfigStateChecks: []statecheck.StateCheck{
				known("stdout", knownvalue.StringExact("a (redacted) /tmp\n(redacted)\n")),
				known("env_wo", knownvalue.Null()),
				known("timeout_seconds", knownvalue.Int64Exact(90)),
			},
			Check: sent(server, `{"command":"'sh' '-c' 'echo $A $B $(pwd); echo $TOKEN'","cwd":"/tmp","timeout":90000,"uid":1000,"envs":{"A":"a","B":"better","TOKEN":"`+secret+`"}}`),
		}},
	})
}

func TestAccUnexpectedExitCodeIsRunAgainByTheNextApply(t *testing.T) {
	server := acctest.NewOpenSandbox(t)
	const script = `script = "echo tried >> /tmp/tries; echo not yet >&2; test $(wc -l < /tmp/tries) -ge 2"`
	acctest.Run(t, resource.TestCase{
		CheckDestroy: server.Empty,
		Steps: []resource.TestStep{
			{Config: execution(server, box, script), ExpectError: said("Its output ends: not yet")},
			{
				Config:            execution(server, box, script),
				ConfigPlanChecks:  action(plancheck.ResourceActionCreate),
				ConfigStateChecks: []statecheck.StateCheck{known("exit_code", knownvalue.Int64Exact(0))},
			},
		},
	})
}

func TestAccWhatChangesInPlaceRunsNothing(t *testing.T) {
	server := acctest.NewOpenSandbox(t)
	acctest.Run(t, resource.TestCase{
		CheckDestroy: server.Empty,
		Steps: []resource.TestStep{
			{Config: execution(server, box, `script = "true"`)},
			{
				PreConfig: server.Faults().Reset,
				Config: execution(server, box, `script = "true"`, `triggers = {}`, `expected_exit_codes = [0, 1]`, `timeout_seconds = 5`,
					`env = {}`, `env_wo = { A = "b" }`, `user = ""`, `cwd = ""`, `timeouts {`, `create = "5m"`, `}`),
				ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
					plancheck.ExpectResourceAction(name, plancheck.ResourceActionUpdate),
					plancheck.ExpectKnownValue(name, tfjsonpath.New("exit_code"), knownvalue.Int64Exact(0)),
				}},
				Check: sent(server),
			},
		},
	})
}

func TestAccSandboxGoneDropsTheExecution(t *testing.T) {
	server := acctest.NewOpenSandbox(t)
	config := execution(server, box, `argv = ["true"]`)
	acctest.Run(t, resource.TestCase{
		CheckDestroy: server.Empty,
		Steps: []resource.TestStep{
			{Config: config},
			{
				PreConfig:        func() { server.Kill(server.Sandboxes()[0].ID) },
				Config:           config,
				ConfigPlanChecks: action(plancheck.ResourceActionCreate),
			},
			{
				PreConfig:   func() { server.Faults().Order(faults.Fault{Kind: faults.Status, Status: 403, Times: -1}) },
				Config:      config,
				ExpectError: said("can't be read"),
			},
			{
				PreConfig:        server.Faults().Clear,
				Config:           config,
				ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}},
			},
		},
	})
}

func TestAccOpenOutcome(t *testing.T) {
	for title, test := range map[string]struct {
		retries int
		want    int // how often the command is sent
		says    string
	}{
		"is never repeated":          {0, 1, "whether it still runs, is unknown"},
		"is, where the user says so": {2, 2, ""},
	} {
		t.Run(title, func(t *testing.T) {
			server := acctest.NewOpenSandbox(t)
			// The probe of the new sandbox comes first.
			server.Faults().Order(faults.Fault{Method: "POST", Path: "/direct/**", Kind: faults.ResetAfter, Skip: 1})
			config := server.Provider(`max_retries = 1`, fmt.Sprintf("operations {\n retry_delay_seconds = 0\n command_retries = %d\n}", test.retries)) +
				"resource \"opensandbox_sandbox\" \"box\" {\n image = \"busybox\"\n}\nresource \"opensandbox_exec\" \"setup\" {\n" + box + "\nargv = [\"true\"]\n}\n"
			step := resource.TestStep{Config: config}
			if test.says != "" {
				step.ExpectError = said(test.says)
			}
			acctest.Run(t, resource.TestCase{CheckDestroy: server.Empty, Steps: []resource.TestStep{step}})
			if got := commands(server); len(got) != test.want {
				t.Errorf("sent %s", got)
			}
		})
	}
}

func TestAccUnknownArgumentsRunAtApply(t *testing.T) {
	server := acctest.NewOpenSandbox(t)
	acctest.Run(t, resource.TestCase{
		CheckDestroy: server.Empty,
		Steps: []resource.TestStep{{
			Config: execution(server, box, `script = terraform_data.late.output.script`, `user = terraform_data.late.output.user`, `cwd = terraform_data.late.output.cwd`,
				`env = terraform_data.late.output.env`, `env_wo = terraform_data.late.output.env`, `timeout_seconds = terraform_data.late.output.timeout`) + `
resource "terraform_data" "late" {
  input = { script = "pwd; echo $A", user = "root", cwd = "/tmp", env = { A = "b" }, timeout = 60 }
}
`,
			ConfigStateChecks: []statecheck.StateCheck{known("stdout", knownvalue.StringExact("/tmp\nb\n"))},
		}},
	})
}

// secret is the variable of the example.
var secret = config.Variables{"api_key": config.StringVariable("correct-horse-battery-staple")}

func TestAccExample(t *testing.T) {
	server := acctest.NewOpenSandbox(t)
	example := acctest.Example(t, "opensandbox/resources/opensandbox_exec/resource.tf", server.Provider())
	acctest.Run(t, resource.TestCase{
		CheckDestroy: server.Empty,
		Steps: []resource.TestStep{
			{Config: example, ConfigVariables: secret},
			{Config: example, ConfigVariables: secret, ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}}},
		},
	})
}
