package acctest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/terraform"

	fake "github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/gpuvm"
)

// GPUVM is a fake VM service of one test.
type GPUVM struct {
	*fake.Service
	URL   string
	Token string
}

// NewGPUVM starts a fake VM service, which ends with the test. set changes its options.
func NewGPUVM(t *testing.T, set ...func(*fake.Options)) *GPUVM {
	t.Helper()
	server := httptest.NewUnstartedServer(nil)
	options := fake.Options{Token: "token-of-the-test", URL: "http://" + server.Listener.Addr().String(), IdempotencyKeys: true, LongPoll: true}
	for _, change := range set {
		change(&options)
	}
	service := fake.New(options)
	server.Config.Handler = service
	server.Start()
	t.Cleanup(server.Close)
	return &GPUVM{Service: service, URL: options.URL, Token: options.Token}
}

// Provider is a provider block for the service; more stands inside it.
func (g *GPUVM) Provider(more ...string) string {
	text := required("gpuvm") + fmt.Sprintf("provider \"gpuvm\" {\n  base_url = %q\n  api_token = %q\n", g.URL, g.Token)
	for _, line := range more {
		text += "  " + line + "\n"
	}
	return text + "}\n"
}

// Empty is a destroy check: the service holds no machine.
func (g *GPUVM) Empty(*terraform.State) error {
	if vms := g.VMs(); len(vms) > 0 {
		return fmt.Errorf("the service still holds %d machine(s), the first is %s", len(vms), vms[0].ID)
	}
	return nil
}

// Posted counts the create requests that reached the service.
func (g *GPUVM) Posted() int {
	count := 0
	for _, request := range g.Faults().Requests() {
		if request.Method == http.MethodPost && request.Path == "/v1/vms" {
			count++
		}
	}
	return count
}

// Make makes a machine that no state knows, from the JSON of a create request, and gives its id.
func (g *GPUVM) Make(t *testing.T, body string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, g.URL+"/v1/vms", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+g.Token)
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
		t.Fatalf("making a machine: HTTP %d, %v", answer.StatusCode, err)
	}
	g.Faults().Reset()
	return made.ID
}
