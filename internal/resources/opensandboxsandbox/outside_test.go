package opensandboxsandbox_test

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/agentenv/terraform-provider-gpuvm/internal/acctest"
)

// pause and resume are what an action, or somebody else, does.
func (b *bench) pause(object acctest.Object) { b.post(object, "pause") }

func (b *bench) resume(object acctest.Object) { b.post(object, "resume") }

func (b *bench) post(object acctest.Object, verb string) {
	b.t.Helper()
	request, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, b.server.URL+"/v1/sandboxes/"+text(b.t, object.Attributes, "id")+"/"+verb, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	request.Header.Set("OPEN-SANDBOX-API-KEY", b.server.APIKey)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		b.t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusAccepted {
		b.t.Fatalf("%s: HTTP %d", verb, answer.StatusCode)
	}
}

// snapshot takes a snapshot and waits for nothing: the fake's is ready at once.
func (b *bench) snapshot(of acctest.Object) string {
	b.t.Helper()
	request, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, b.server.URL+"/v1/sandboxes/"+text(b.t, of.Attributes, "id")+"/snapshots", strings.NewReader("{}"))
	if err != nil {
		b.t.Fatal(err)
	}
	request.Header.Set("OPEN-SANDBOX-API-KEY", b.server.APIKey)
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		b.t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	var snapshot struct {
		ID string `json:"id"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&snapshot); err != nil || snapshot.ID == "" {
		b.t.Fatalf("HTTP %d %v", answer.StatusCode, err)
	}
	return snapshot.ID
}
