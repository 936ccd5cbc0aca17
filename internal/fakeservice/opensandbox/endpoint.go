package opensandbox

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

const (
	secureAccessHeader = "OpenSandbox-Secure-Access"
	ingressHeader      = "OpenSandbox-Ingress-To"

	execdPort  = 44772
	httpPort   = 8080 // the one port beside execd's that Docker maps by itself
	egressPort = 18080

	directPrefix  = "/direct/"
	gatewayPrefix = "/gateway/"
)

type endpointView struct {
	Endpoint string            `json:"endpoint"`
	Headers  map[string]string `json:"headers,omitempty"`
}

func (e *endpointView) header(name, value string) {
	if e.Headers == nil {
		e.Headers = map[string]string{}
	}
	e.Headers[name] = value
}

// getEndpoint tells where a port is reached: without a scheme, and whether or not anything listens there.
func (s *Service) getEndpoint(w http.ResponseWriter, r *http.Request, parameters []string) *failure {
	port, ok := portOf(w, parameters[1])
	if !ok {
		return nil
	}
	var c checker
	proxied := c.queryTruth(r, "use_server_proxy")
	signed := r.URL.Query().Has("expires")
	expires := c.queryWhole(r, "expires", 0, -unbounded, unbounded)
	if !c.ok(0) {
		c.write(w)
		return nil
	}
	if proxied && signed {
		return invalidParameter("use_server_proxy cannot be combined with expires; signed endpoints require the gateway route.")
	}
	if signed && !s.options.Kubernetes {
		return fail(http.StatusBadRequest, "SANDBOX::API_NOT_SUPPORTED", "Signed routes (expires parameter) are not supported when runtime.type='docker'. Use the Kubernetes runtime for signed routes.")
	}
	if port < 1 || port > 65535 {
		return fail(http.StatusBadRequest, "DOCKER::INVALID_PORT", "Port must be between 1 and 65535.")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if signed && expires <= s.clock.Now().Unix() {
		return invalidParameter("expires (%d) must be greater than current time (%d).", expires, s.clock.Now().Unix())
	}
	sb, problem := s.lookUp(parameters[0])
	if problem != nil {
		return problem
	}
	view, problem := s.endpoint(r, sb, port, signed, expires)
	if problem != nil {
		return problem
	}
	if proxied {
		view.Endpoint = fmt.Sprintf("%s/sandboxes/%s/proxy/%d", s.host(r), sb.id, port)
	}
	sb.lookedUp[port] = true
	writeJSON(w, http.StatusOK, view)
	return nil
}

// host is the service's own address, without a scheme.
func (s *Service) host(r *http.Request) string {
	if s.options.URL == "" {
		return r.Host
	}
	_, host, _ := strings.Cut(s.options.URL, "://")
	return strings.TrimRight(host, "/")
}

func (s *Service) endpoint(r *http.Request, sb *sandbox, port int, signed bool, expires int64) (*endpointView, *failure) {
	view := &endpointView{}
	switch {
	case !s.options.Kubernetes && port == httpPort:
		view.Endpoint = fmt.Sprintf("%s%s%s/%d", s.host(r), directPrefix, sb.key(), port)
	case !s.options.Kubernetes: // everything else goes through execd's own proxy
		view.Endpoint = fmt.Sprintf("%s%s%s/%d/proxy/%d", s.host(r), directPrefix, sb.key(), execdPort, port)
	case signed && s.options.Ingress == IngressDirect:
		return nil, invalidParameter("Signed routes require ingress.mode = 'gateway'. Configure ingress gateway or omit the expires parameter.")
	case s.options.Ingress != IngressDirect:
		view = s.gatewayEndpoint(r, sb, port, signed, expires)
	case sb.phase == pending || sb.phase == paused || sb.phase == resuming || sb.phase == failed:
		return nil, fail(http.StatusNotFound, "KUBERNETES::POD_IP_NOT_AVAILABLE", "Pod IP is not yet available. The Pod may still be starting.")
	default:
		view.Endpoint = fmt.Sprintf("%s%s%s/%d", s.host(r), directPrefix, sb.key(), port)
	}
	if sb.secureToken != "" && !signed {
		view.header(secureAccessHeader, sb.secureToken)
	}
	if token := s.egressToken(sb); port == egressPort && token != "" {
		view.header(egressAuthHeader, token)
	}
	return view, nil
}

// egressToken is the token that the endpoint tells; a restored sandbox has its source's label even without a sidecar.
func (s *Service) egressToken(sb *sandbox) string {
	if sb.egress != nil {
		return sb.egress.token
	}
	return sb.labels[labelEgressToken]
}

// key stands for the sandbox's own address in paths. A new pod has a new one, so that an endpoint which was resolved before a pause
// leads nowhere after it.
func (sb *sandbox) key() string {
	if sb.pod.generation == 1 {
		return sb.id
	}
	return fmt.Sprintf("%s.%d", sb.id, sb.pod.generation)
}

func (s *Service) gatewayEndpoint(r *http.Request, sb *sandbox, port int, signed bool, expires int64) *endpointView {
	route := []string{sb.id, strconv.Itoa(port)}
	if signed {
		until := strconv.FormatInt(expires, 36)
		route = append(route, until, s.sign(sb.id, port, until))
	}
	gateway := s.host(r) + strings.TrimSuffix(gatewayPrefix, "/")
	switch s.options.Ingress {
	case IngressHeader:
		return &endpointView{gateway, map[string]string{ingressHeader: strings.Join(route, "-")}}
	case IngressWildcard:
		_, at, _ := strings.Cut(s.host(r), ":")
		return &endpointView{Endpoint: strings.Join(route, "-") + "." + GatewayDomain + ":" + at}
	case IngressDirect, IngressURI:
	}
	return &endpointView{Endpoint: gateway + "/" + strings.Join(route, "/")}
}

// signingKey is the one key of the fake's gateway; its id ends every signature.
const signingKey, signingKeyID = "fake signing key", "a"

// sign makes a route's signature. Source: OSEP-0011: the first 8 hex digits of SHA-256 over the length-prefixed key and the
// length-prefixed canonical text, and the key's id.
func (s *Service) sign(id string, port int, until string) string {
	canonical := fmt.Sprintf("v1\nshort\n%s\n%d\n%s\n", id, port, until)
	var inner []byte
	for _, part := range []string{signingKey, canonical} {
		inner = binary.BigEndian.AppendUint32(inner, uint32(len(part))) //nolint:gosec // two short texts
		inner = append(inner, part...)
	}
	digest := sha256.Sum256(inner)
	return hex.EncodeToString(digest[:])[:8] + signingKeyID
}
