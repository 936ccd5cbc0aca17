package opensandboxfile_test

import (
	"errors"
	"fmt"
	"io/fs"
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
	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/machine"
	fake "github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/opensandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/provider"
)

const (
	name  = "opensandbox_file.motd"
	path  = `path = "/etc/motd"`
	hello = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03" // SHA-256 of "hello\n"
	empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
)

// file is a configuration of a sandbox, and of one file in it with the given lines.
func file(server *acctest.OpenSandbox, lines ...string) string {
	return alone(server) + "resource \"opensandbox_file\" \"motd\" {\n  sandbox_id = opensandbox_sandbox.box.id\n" + strings.Join(lines, "\n") + "\n}\n"
}

// alone is the configuration of a sandbox without a file.
func alone(server *acctest.OpenSandbox) string {
	return server.Provider(`max_retries = 1`) + "resource \"opensandbox_sandbox\" \"box\" {\n  image = \"busybox\"\n}\n"
}

func said(text string) *regexp.Regexp {
	return regexp.MustCompile(`(?s)` + strings.ReplaceAll(regexp.QuoteMeta(text), " ", `[\s│]+`))
}

// holds checks what stands at /etc/motd in the sandbox, and its mode.
func holds(server *acctest.OpenSandbox, want string, mode fs.FileMode) resource.TestCheckFunc {
	return func(*terraform.State) error {
		found, err := inside(server).ReadFile("/etc/motd")
		if err != nil {
			return err
		}
		if string(found.Data) != want || found.Mode.Perm() != mode {
			return fmt.Errorf("it holds %q with mode %o, want %q with %o", found.Data, found.Mode, want, mode)
		}
		return nil
	}
}

// gone checks that nothing stands at /etc/motd in the sandbox.
func gone(server *acctest.OpenSandbox) resource.TestCheckFunc {
	return func(*terraform.State) error {
		if _, err := inside(server).ReadFile("/etc/motd"); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("the file still stands (error: %w)", err)
		}
		return nil
	}
}

func inside(server *acctest.OpenSandbox) *machine.Machine {
	return server.Machine(server.Sandboxes()[0].ID)
}

// write changes the file in the sandbox from outside.
func write(t *testing.T, server *acctest.OpenSandbox, content string) func() {
	return func() {
		if err := inside(server).WriteFile("/etc/motd", machine.File{Data: []byte(content)}); err != nil {
			t.Error(err)
		}
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

func TestAccUploadChangeAndDelete(t *testing.T) {
	server := acctest.NewOpenSandbox(t)
	acctest.Run(t, resource.TestCase{
		CheckDestroy: server.Empty,
		Steps: []resource.TestStep{
			{
				Config:            file(server, path, `content = "hello\n"`),
				ConfigStateChecks: sha256(knownvalue.StringExact(hello)),
				Check:             holds(server, "hello\n", 0o755),
			},
			{Config: file(server, path, `content = "hello\n"`), ConfigPlanChecks: unchanged},
			{
				Config:            file(server, path, `content = ""`),
				ConfigPlanChecks:  plans(plancheck.ResourceActionUpdate),
				ConfigStateChecks: sha256(knownvalue.StringExact(empty)),
				Check:             holds(server, "", 0o755),
			},
			{Config: file(server, path, `content = ""`), ConfigPlanChecks: unchanged},
			{
				Config:           file(server, path, `content = ""`, `mode = "600"`),
				ConfigPlanChecks: plans(plancheck.ResourceActionUpdate),
				Check:            holds(server, "", 0o600),
			},
			{Config: alone(server), Check: gone(server)},
		},
	})
}

func TestAccModeOwnerAndGroup(t *testing.T) {
	server := acctest.NewOpenSandbox(t)
	acctest.Run(t, resource.TestCase{
		CheckDestroy: server.Empty,
		Steps: []resource.TestStep{{
			Config: file(server, path, `content = "hello\n"`, `mode = "0640"`, `owner = "nobody"`, `group = "nogroup"`),
			Check: func(*terraform.State) error {
				found, err := inside(server).ReadFile("/etc/motd")
				if err == nil && (found.Owner != "nobody" || found.Group != "nogroup" || found.Mode.Perm() != 0o640) {
					err = fmt.Errorf("%s:%s %o", found.Owner, found.Group, found.Mode)
				}
				return err
			},
		}, {
			Config:           file(server, path, `content = "hello\n"`, `mode = "0640"`),
			ConfigPlanChecks: plans(plancheck.ResourceActionUpdate),
		}},
	})
}

func TestAccWriteOnlyContentStandsNowhere(t *testing.T) {
	server := acctest.NewOpenSandbox(t)
	wo := func(content string, version int) string {
		return file(server, path, fmt.Sprintf("content_wo = %q", content), fmt.Sprintf("content_wo_version = %d", version))
	}
	acctest.Run(t, resource.TestCase{
		CheckDestroy: server.Empty,
		Steps: []resource.TestStep{
			{
				Config:            wo("correct-horse-battery-staple", 1),
				ConfigStateChecks: append(sha256(knownvalue.Null()), statecheck.ExpectKnownValue(name, tfjsonpath.New("content_wo"), knownvalue.Null())),
				Check:             holds(server, "correct-horse-battery-staple", 0o755),
			},
			{PreConfig: write(t, server, "changed"), Config: wo("other", 1), ConfigPlanChecks: unchanged},
			{Config: wo("other", 2), ConfigPlanChecks: plans(plancheck.ResourceActionUpdate), Check: holds(server, "other", 0o755)},
		},
	})
}

func TestAccSourceIsUploadedAgainWhenItChanges(t *testing.T) {
	server := acctest.NewOpenSandbox(t)
	local := filepath.Join(t.TempDir(), "motd")
	edit := func(content string) func() {
		return func() {
			if err := os.WriteFile(local, []byte(content), 0o600); err != nil {
				t.Error(err)
			}
		}
	}
	config := file(server, path, fmt.Sprintf("source = %q", local))
	acctest.Run(t, resource.TestCase{
		CheckDestroy: server.Empty,
		Steps: []resource.TestStep{
			{Config: config, ExpectError: said("no such file")},
			{PreConfig: edit("hello\n"), Config: config, ConfigStateChecks: sha256(knownvalue.StringExact(hello))},
			{Config: config, ConfigPlanChecks: unchanged},
			{PreConfig: edit("bye\n"), Config: config, ConfigPlanChecks: plans(plancheck.ResourceActionUpdate), Check: holds(server, "bye\n", 0o755)},
		},
	})
}

func TestAccWhatReplaces(t *testing.T) {
	server := acctest.NewOpenSandbox(t)
	config := file(server, path, `content = "hello\n"`)
	acctest.Run(t, resource.TestCase{
		CheckDestroy: server.Empty,
		Steps: []resource.TestStep{
			{Config: config},
			{
				Config:           strings.Replace(config, "/etc/motd", "/etc/issue", 1),
				ConfigPlanChecks: plans(plancheck.ResourceActionDestroyBeforeCreate),
				Check:            gone(server),
			},
			{
				Config:           strings.Replace(config, `"busybox"`, `"debian"`, 1),
				ConfigPlanChecks: plans(plancheck.ResourceActionDestroyBeforeCreate),
				Check:            holds(server, "hello\n", 0o755),
			},
		},
	})
}

func TestAccThroughTheServerProxy(t *testing.T) {
	server := acctest.NewOpenSandbox(t, func(o *fake.Options) { o.ProxyAuth = true })
	config := server.Provider(`use_server_proxy = true`) + strings.TrimPrefix(file(server, path, `content = "hello\n"`), server.Provider(`max_retries = 1`))
	acctest.Run(t, resource.TestCase{
		CheckDestroy: server.Empty,
		Steps: []resource.TestStep{
			{Config: config, Check: holds(server, "hello\n", 0o755)},
			{PreConfig: write(t, server, "changed"), Config: config, ConfigPlanChecks: plans(plancheck.ResourceActionUpdate)},
		},
	})
	if leaks := server.KeyLeaks(); len(leaks) > 0 {
		t.Errorf("the API key went to a sandbox: %v", leaks)
	}
}

func TestBadInputIsRefused(t *testing.T) {
	t.Parallel()
	server := acctest.NewOpenSandbox(t)
	protocol := acctest.NewProtocol(t, provider.OpenSandbox("test")(), acctest.Values{"domain": server.URL, "api_key": server.APIKey})
	for says, config := range map[string]acctest.Values{
		"this one has none":                    {},
		"content and content_wo":               {"content": "x", "content_wo": "y"},
		"\"content_wo\" must be specified":     {"content": "x", "content_wo_version": 1},
		"must be one that is an absolute path": {"content": "x", "path": "etc/motd"},
		"Not a file mode":                      {"content": "x", "mode": "rwx"},
		`The mode "4755" must be`:              {"content": "x", "mode": "4755"},
		"must hold no $":                       {"content": "x", "path": "/etc/$HOME"},
		"at least 1":                           {"content": "x", "sandbox_id": ""},
	} {
		for name, value := range map[string]string{"sandbox_id": "sb-1", "path": "/etc/motd"} {
			if _, given := config[name]; !given {
				config[name] = value
			}
		}
		change := protocol.PlanChange(t.Context(), "opensandbox_file", acctest.Object{}, config)
		if text := acctest.Text(change.Diagnostics); !strings.Contains(text, says) {
			t.Errorf("%q doesn't say %q", text, says)
		}
	}
	if sent := server.Faults().Total(); sent != 0 {
		t.Errorf("%d requests were sent", sent)
	}
}

func TestAccUnknownArguments(t *testing.T) {
	server := acctest.NewOpenSandbox(t)
	acctest.Run(t, resource.TestCase{
		CheckDestroy: server.Empty,
		Steps: []resource.TestStep{{
			Config: file(server, `path = terraform_data.late.output.path`, `content = terraform_data.late.output.content`, `mode = terraform_data.late.output.mode`) + `
resource "terraform_data" "late" {
  input = { path = "/etc/motd", content = "hello\n", mode = "640" }
}
`,
			Check: holds(server, "hello\n", 0o640),
		}},
	})
}

// secret is the variable of the example.
var secret = config.Variables{"api_key": config.StringVariable("correct-horse-battery-staple")}

func TestAccExample(t *testing.T) {
	server := acctest.NewOpenSandbox(t)
	example := acctest.Example(t, "opensandbox/resources/opensandbox_file/resource.tf", server.Provider())
	acctest.Run(t, resource.TestCase{
		CheckDestroy: server.Empty,
		Steps: []resource.TestStep{
			{Config: example, ConfigVariables: secret},
			{Config: example, ConfigVariables: secret, ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}}},
		},
	})
}
