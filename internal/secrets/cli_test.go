//go:build unix

package secrets_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice"
	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/faults"
	"github.com/agentenv/terraform-provider-gpuvm/internal/subject"
	"github.com/agentenv/terraform-provider-gpuvm/internal/workspace"
)

func TestMain(m *testing.M) { os.Exit(workspace.Main(m)) }

// TestNoSecretIsShownByTerraform looks where only the real programs write: the plan as JSON, the state file, the log of
// Terraform and provider at TRACE, and what a provider says that dies.
func TestNoSecretIsShownByTerraform(t *testing.T) {
	for _, of := range []*subject.Type{subject.GPUVMInstance, subject.OpenSandboxSandbox} {
		t.Run(of.Name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
			defer cancel()
			schemas, err := of.Served(ctx)
			if err != nil {
				t.Fatal(err)
			}
			w := newWatch(t, of, schemas)
			service := of.Start(map[string]bool{"knows-keys": true})
			defer service.Close()
			url, stop, err := fakeservice.Serve(service)
			if err != nil {
				t.Fatal(err)
			}
			defer stop()
			defer service.Faults().Clear()

			folder := workspace.New(t, w.configuration(service.Settings(), url), nil, w.variables()...)
			folder.Env("TF_LOG=TRACE", "TF_LOG_PATH="+filepath.Join(folder.Dir, "terraform.log"))

			said := folder.Do(ctx, t, "plan", "-input=false", "-no-color", "-out=plan")
			w.look(t, "the output of plan", said, all)
			folder.Env("TF_LOG=")
			w.look(t, "the plan as JSON", folder.Do(ctx, t, "show", "-json", "plan"), hidden)
			folder.Env("TF_LOG=TRACE")
			w.look(t, "the output of apply", folder.Do(ctx, t, "apply", "-auto-approve", "-input=false", "-no-color"), all)
			w.look(t, "the state file", string(folder.StateFile(t)), hidden)

			w.dies(ctx, t, folder, service)
			log, err := os.ReadFile(filepath.Join(folder.Dir, "terraform.log"))
			if err != nil || len(log) < 10_000 {
				t.Fatalf("the log has %d bytes: %v", len(log), err)
			}
			if !strings.Contains(string(log), "goroutine 1 ") {
				t.Error("the log doesn't hold what the dying provider said")
			}
			w.look(t, "the log", string(log), all)
		})
	}
}

// dies kills the provider in the middle of a replacement in a way that has Go print what every goroutine is at.
func (w *watch) dies(ctx context.Context, t *testing.T, folder *workspace.Workspace, service subject.Service) {
	t.Helper()
	made := w.of.Requests[0]
	arrived := make(chan struct{})
	forget := service.Faults().OnRequest(func(r faults.Record) {
		if r.Method == made.Method && r.Path == made.Path {
			close(arrived)
		}
	})
	defer forget()
	service.Faults().Order(faults.Fault{Method: made.Method, Path: made.Path, Kind: faults.Hang})
	r := folder.Start(t, "apply", "-auto-approve", "-input=false", "-no-color", "-replace="+w.of.Name+".it")
	select {
	case <-arrived:
	case <-r.Gone():
		t.Fatalf("it ended:\n%s", r.Output)
	}
	pid, err := r.Provider()
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGQUIT); err != nil {
		t.Fatal(err)
	}
	err = r.Finish(ctx)
	if err == nil {
		t.Error("an apply whose provider died succeeded")
	}
	w.look(t, "what a dying provider says", r.Output.String(), all)
}

// all is every canary, hidden those that may stand neither in a state nor in a plan.
func all(*canary) bool { return true }

func hidden(c *canary) bool { return c.writeOnly }

func (w *watch) look(t *testing.T, where, text string, which func(*canary) bool) {
	t.Helper()
	for _, c := range w.ofObject {
		if which(&c) && c.shows(text) {
			t.Errorf("%s shows %s: %s", where, c.path, around(text, c.value))
		}
	}
	for _, c := range w.ofProvider {
		if c.shows(text) {
			t.Errorf("%s shows the provider's %s: %s", where, c.path, around(text, c.value))
		}
	}
}

// configuration is the object's with each canary as a variable: the user's own files would show what is written into them.
func (w *watch) configuration(settings map[string]any, url string) string {
	provider, _, _ := strings.Cut(w.of.Name, "_")
	for name, value := range w.settings {
		settings[name] = value
	}
	for _, address := range []string{"base_url", "domain"} {
		if _, ok := settings[address]; ok {
			settings[address] = url
		}
	}
	document := map[string]any{
		"terraform": map[string]any{"required_providers": map[string]any{provider: map[string]any{"source": "registry.terraform.io/agentenv/" + provider}}},
		"provider":  map[string]any{provider: w.withVariables(settings)},
		"resource":  map[string]any{w.of.Name: map[string]any{"it": w.withVariables(w.of.Secret[0])}},
		"variable":  w.declared(),
	}
	text, err := json.Marshal(document)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// withVariables puts a reference in the place of each canary.
func (w *watch) withVariables(value any) any {
	switch value := value.(type) {
	case string:
		for i, c := range w.canaries() {
			if strings.TrimSpace(value) == strings.TrimSpace(c.value) {
				return fmt.Sprintf("${var.c%d}", i)
			}
		}
		return value
	case map[string]any:
		replaced := map[string]any{}
		for key, element := range value {
			replaced[key] = w.withVariables(element)
		}
		return replaced
	case []any:
		replaced := []any{}
		for _, element := range value {
			replaced = append(replaced, w.withVariables(element))
		}
		return replaced
	}
	return value
}

// declared are the variables: ephemeral wherever Terraform allows it, so that no plan holds them.
func (w *watch) declared() map[string]any {
	variables := map[string]any{}
	for i, c := range w.canaries() {
		variables[fmt.Sprintf("c%d", i)] = map[string]any{"type": "string", "sensitive": true, "ephemeral": c.writeOnly || i >= len(w.ofObject)}
	}
	return variables
}

func (w *watch) variables() []string {
	var env []string
	for i, c := range w.canaries() {
		env = append(env, fmt.Sprintf("TF_VAR_c%d=%s", i, c.value))
	}
	return env
}
