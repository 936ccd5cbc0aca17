package examples

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	tfjson "github.com/hashicorp/terraform-json"

	"github.com/agentenv/terraform-provider-gpuvm/internal/acctest"
	fake "github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/opensandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/terraformcli"
)

const root = "../.."

// configFile is the CLI configuration that leads to the programs which TestMain has built.
var configFile string

// TestMain builds both providers once.
func TestMain(m *testing.M) {
	folder, err := os.MkdirTemp("", "examples-*")
	if err == nil {
		err = build(folder)
	}
	code := 1
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	} else {
		code = m.Run()
	}
	if err := os.RemoveAll(folder); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func build(folder string) error {
	program := exec.Command("go", "build", "-o", folder+string(os.PathSeparator), ".", "./cmd/terraform-provider-opensandbox")
	program.Dir = root
	if output, err := program.CombinedOutput(); err != nil {
		return fmt.Errorf("building the providers: %w\n%s", err, output)
	}
	configFile = filepath.Join(folder, "cli.tfrc")
	const namespace = "registry.terraform.io/agentenv/"
	text := terraformcli.DevOverrides(folder, namespace+"gpuvm", namespace+"opensandbox")
	return os.WriteFile(configFile, []byte(text), 0o600)
}

// stage is both services of one example.
type stage struct {
	t         *testing.T
	vms       *acctest.GPUVM
	sandboxes *acctest.OpenSandbox
	variables map[string]string
	cleanUps  []func() error
	pool      string // that belongs to the stage, not to the example
}

func newStage(t *testing.T, e example) *stage {
	t.Helper()
	s := &stage{t: t, vms: acctest.NewGPUVM(t), variables: maps.Clone(e.variables), pool: e.pool}
	s.sandboxes = acctest.NewOpenSandbox(t, func(o *fake.Options) { o.Kubernetes = e.kubernetes })
	if s.variables == nil {
		s.variables = map[string]string{}
	}
	if s.pool != "" {
		s.sandboxes.AddPool(s.pool, fake.Capacity{BufferMax: 2, BufferMin: 1, PoolMax: 4}, true)
	}
	return s
}

// open copies an example's folder, without what is documentation only, to work in.
func (s *stage) open(folder string) *configuration {
	s.t.Helper()
	c := &configuration{stage: s, from: filepath.Join(root, "examples", filepath.FromSlash(folder))}
	c.Path, c.Dir = acctest.CLI(), s.t.TempDir()
	for _, pattern := range []string{"*.tf", "tests/*.tftest.hcl"} {
		for _, file := range glob(s.t, c.from, pattern) {
			if strings.HasPrefix(file, "import-by-") {
				continue
			}
			c.write(file, c.read(file))
		}
	}
	c.plainForOlder()
	return c
}

// glob gives the files of a folder that match, relative to it.
func glob(t *testing.T, folder, pattern string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(folder, filepath.FromSlash(pattern)))
	if err != nil {
		t.Fatal(err)
	}
	for i, file := range found {
		relative, err := filepath.Rel(folder, file)
		if err != nil {
			t.Fatal(err)
		}
		found[i] = filepath.ToSlash(relative)
	}
	return found
}

// holds says what the services hold, "" for nothing.
func (s *stage) holds() string {
	var held []string
	for _, vm := range s.vms.VMs() {
		held = append(held, "machine "+vm.ID)
	}
	for _, sandbox := range s.sandboxes.Sandboxes() {
		held = append(held, "sandbox "+sandbox.ID)
	}
	for _, snapshot := range s.sandboxes.Snapshots() {
		held = append(held, "snapshot "+snapshot.ID)
	}
	for _, pool := range s.sandboxes.Pools() {
		if pool.Name != s.pool {
			held = append(held, "pool "+pool.Name)
		}
	}
	return strings.Join(held, ", ")
}

// configuration is an example's folder to work in.
type configuration struct {
	terraformcli.CLI
	stage   *stage
	from    string
	actions []action // that the program at hand is too old for
}

func (c *configuration) read(file string) []byte {
	c.stage.t.Helper()
	data, err := os.ReadFile(filepath.Join(c.from, filepath.FromSlash(file)))
	if err != nil {
		c.stage.t.Fatal(err)
	}
	return data
}

func (c *configuration) write(file string, data []byte) {
	c.stage.t.Helper()
	at := filepath.Join(c.Dir, filepath.FromSlash(file))
	if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, data, 0o600)); err != nil {
		c.stage.t.Fatal(err)
	}
}

// environment is what the example's texts tell users to set.
func (c *configuration) environment() {
	s := c.stage
	extra := []string{
		"GPU_VM_URL=" + s.vms.URL, "GPU_VM_TOKEN=" + s.vms.Token,
		"OPEN_SANDBOX_DOMAIN=" + s.sandboxes.URL, "OPEN_SANDBOX_API_KEY=" + s.sandboxes.APIKey,
	}
	for name, value := range s.variables {
		extra = append(extra, "TF_VAR_"+name+"="+value)
	}
	c.Env = terraformcli.Environment(configFile, extra...)
}

// run runs a command and gives its last summary of changes and its outputs. An example that warns is a poor example.
func (c *configuration) run(args ...string) (changes terraformcli.Changes, outputs map[string]terraformcli.Output, err error) {
	c.environment()
	var warnings []string
	err = c.Stream(c.stage.t.Context(), func(e terraformcli.Event) {
		if e.Changes != nil {
			changes = *e.Changes
		}
		if e.Outputs != nil {
			outputs = e.Outputs
		}
		if d := e.Diagnostic; d != nil && d.Severity == "warning" && !strings.Contains(d.Summary, "development overrides") {
			warnings = append(warnings, d.Summary+": "+d.Detail)
		}
	}, args...)
	if err == nil && len(warnings) > 0 {
		err = fmt.Errorf("it warns: %q", slices.Compact(warnings))
	}
	return changes, outputs, err
}

func (c *configuration) must(args ...string) (terraformcli.Changes, map[string]terraformcli.Output) {
	c.stage.t.Helper()
	changes, outputs, err := c.run(args...)
	if err != nil {
		c.stage.t.Fatal(err)
	}
	return changes, outputs
}

func (c *configuration) text(args ...string) string {
	c.stage.t.Helper()
	c.environment()
	out, err := c.Text(c.stage.t.Context(), args...)
	if err != nil {
		c.stage.t.Fatalf("%v\n%s", err, out)
	}
	return out
}

// state gives the objects in the state, without modules: examples have none.
func (c *configuration) state() []*tfjson.StateResource {
	c.stage.t.Helper()
	var state tfjson.State
	decoder := json.NewDecoder(bytes.NewReader([]byte(c.text("show", "-json"))))
	if err := decoder.Decode(&state); err != nil {
		c.stage.t.Fatal(err)
	}
	if state.Values == nil {
		return nil
	}
	return state.Values.RootModule.Resources
}

// addOutputs makes outputs the variables of what is opened next.
func (s *stage) addOutputs(outputs map[string]terraformcli.Output) {
	for name, output := range outputs {
		var text string
		if json.Unmarshal(output.Value, &text) != nil {
			text = string(output.Value)
		}
		s.variables[name] = text
	}
}
