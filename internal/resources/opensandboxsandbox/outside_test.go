package opensandboxsandbox_test

import (
	"net/http"

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
