package hostile_test

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/agentenv/terraform-provider-gpuvm/internal/apiclient"
	"github.com/agentenv/terraform-provider-gpuvm/internal/memorynet"
	"github.com/agentenv/terraform-provider-gpuvm/internal/subject"
	core "github.com/agentenv/terraform-provider-gpuvm/internal/terraformcore"
)

// FuzzImportID: an import asks for exactly the object of that id, by one segment of the path, or for nothing.
func FuzzImportID(f *testing.F) {
	for _, id := range []string{"vm-1", "", ".", "..", "../x", "a/b", "a b?c", "%2e%2e", "a%2fb", "\x00", "ü", "#", "\xff", strings.Repeat("a", 5000), "//evil.example/", " "} {
		f.Add(id)
	}
	type target struct {
		of     *subject.Type
		prefix string
		p      *core.Provider
	}
	var mu sync.Mutex
	var asked []string
	network := memorynet.Serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, r.URL.EscapedPath()+"?"+r.URL.RawQuery)
		http.Error(w, `{"error":"no such object"}`, http.StatusNotFound)
	}))
	f.Cleanup(network.Close)
	ctx := apiclient.WithDialer(f.Context(), network.Dial)
	var targets []target
	for prefix, of := range map[string]*subject.Type{
		"/v1/vms/": subject.GPUVMInstance, "/v1/sandboxes/": subject.OpenSandboxSandbox, "/v1/snapshots/": subject.OpenSandboxSnapshot, "/v1/pools/": subject.OpenSandboxPool,
	} {
		schemas, err := of.Served(ctx)
		if err != nil {
			f.Fatal(err)
		}
		service := of.Start(nil)
		settings := service.Settings()
		service.Close()
		p := core.Start(of.Server(), schemas)
		if configured := p.Configure(ctx, settings); configured.Failed() {
			f.Fatal(configured)
		}
		targets = append(targets, target{of, prefix, p})
	}
	f.Fuzz(func(t *testing.T, id string) {
		for _, at := range targets {
			mu.Lock()
			asked = nil
			mu.Unlock()
			object, report := at.p.Import(ctx, at.of.Name, id)
			if object != nil || !report.Failed() || len(report.Faults) > 0 {
				t.Errorf("importing %q as %s: %v %s", id, at.of.Name, object, report)
			}
			mu.Lock()
			for _, path := range asked {
				if strings.HasPrefix(path, strings.TrimSuffix(at.prefix, "/")+"?") { // the list that many reads share
					continue
				}
				segment, ok := strings.CutPrefix(strings.TrimSuffix(path, "?"), at.prefix)
				decoded, err := url.PathUnescape(segment)
				if !ok || err != nil || strings.Contains(segment, "/") || decoded != id {
					t.Errorf("importing %q as %s asks for %s", id, at.of.Name, path)
				}
			}
			mu.Unlock()
		}
	})
}
