package apiclient

import (
	"errors"
	"net/http"
	"testing"
)

// A service behind a login sends who isn't logged in to a page that may well not exist: that says nothing of the object.
func TestNothingIsGoneAfterARedirect(t *testing.T) {
	t.Parallel()
	s := serve(t, false, func(w http.ResponseWriter, r *http.Request, _ int) {
		if r.URL.Path == "/v1/vms/vm-1" {
			http.Redirect(w, r, "/login", http.StatusFound)
			return
		}
		http.NotFound(w, r)
	})
	_, err := clientOf(t, s).Do(t.Context(), Request{Method: "GET", Path: []string{"v1", "vms", "vm-1"}}, nil)
	var failed *Error
	if IsGone(err) || !errors.As(err, &failed) || !failed.Elsewhere() || failed.Status != 404 {
		t.Errorf("got %v", err)
	}
}
