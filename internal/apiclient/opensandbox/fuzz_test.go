package opensandbox

import (
	"net/http"
	"testing"
)

// FuzzAnswers: whatever a server answers is what was asked for, with an id, or an error.
func FuzzAnswers(f *testing.F) {
	for _, seed := range []string{
		`{"id":"a","status":{"state":"Running","reason":null},"image":{"uri":"x"},"metadata":{"a":"b"},"createdAt":"2026-06-15T10:00:00.123456Z","expiresAt":null}`,
		`{"items":[{"id":"a","status":{"state":"Running"}},null],"pagination":{"hasNextPage":true,"page":1}}`, `{"items":null}`, `{"items":[1]}`,
		`{"id":"s","status":{"state":"Ready"},"name":null,"sandboxId":"a","createdAt":"x"}`, `{"name":"p","capacitySpec":{"bufferMax":1e9},"status":{"total":-1}}`,
		`{"endpoint":"h:1/x","headers":{"A":"b"}}`, `{"endpoint":"\u0000"}`, `{"endpoint":"http://user@h"}`, `null`, `[]`, ``, `{"id":"..","status":{"state":""}}`,
	} {
		f.Add([]byte(seed))
	}
	var body []byte
	client, _ := serve(f, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(body) })
	f.Fuzz(func(t *testing.T, answer []byte) {
		body = answer
		if sandbox, err := client.Sandbox(t.Context(), "a"); err == nil && (sandbox.ID == "" || sandbox.Status.State == "") {
			t.Errorf("%q is taken for a sandbox: %+v", answer, sandbox)
		}
		if snapshot, err := client.Snapshot(t.Context(), "a"); err == nil && snapshot.ID == "" {
			t.Errorf("%q is taken for a snapshot: %+v", answer, snapshot)
		}
		if pool, err := client.Pool(t.Context(), "a"); err == nil && pool.Name == "" {
			t.Errorf("%q is taken for a pool: %+v", answer, pool)
		}
		if endpoint, err := client.Endpoint(t.Context(), "a", 8080, Route{}); err == nil && endpoint.URL == "" {
			t.Errorf("%q is taken for an endpoint: %+v", answer, endpoint)
		}
		count := 0
		for _, err := range client.Sandboxes(t.Context(), SandboxFilter{}) {
			if count++; err != nil || count > 1000 {
				break
			}
		}
	})
}
