package gpuvm

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/apiclient"
)

// answering is a client of a service that answers everything with a running VM and the given header.
func answering(t *testing.T, header http.Header) *Client {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for name, values := range header {
			w.Header()[name] = values
		}
		_, _ = w.Write([]byte(`{"id":"vm-1","status":"running"}`))
	}))
	t.Cleanup(server.Close)
	client, err := apiclient.New(apiclient.Config{BaseURL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	return New(client)
}

func TestHeldAnswers(t *testing.T) {
	t.Parallel()
	for title, c := range map[string]struct {
		applied []string
		held    bool
	}{
		"nothing": {nil, false}, "as the contract has it": {[]string{"wait"}, true}, "with the value": {[]string{"wait=25"}, true},
		"in a list": {[]string{"respond-async, Wait=25"}, true}, "in two fields": {[]string{"handling=strict", "wait"}, true},
		"another": {[]string{"respond-async"}, false}, "another that begins so": {[]string{"waiting"}, false},
	} {
		client := answering(t, http.Header{"Preference-Applied": c.applied})
		if _, held, err := client.GetWait(context.Background(), "vm-1", 25*time.Second, time.Minute); err != nil || held != c.held {
			t.Errorf("%s: held %t, %v", title, held, err)
		}
	}
}

func TestReplays(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]Replay{"true": ReplayRepeated, "True": ReplayRepeated, "false": ReplayFirst, "": ReplayUnknown, "maybe": ReplayUnknown} {
		client := answering(t, http.Header{"Idempotency-Replayed": {said}})
		if _, got, err := client.Create(context.Background(), "key", CreateRequest{}); err != nil || got != want {
			t.Errorf("%q: %v, %v", said, got, err)
		}
	}
}
