package opensandbox

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
)

// KeyLeak is a request that reached the inside of a sandbox with the lifecycle API's key, which belongs to the server alone.
type KeyLeak struct {
	Sandbox string
	Port    int
	Method  string
	Path    string
	Header  string // the one that held it
}

const mostLeaks = 1000 // that are kept

var (
	errGone     = errors.New("no such address")
	errNotReady = errors.New("the sandbox isn't running")
	errRefused  = errors.New("connection refused")
)

// visit finds what listens on a port of a sandbox. It waits while the sandbox is frozen, as a connection does that the kernel has
// taken and no process answers. The error says that nothing answers; each way into the sandbox has its own words for that.
func (s *Service) visit(r *http.Request, id, key string, port int) (*sandbox, *pod, error) {
	for {
		s.mu.Lock()
		sb := s.find(id)
		if sb == nil || (key != "" && key != sb.key()) {
			s.mu.Unlock()
			return nil, nil, errGone
		}
		frozen, current := sb.frozen, sb.pod
		err := s.answers(sb, port)
		if err == nil && frozen == nil {
			s.noteLeak(r, sb, port)
		}
		s.mu.Unlock()
		if err != nil || frozen == nil {
			return sb, current, err
		}
		select {
		case <-frozen:
		case <-r.Context().Done():
			return nil, nil, r.Context().Err()
		case <-s.life.Done():
			return nil, nil, errGone
		}
	}
}

// answers says why no process listens on the port, or nil. Where nothing else is known, one does: the fake has a page for each port.
func (s *Service) answers(sb *sandbox, port int) error {
	up := sb.phase == running || sb.phase == allocated || sb.phase == pausing || (sb.phase == paused && sb.frozen != nil)
	listens := !sb.closed[port]
	switch port {
	case egressPort:
		listens = listens && sb.egress != nil
	case execdPort:
		listens = listens && !sb.pod.noExecd && !sb.oom && !s.clock.Now().Before(sb.pod.listens)
	}
	switch {
	case !up || sb.pod.life.Err() != nil:
		return errNotReady
	case !listens:
		return errRefused
	}
	return nil
}

func (s *Service) noteLeak(r *http.Request, sb *sandbox, port int) {
	for name, values := range r.Header {
		held := http.CanonicalHeaderKey(apiKeyHeader) == name
		for _, value := range values {
			held = held || (s.options.APIKey != "" && strings.Contains(value, s.options.APIKey))
		}
		if held && len(s.leaks) < mostLeaks {
			s.leaks = append(s.leaks, KeyLeak{sb.id, port, r.Method, r.URL.Path, name})
		}
	}
}

// serveInside answers as what listens on the port.
func (s *Service) serveInside(w http.ResponseWriter, r *http.Request, sb *sandbox, in *pod, port int, path string) {
	if path == "" {
		path = "/"
	}
	switch {
	case port == execdPort:
		s.serveExecd(w, r, sb, in, path)
	case port == egressPort && sb.egress != nil:
		sb.egress.serve(w, r, path)
	default:
		s.servePage(w, r, sb, port, path)
	}
}

// hangUp ends a connection without an answer, which is how a closed port looks behind Docker's own port mapping.
func hangUp() { panic(http.ErrAbortHandler) }

// serveDirect is a port of a sandbox as its own address shows it: /direct/{key}/{port}/...
func (s *Service) serveDirect(w http.ResponseWriter, r *http.Request) {
	key, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, directPrefix), "/")
	portText, path, _ := strings.Cut(rest, "/")
	id, _, _ := strings.Cut(key, ".")
	port, err := strconv.Atoi(portText)
	if err != nil || (!s.options.Kubernetes && port != execdPort && port != httpPort) {
		hangUp() // Docker maps these two ports and no other
	}
	sb, in, err := s.visit(r, id, key, port)
	if err != nil {
		hangUp()
	}
	s.serveInside(w, r, sb, in, port, "/"+path)
}

// hopByHop are the headers that the server's proxy keeps to itself (RFC 9110 section 7.6.1), private those that are meant for it.
var (
	hopByHop = []string{"Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Te", "Trailer", "Transfer-Encoding", "Upgrade"}
	private  = []string{"Authorization", "Cookie", apiKeyHeader}
)

// serveProxied is the server-proxy route: it leaves the server's own credentials behind, and adds none of the endpoint's.
func (s *Service) serveProxied(w http.ResponseWriter, r *http.Request, parameters []string) *failure {
	port, ok := portOf(w, parameters[1])
	if !ok {
		return nil
	}
	id, path := parameters[0], "/"+parameters[2]
	if port < 1 || port > 65535 {
		return fail(http.StatusBadRequest, "DOCKER::INVALID_PORT", "Port must be between 1 and 65535.")
	}
	sb, problem := s.proxyTarget(r, id, port)
	if problem != nil {
		return problem
	}
	if strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		return fail(http.StatusBadRequest, codeUnknown, "Websocket upgrade is not supported yet")
	}
	inner := r.Clone(r.Context())
	for _, name := range append(strings.Split(r.Header.Get("Connection"), ","), append(hopByHop, private...)...) {
		inner.Header.Del(strings.TrimSpace(name))
	}
	if inner.Header.Get("X-Forwarded-Host") == "" {
		inner.Header.Set("X-Forwarded-Host", r.Host)
	}
	if s.options.Kubernetes && s.options.Ingress != IngressDirect { // then the server itself comes through the gateway
		if status, message := s.gatewayCheck(inner, sb, gatewayRoute{id: id, port: port}); status != 0 {
			http.Error(w, "OpenSandbox Ingress: "+message, status)
			return nil
		}
	}
	sb, in, err := s.visit(inner, id, "", port)
	if err != nil {
		return fail(http.StatusBadGateway, codeUnknown, "Could not connect to the backend sandbox endpoint='%s:%d': All connection attempts failed", id, port)
	}
	s.serveInside(w, inner, sb, in, port, path)
	return nil
}

// proxyTarget is the sandbox that the server's proxy goes to, when it has an address at all.
func (s *Service) proxyTarget(r *http.Request, id string, port int) (*sandbox, *failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sb, problem := s.lookUp(id)
	if problem != nil {
		return nil, problem
	}
	if !s.options.Kubernetes && sb.labels[labelEgressToken] == "" && (sb.phase == terminated || sb.phase == failed) {
		return nil, fail(http.StatusInternalServerError, "DOCKER::NETWORK_MODE_ENDPOINT_UNAVAILABLE", "Container is running but has no assigned IP address.")
	}
	_, problem = s.endpoint(r, sb, port, false, 0)
	return sb, problem
}
