package gpuvm_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/gpuvm"
)

// BenchmarkLife is a machine's life, without a network, beside a thousand others: what the fake itself costs.
func BenchmarkLife(b *testing.B) {
	s := gpuvm.New(gpuvm.Options{Token: token, IdempotencyKeys: true, LongPoll: true})
	send := func(method, path, body string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(b.Context(), method, path, strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		return w
	}
	create := func() string {
		var vm struct {
			ID string `json:"id"`
		}
		if err := json.Unmarshal(send(http.MethodPost, "/v1/vms", plain).Body.Bytes(), &vm); err != nil || vm.ID == "" {
			b.Fatal("no machine", err)
		}
		return vm.ID
	}
	for range 1000 {
		create()
	}
	for b.Loop() {
		at := "/v1/vms/" + create()
		send(http.MethodGet, at, "")
		send(http.MethodGet, at, "")
		if w := send(http.MethodDelete, at, ""); w.Code != http.StatusNoContent {
			b.Fatal(w.Code)
		}
	}
}
