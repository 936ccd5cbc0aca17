package gpuvm

import (
	"net/http"
	"strconv"

	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/statuspage"
)

// pages answers what a real service doesn't have: pages to look at, and orders besides those for faults:
//
//	GET    /                                the machines (HTML)
//	GET    /_fake/vms                       the machines (JSON)
//	GET    /_fake/vms/{id}/display          the machine's screen: where vnc_url leads
//	GET    /_fake/vms/{id}/screen           the part of it that moves
//	*      /_fake/vms/{id}/ports/{port}/    a page for each exposed port
//	DELETE /_fake/vms/{id}                  delete a machine as somebody else would
//	POST   /_fake/vms/{id}/fail?error=text  make it failed
//	POST   /_fake/fail-boots?n=1&error=text make the next n boots fail
func (s *Service) pages() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /{$}", statuspage.Handler(func() []statuspage.Section { return []statuspage.Section{s.Section("")} }))
	mux.HandleFunc("GET /_fake/vms", s.listVMs)
	mux.HandleFunc("GET /_fake/vms/{id}/display", func(w http.ResponseWriter, r *http.Request) {
		shown, status := s.screenOf(r.PathValue("id"))
		render(w, status, "display.html", shown)
	})
	mux.HandleFunc("GET /_fake/vms/{id}/screen", func(w http.ResponseWriter, r *http.Request) {
		shown, status := s.screenOf(r.PathValue("id"))
		render(w, status, "screen", shown)
	})
	mux.HandleFunc("/_fake/vms/{id}/ports/{port}/", s.portPage)
	mux.HandleFunc("DELETE /_fake/vms/{id}", func(w http.ResponseWriter, r *http.Request) {
		done(w, s.Delete(r.PathValue("id")))
	})
	mux.HandleFunc("POST /_fake/vms/{id}/fail", func(w http.ResponseWriter, r *http.Request) {
		done(w, s.Fail(r.PathValue("id"), textOr(r, "failed on demand")))
	})
	mux.HandleFunc("POST /_fake/fail-boots", func(w http.ResponseWriter, r *http.Request) {
		n, err := strconv.Atoi(r.URL.Query().Get("n"))
		if err != nil || n < 0 {
			reply(w, http.StatusBadRequest, map[string]string{"error": "n must be a whole number"})
			return
		}
		s.FailNextBoots(n, textOr(r, "boot failed on demand"))
		done(w, true)
	})
	return mux
}

func textOr(r *http.Request, otherwise string) string {
	if text := r.URL.Query().Get("error"); text != "" {
		return text
	}
	return otherwise
}

func done(w http.ResponseWriter, found bool) {
	if !found {
		reply(w, http.StatusNotFound, map[string]string{"error": "no such vm"})
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// listed is a machine in the list that the contract doesn't have.
type listed struct {
	answer
	CPU        float64 `json:"cpu"`
	MemoryMB   int64   `json:"memory_mb"`
	DiskGB     float64 `json:"disk_gb"`
	TTLSeconds int64   `json:"ttl_seconds"`
	Priority   *int64  `json:"priority"`
	CreatedAt  string  `json:"created_at"`
	ExpiresAt  string  `json:"expires_at"`
}

func (s *Service) listVMs(w http.ResponseWriter, _ *http.Request) {
	const layout = "2006-01-02T15:04:05Z07:00"
	s.mu.Lock()
	all := []listed{}
	for _, v := range s.living() {
		all = append(all, listed{
			s.answer(v), v.spec.CPU, v.spec.MemoryMB, v.spec.DiskGB, v.spec.TTLSeconds, v.spec.Priority,
			v.created.UTC().Format(layout), v.expires.UTC().Format(layout),
		})
	}
	s.mu.Unlock()
	reply(w, http.StatusOK, all)
}

// portPage stands for whatever a real machine would serve at an exposed port.
func (s *Service) portPage(w http.ResponseWriter, r *http.Request) {
	port, err := strconv.Atoi(r.PathValue("port"))
	vm, found := s.VM(r.PathValue("id"))
	_, open := vm.Ports[port]
	if err != nil || !found || !open {
		reply(w, http.StatusNotFound, map[string]string{"error": "no such vm or port"})
		return
	}
	page := struct {
		ID, Text, Display string
		Port              int
	}{vm.ID, "The image " + vm.Spec.Image + " would answer here.", "/_fake/vms/" + vm.ID + "/display", port}
	if vm.Status != Running {
		page.Text = "The machine is " + string(vm.Status) + "."
		render(w, http.StatusServiceUnavailable, "port.html", page)
		return
	}
	render(w, http.StatusOK, "port.html", page)
}
