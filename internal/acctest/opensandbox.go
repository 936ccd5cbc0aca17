package acctest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-testing/terraform"

	"github.com/agentenv/terraform-provider-gpuvm/internal/clock"
	"github.com/agentenv/terraform-provider-gpuvm/internal/connection"
	fake "github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/opensandbox"
	providers "github.com/agentenv/terraform-provider-gpuvm/internal/provider"
	"github.com/agentenv/terraform-provider-gpuvm/internal/unchanged"
)

// OpenSandbox is a fake OpenSandbox server of one test.
type OpenSandbox struct {
	*fake.Service
	URL    string
	APIKey string
}

// NewOpenSandbox starts a fake OpenSandbox server, which ends with the test. set changes its options.
func NewOpenSandbox(t *testing.T, set ...func(*fake.Options)) *OpenSandbox {
	t.Helper()
	server := httptest.NewUnstartedServer(nil)
	options := fake.Options{APIKey: "key-of-the-test", URL: "http://" + server.Listener.Addr().String(), Seed: 1}
	for _, change := range set {
		change(&options)
	}
	service := fake.New(options)
	server.Config.Handler = service
	server.Start()
	t.Cleanup(func() { service.Close(); server.Close() })
	return &OpenSandbox{Service: service, URL: options.URL, APIKey: options.APIKey}
}

// Provider is a provider block for the server; more stands inside it. Nothing in it waits for long before a retry.
func (o *OpenSandbox) Provider(more ...string) string {
	text := required("opensandbox") + fmt.Sprintf("provider \"opensandbox\" {\n  domain = %q\n  api_key = %q\n", o.URL, o.APIKey)
	if !strings.Contains(strings.Join(more, "\n"), "create {") {
		text += "  create {\n    retry_delay_seconds = 0\n  }\n"
	}
	if !strings.Contains(strings.Join(more, "\n"), "operations {") {
		text += "  operations {\n    retry_delay_seconds = 0\n  }\n"
	}
	for _, line := range more {
		text += "  " + line + "\n"
	}
	return text + "}\n"
}

// Empty is a destroy check: the server holds no sandbox.
func (o *OpenSandbox) Empty(*terraform.State) error {
	if all := o.Sandboxes(); len(all) > 0 {
		return fmt.Errorf("the server still holds %d sandbox(es), the first is %s", len(all), all[0].ID)
	}
	return nil
}

// EmptyOfAll is a destroy check: the server holds no sandbox, snapshot or pool.
func (o *OpenSandbox) EmptyOfAll(state *terraform.State) error {
	if all := o.Snapshots(); len(all) > 0 {
		return fmt.Errorf("the server still holds %d snapshot(s), the first is %s", len(all), all[0].ID)
	}
	if all := o.Pools(); len(all) > 0 {
		return fmt.Errorf("the server still holds %d pool(s), the first is %s", len(all), all[0].Name)
	}
	return o.Empty(state)
}

// Asked counts the requests of a method whose path, without the API's prefix and with {id} for a sandbox's id, is the given
// one.
func (o *OpenSandbox) Asked(method, path string) int {
	count := 0
	for _, request := range o.Faults().Requests() {
		if request.Method == method && o.shape(request.Path) == path {
			count++
		}
	}
	return count
}

// shape is a path without what differs from test to test.
func (o *OpenSandbox) shape(path string) string {
	parts := strings.Split(strings.TrimPrefix(path, "/v1"), "/")
	if len(parts) > 2 && parts[1] == "sandboxes" {
		parts[2] = "{id}"
	}
	return strings.Join(parts, "/")
}

// Make makes a sandbox that no state knows, from the JSON of a create request, and gives its id.
func (o *OpenSandbox) Make(t *testing.T, body string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, o.URL+"/v1/sandboxes", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("OPEN-SANDBOX-API-KEY", o.APIKey)
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	var made struct {
		ID string `json:"id"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&made); err != nil || made.ID == "" {
		t.Fatalf("making a sandbox: HTTP %d, %v", answer.StatusCode, err)
	}
	o.Faults().Reset()
	return made.ID
}

// OpenSandboxClocked is the provider that goes by the given clock: its plans, waits and retries.
func OpenSandboxClocked(c clock.Clock) provider.Provider {
	served, ok := providers.OpenSandbox("test")().(every)
	if !ok {
		panic("the provider doesn't serve every kind of type")
	}
	return clocked{served, c}
}

// every kind of type that the provider serves.
type every interface {
	provider.ProviderWithActions
	provider.ProviderWithEphemeralResources
	provider.ProviderWithListResources
	unchanged.Provider
	Close(ctx context.Context)
}

type clocked struct {
	every
	clock clock.Clock
}

func (p clocked) Configure(ctx context.Context, req provider.ConfigureRequest, resp *provider.ConfigureResponse) {
	p.every.Configure(ctx, req, resp)
	if service, ok := resp.ResourceData.(*connection.OpenSandbox); ok {
		service.UseClock(p.clock)
	}
}
