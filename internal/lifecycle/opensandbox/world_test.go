package opensandbox

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/apiclient"
	api "github.com/agentenv/terraform-provider-gpuvm/internal/apiclient/opensandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/clock"
	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice"
	fake "github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/opensandbox"
)

const testKey = "k-0123456789abcdef"

// world is a fake server and a lifecycle that talks to it over loopback, on one clock.
type world struct {
	*Lifecycle
	server *fake.Service
	clock  *clock.Fake

	mu    sync.Mutex
	noted []string
	told  []string // progress
}

func newWorld(t *testing.T, options fake.Options, change ...func(*Settings)) *world {
	t.Helper()
	w := &world{clock: clock.NewInstant(time.Now())}
	options.Clock, options.APIKey = w.clock, testKey
	if options.Seed == 0 {
		options.Seed = 1
	}
	w.server = fake.New(options)
	url, stop, err := fakeservice.Serve(w.server)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(); w.server.Close() })
	settings := Settings{
		Create:     CreateSettings{Timeout: 20 * time.Minute, Retry: Retry{Times: 2, Delay: 5 * time.Second, MaxDelay: time.Minute}},
		Operations: Operations{Retry: Retry{Times: 3, Delay: time.Second, MaxDelay: 15 * time.Second}},
		Clock:      w.clock,
		Progress: func(_ context.Context, message string, fields map[string]any) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.told = append(w.told, fmt.Sprint(message, " ", fields))
		},
	}
	for _, f := range change {
		f(&settings)
	}
	w.Lifecycle = New(clientOf(t, url, w.clock), settings)
	return w
}

func clientOf(t *testing.T, url string, c clock.Clock) *api.Client {
	t.Helper()
	base, err := api.BaseURL(url, "http")
	if err != nil {
		t.Fatal(err)
	}
	transport, err := apiclient.New(apiclient.Config{
		BaseURL:        base,
		Credential:     apiclient.Credential{Header: api.KeyHeader, Secret: testKey},
		RequestTimeout: 20 * time.Second,
		Clock:          c,
	})
	if err != nil {
		t.Fatal(err)
	}
	return api.New(transport, base)
}

func serverProxy(s *Settings) { s.ServerProxy = true }

// spec is a sandbox with all that a usable one needs.
func (w *world) spec() Spec {
	return Spec{
		Request: api.CreateRequest{
			Image:          &api.Image{URI: "busybox"},
			Entrypoint:     []string{"tail", "-f", "/dev/null"},
			ResourceLimits: map[string]string{"cpu": "1", "memory": "2Gi"},
			Metadata:       map[string]string{"team": "red"},
		},
		Probe: Probe{Line: "printf opensandbox-ready", Expected: "opensandbox-ready"},
		Noted: func(id string) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.noted = append(w.noted, id)
		},
	}
}

func (w *world) lastNoted() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.noted) == 0 {
		return ""
	}
	return w.noted[len(w.noted)-1]
}

// ids are the sandboxes that the server holds.
func (w *world) ids() []string {
	var ids []string
	for _, sandbox := range w.server.Sandboxes() {
		ids = append(ids, sandbox.ID)
	}
	return ids
}

// asked lists the requests as "POST /v1/sandboxes", ids of sandboxes as {id}.
func (w *world) asked() []string {
	var asked []string
	for _, r := range w.server.Faults().Requests() {
		path := r.Path
		for _, id := range append(w.ids(), w.lastNoted()) {
			if id != "" {
				path = strings.ReplaceAll(path, id, "{id}")
			}
		}
		asked = append(asked, r.Method+" "+path)
	}
	return asked
}

// count says how often a sandbox was asked for (POST), or the list (GET).
func (w *world) count(method string) int {
	count := 0
	for _, r := range w.server.Faults().Requests() {
		if r.Method == method && r.Path == "/v1/sandboxes" {
			count++
		}
	}
	return count
}

// mustCreate makes a sandbox and forgets what that took.
func (w *world) mustCreate(t *testing.T, spec Spec) *Usable {
	t.Helper()
	usable, err := w.Create(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	w.server.Faults().Reset()
	return usable
}
