package gpuvm

import (
	"errors"
	"net/http"
	"testing"

	"github.com/agentenv/terraform-provider-gpuvm/internal/apiclient"
)

// FuzzVM: whatever a service answers is a VM with id and status, or an error that says that it isn't one and keeps what id
// there is, since a machine may stand behind it.
func FuzzVM(f *testing.F) {
	for _, seed := range []string{
		`{"id":"vm-1","status":"running","image":"a","ports":{"80":"http://a"},"vnc_url":null,"labels":{"a":"b"},"error":"x"}`,
		`{"id":"vm-1","status":7}`, `{"id":".","status":"running"}`, `{"status":"running"}`, `{"id":"vm-1","ports":[1]}`, `null`, `[]`, `"x"`, ``, `{"id":"a`,
		`{"id":"vm-1","status":"running","ports":{"80":null},"labels":null}`, `{"ID":"vm-1","Status":"x"}`, "{\"id\":\"\xff\",\"status\":\"\x00\"}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		vm, err := decode(apiclient.Request{Method: http.MethodGet, Path: vmPath("vm-1")}, &apiclient.Answer{Status: 200, Header: http.Header{}, Body: body})
		var malformed *MalformedError
		switch {
		case err == nil && (vm.ID == "" || vm.ID == "." || vm.ID == ".." || vm.Status == ""):
			t.Errorf("%q is taken for a VM: %+v", body, vm)
		case err != nil && (!errors.As(err, &malformed) || !errors.Is(err, apiclient.ErrGarbled)):
			t.Errorf("%q gives %v", body, err)
		case err != nil && malformed.VM.ID != vm.ID:
			t.Errorf("%q: the id %q is lost", body, vm.ID)
		}
	})
}
