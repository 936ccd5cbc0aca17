//go:build unix

package history_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice"
	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/faults"
	"github.com/agentenv/terraform-provider-gpuvm/internal/figures"
	"github.com/agentenv/terraform-provider-gpuvm/internal/history"
	"github.com/agentenv/terraform-provider-gpuvm/internal/subject"
	"github.com/agentenv/terraform-provider-gpuvm/internal/workspace"
)

func TestMain(m *testing.M) { os.Exit(workspace.Main(m)) }

// throughTerraform is how many of the histories of a type also run through the real program, which takes seconds for each.
const throughTerraform = 4

// TestHistoriesThroughTerraform sees that Terraform itself does as the protocol's other end in this package does: the same
// histories, without what takes its time there (no bubble holds the clock of other programs), end as well.
func TestHistoriesThroughTerraform(t *testing.T) {
	for _, of := range []*subject.Type{subject.GPUVMInstance, subject.OpenSandboxSandbox} {
		t.Run(of.Name, func(t *testing.T) {
			schemas, err := of.Served(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var mu sync.Mutex
			runs, struck := 0, 0
			t.Run("seed", func(t *testing.T) {
				for seed := range uint64(throughTerraform) {
					t.Run(fmt.Sprint(seed), func(t *testing.T) {
						t.Parallel()
						faulty := live(t, history.Generate(of, schemas, seed+1))
						mu.Lock()
						defer mu.Unlock()
						runs, struck = runs+1, struck+faulty
					})
				}
			})
			figures.Tell(t, "histories-terraform-"+of.Name, fmt.Sprintf("%s: %d histories through the real Terraform, %d faults; lost: 0", of.Name, runs, struck))
		})
	}
}

// life is a history under the real Terraform.
type life struct {
	*workspace.Workspace
	t       *testing.T
	ctx     context.Context //nolint:containedctx // of one test
	history history.History
	service subject.Service
	url     string
	struck  int
}

func live(t *testing.T, h history.History) int {
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	on := map[string]bool{}
	for _, temper := range h.Temper {
		// Kubernetes waits a minute for each image that it can't pull.
		on[temper] = !strings.Contains(temper, "slowly") && !strings.Contains(temper, "late") && temper != "kubernetes"
	}
	service := h.Type.Start(on)
	defer service.Close()
	url, stop, err := fakeservice.Serve(service)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	l := &life{t: t, ctx: ctx, history: h, service: service, url: url}
	l.Workspace = workspace.New(t, "{}", nil)
	for i, step := range h.Steps {
		l.step(i+1, step)
	}
	service.Heal()
	l.configure(h.Type.Smallest)
	l.Do(ctx, t, "apply", "-auto-approve", "-input=false", "-no-color")
	service.Heal()
	l.Do(ctx, t, "destroy", "-auto-approve", "-input=false", "-no-color")
	if left := append(service.Standing(), l.ids()...); len(left) > 0 {
		t.Errorf("%v is left of\n%s", left, h)
	}
	return l.struck
}

func (l *life) step(n int, s history.Step) {
	var args []string
	switch s.Kind {
	case history.Apply:
		args = []string{"apply", "-auto-approve"}
	case history.Plan:
		args = []string{"plan"}
	case history.Refresh:
		args = []string{"apply", "-auto-approve", "-refresh-only"}
	case history.Destroy:
		args = []string{"destroy", "-auto-approve"}
	case history.Others:
		for _, id := range l.ids() {
			l.service.Disturb(s.Act, id)
		}
		return
	case history.Import, history.Wait:
		return
	}
	if s.Config != nil {
		l.configure(s.Config)
	} else if n == 1 {
		l.configure(l.history.Type.Smallest)
	}
	l.service.Faults().Reset()
	l.service.Faults().Order(quick(s.Faults)...)
	r := l.Start(l.t, append(args, "-input=false", "-no-color")...)
	err := r.Finish(l.ctx)
	l.service.Faults().Clear()
	for _, record := range l.service.Faults().Requests() {
		if record.Fault != "" {
			l.struck++
		}
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		l.t.Fatal(err)
	}
	said := r.Output.String()
	for _, crash := range []string{"bug in the provider", "Plugin did not respond", "The provider crashed", "panic:"} {
		if strings.Contains(said, crash) {
			l.t.Fatalf("step %d of\n%s\nends in %q:\n%s", n, l.history, crash, said)
		}
	}
	l.agree(n, said)
}

// agree holds the service against the state file.
func (l *life) agree(n int, said string) {
	known := l.ids()
	for _, id := range l.service.Standing() {
		if slices.Contains(known, id) {
			continue
		}
		// Terraform breaks lines where it likes.
		if !l.service.InDoubt(strings.Join(strings.Fields(said), " "), id) {
			l.t.Fatalf("after step %d %s stands, and the state knows only %v:\n%s\n%s", n, id, known, l.history, said)
		}
		l.service.Disturb("delete", id)
	}
}

func (l *life) ids() []string {
	var ids []string
	for _, object := range l.State(l.t) {
		ids = append(ids, object.ID)
	}
	return ids
}

// quick leaves out faults that take their time, and what would be repeated for long.
func quick(all []faults.Fault) []faults.Fault {
	slow := []faults.Kind{faults.Hang, faults.Slow, faults.Delay, faults.Endless}
	var some []faults.Fault
	for _, f := range all {
		if slices.Contains(slow, f.Kind) || f.RetryAfter != "" {
			continue
		}
		f.Times = min(max(f.Times, 1), 2)
		some = append(some, f)
	}
	return some
}

// configure writes the configuration. Nothing in it waits for long.
func (l *life) configure(config map[string]any) {
	settings := l.service.Settings()
	for _, address := range []string{"base_url", "domain"} {
		if _, ok := settings[address]; ok {
			settings[address] = l.url
		}
	}
	maps.Copy(settings, map[string]any{"max_retries": 2, "retry_max_delay_seconds": 0, "request_timeout_seconds": 5})
	provider, _, _ := strings.Cut(l.history.Type.Name, "_")
	if provider == "opensandbox" {
		settings["create"] = map[string]any{"retry_delay_seconds": 0}
		settings["operations"] = map[string]any{"retry_delay_seconds": 0}
		settings["probe"] = map[string]any{"deadline_seconds": 5}
	}
	config = maps.Clone(config)
	config["timeouts"] = map[string]any{"create": "10s", "read": "10s", "delete": "10s"}
	text, err := json.Marshal(map[string]any{
		"terraform": map[string]any{"required_providers": map[string]any{provider: map[string]any{"source": "registry.terraform.io/agentenv/" + provider}}},
		"provider":  map[string]any{provider: settings},
		"resource":  map[string]any{l.history.Type.Name: map[string]any{"it": config}},
	})
	if err != nil {
		l.t.Fatal(err)
	}
	l.Write(l.t, "main.tf.json", text)
}
