package gpuvm

import (
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/agentenv/terraform-provider-gpuvm/internal/clock"
	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/faults"
)

// Service is the fake VM service. It is an http.Handler and safe for concurrent use.
type Service struct {
	options Options
	clock   clock.Clock
	faults  *faults.Set
	handler http.Handler
	fake    http.Handler                  // the pages
	routes  map[string]map[string]handler // what follows /v1/vms, then the method

	mu       sync.Mutex
	ids      *rand.Rand
	vms      map[string]*vm
	queue    queue // by the time that each disappears: expiry costs nothing until it is due
	keys     keys
	failNext int
	failText string
	created  int
}

// New gives a service without machines. Serve it with fakeservice.Serve, or any HTTP server.
func New(o Options) *Service {
	if o.Clock == nil {
		o.Clock = clock.System()
	}
	if o.MaxVMs == 0 {
		o.MaxVMs = defaultMaxVMs
	}
	seed := uint64(o.Seed) //nolint:gosec // any bits will do
	if seed == 0 {
		seed = rand.Uint64()
	}
	o.URL, o.Prefix = strings.TrimRight(o.URL, "/"), strings.TrimRight(o.Prefix, "/")
	s := &Service{
		options: o, clock: o.Clock, faults: faults.New(o.Clock), vms: map[string]*vm{}, keys: newKeys(),
		ids: rand.New(rand.NewPCG(seed, 0)), // ids of a fake need no secrecy, but repetition on demand
	}
	s.routes = map[string]map[string]handler{
		"":      {http.MethodPost: s.postVM},
		"vm":    {http.MethodGet: s.getVM, http.MethodDelete: s.deleteVM},
		"exec":  {http.MethodPost: s.postExec},
		"files": {http.MethodPut: s.putFile},
	}
	s.fake = s.pages()
	s.handler = s.faults.Wrap(http.HandlerFunc(s.route))
	return s
}

// ServeHTTP answers a request, after the faults have had their way with it.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Faults gives the faults to order and the log of requests.
func (s *Service) Faults() *faults.Set { return s.faults }

// Close ends every command that runs on a machine. The service answers on, without machines.
func (s *Service) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, v := range s.vms {
		s.drop(v)
	}
}

// route finds the handler by hand: the standard multiplexer would clean paths and redirect where the contract says 404.
func (s *Service) route(w http.ResponseWriter, r *http.Request) {
	at := r.URL.EscapedPath()
	if at == "/" || strings.HasPrefix(at, faults.ControlPrefix) {
		s.fake.ServeHTTP(w, r)
		return
	}
	parts, ok := s.parts(at)
	creates := ok && len(parts) == 0 && r.Method == http.MethodPost
	if creates && s.options.IdempotencyKeys {
		w.Header().Set("Idempotency-Replayed", "false") // on every answer to a POST; a replay sets it right
	}
	if !s.authorized(r) {
		w.Header().Set("WWW-Authenticate", "Bearer")
		s.fail(w, r, http.StatusUnauthorized, "the bearer token is missing or wrong")
		return
	}
	if !ok {
		s.fail(w, r, http.StatusNotFound, "no such route")
		return
	}
	id, action := "", ""
	switch len(parts) {
	case 1:
		id, action = parts[0], "vm"
	case 2:
		id, action = parts[0], parts[1]
	}
	verbs, known := s.routes[action]
	if !known {
		s.fail(w, r, http.StatusNotFound, "no such route")
		return
	}
	handle, allowed := verbs[r.Method]
	if !allowed {
		w.Header().Set("Allow", strings.Join(slices.Sorted(maps.Keys(verbs)), ", "))
		s.fail(w, r, http.StatusMethodNotAllowed, "method %s is not allowed here", r.Method)
		return
	}
	handle(w, r, id)
}

type handler func(w http.ResponseWriter, r *http.Request, id string)

// parts gives the path segments after /v1/vms, unescaped one by one: an escaped slash is part of an id.
func (s *Service) parts(at string) ([]string, bool) {
	rest, ok := strings.CutPrefix(at, s.options.Prefix+"/v1/vms")
	if !ok || (rest != "" && rest[0] != '/') {
		return nil, false
	}
	if rest == "" {
		return nil, true
	}
	parts := strings.Split(rest[1:], "/")
	for i, part := range parts {
		unescaped, err := url.PathUnescape(part)
		if err != nil || unescaped == "" || len(parts) > 2 {
			return nil, false
		}
		parts[i] = unescaped
	}
	return parts, true
}

func (s *Service) authorized(r *http.Request) bool {
	if s.options.Token == "" {
		return true
	}
	scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	return ok && strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare([]byte(token), []byte(s.options.Token)) == 1
}

// fail answers with an error as the contract shapes it.
func (s *Service) fail(w http.ResponseWriter, r *http.Request, status int, format string, values ...any) {
	text := fmt.Sprintf(format, values...)
	if s.options.EchoSecrets {
		body, _ := io.ReadAll(io.LimitReader(r.Body, maxCreateBody)) // what can't be read can't be repeated
		text += " (you sent " + r.Header.Get("Authorization") + " " + string(body) + ")"
	}
	reply(w, status, map[string]string{"error": text})
}

func reply(w http.ResponseWriter, status int, value any) {
	body, err := json.Marshal(value)
	if err != nil { // nothing that is answered here can fail to be JSON
		panic(err)
	}
	send(w, status, body)
}

func send(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body) //nolint:gosec // it is JSON, and says so; a client that has gone needs no answer
}
