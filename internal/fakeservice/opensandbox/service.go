// Package opensandbox is a stateful fake of an OpenSandbox server over real HTTP: the lifecycle API as a Docker or a Kubernetes
// server answers it, quirks and all, and behind its endpoints the execd and the egress sidecar of every sandbox, whose commands
// run in a machine of package machine. No process or file of the host is touched.
//
// What the real server does was read from its source (the tree of 2026-06-15, "the mirror") and seen on a running one. Where a
// fake can't be the same, it says so at the place: every sandbox is reached over the service's own address, under /direct/ and
// /gateway/, instead of over ports and names of its own.
package opensandbox

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/clock"
	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/faults"
)

// Service is the fake server. It is safe for concurrent use.
type Service struct {
	options Options
	clock   clock.Clock
	ids     *identifiers
	faults  *faults.Set
	handler http.Handler
	table   []route

	life       context.Context // ends with Close; a create goes on when its client has gone, but not after this
	end        context.CancelFunc
	background sync.WaitGroup

	loop loop // of a Docker server

	mu          sync.Mutex
	sandboxes   map[string]*sandbox
	order       []*sandbox // by sequence
	sequence    uint64
	snapshots   []*snapshot // oldest first
	pools       map[string]*pool
	volumes     map[string]bool // claims that exist
	madeVolumes map[string]bool // those of them that a create made
	leaks       []KeyLeak
	breaks      breaks
	window      window
	inFlight    int
}

// breaks count what is still to go wrong.
type breaks struct{ pulls, starts, readiness int }

// New makes a service. Close it when it is no longer served.
func New(options Options) *Service {
	options = options.withDefaults()
	s := &Service{
		options: options, clock: options.Clock, ids: newIdentifiers(options.Seed), faults: faults.New(options.Clock),
		sandboxes: map[string]*sandbox{}, pools: map[string]*pool{}, volumes: map[string]bool{}, madeVolumes: map[string]bool{},
	}
	for _, name := range options.ExistingVolumes {
		s.volumes[name] = true
	}
	s.life, s.end = context.WithCancel(context.Background())
	s.table = s.routes()
	s.faults.SetErrorBody(func(_ int, text string) string {
		body, _ := json.Marshal(map[string]string{"code": codeUnknown, "message": text}) // text always is JSON's to hold
		return string(body)
	})
	s.handler = s.faults.Wrap(http.HandlerFunc(s.dispatch))
	return s
}

// Close ends all that still runs in the sandboxes and all waits of requests in flight.
func (s *Service) Close() {
	s.end()
	s.mu.Lock()
	for _, sb := range slices.Clone(s.order) {
		s.forget(sb)
	}
	s.mu.Unlock()
	s.background.Wait()
}

// Faults orders faults and tells which requests came, to the server as well as into the sandboxes.
func (s *Service) Faults() *faults.Set { return s.faults }

// ServeHTTP serves the API and everything inside the sandboxes.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// dispatch tells the server from what lies inside the sandboxes, which knows nothing of the server's rules.
func (s *Service) dispatch(w http.ResponseWriter, r *http.Request) {
	switch {
	case strings.HasPrefix(r.URL.Path, directPrefix):
		s.serveDirect(w, r)
	case s.options.Kubernetes && s.options.Ingress == IngressWildcard && strings.Contains(r.Host, "."+GatewayDomain):
		s.serveGateway(w, r)
	case strings.HasPrefix(r.URL.Path, gatewayPrefix) || r.URL.Path == strings.TrimSuffix(gatewayPrefix, "/"):
		s.serveGateway(w, r)
	default:
		s.serveServer(w, r)
	}
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// wait lets time pass for a create or a delete, whose work doesn't end with the request.
func (s *Service) wait(d time.Duration) error { return s.clock.Sleep(s.life, d) }
