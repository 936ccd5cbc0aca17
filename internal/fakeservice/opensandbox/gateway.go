package opensandbox

import (
	"errors"
	"net/http"
	"regexp"
	"strconv"
	"strings"
)

// gatewayRoute is where the ingress gateway is asked to go, with the signature that may stand for the access token.
type gatewayRoute struct {
	id               string
	port             int
	until, signature string
	path             string
}

var (
	base36    = regexp.MustCompile(`^(0|[1-9a-z][0-9a-z]{0,12})$`)
	signature = regexp.MustCompile(`^[0-9a-f]{8}[0-9a-z]$`)
	// routeToken is {id}-{port} with or without -{until}-{signature}; ids hold hyphens themselves.
	routeToken = regexp.MustCompile(`^(.+?)-(\d{1,5})(?:-([0-9a-z]{1,13})-([0-9a-f]{8}[0-9a-z]))?$`)
)

// serveGateway is the ingress gateway of a Kubernetes server.
func (s *Service) serveGateway(w http.ResponseWriter, r *http.Request) {
	refuse := func(status int, message string) { http.Error(w, "OpenSandbox Ingress: "+message, status) }
	route, ok := s.parseRoute(r)
	if !s.options.Kubernetes || !ok {
		refuse(http.StatusBadRequest, "invalid ingress route")
		return
	}
	s.mu.Lock()
	sb := s.find(route.id)
	s.mu.Unlock()
	if sb == nil {
		refuse(http.StatusNotFound, "sandbox not found: "+route.id)
		return
	}
	if status, message := s.gatewayCheck(r, sb, route); status != 0 {
		refuse(status, message)
		return
	}
	if route.signature != "" && sb.secureToken == "" && s.options.Ingress == IngressURI { // what looks signed is part of the path then
		route.path = "/" + route.until + "/" + route.signature + route.path
	}
	inner := r.Clone(r.Context())
	inner.Header.Del(ingressHeader)
	inner.Header.Del(secureAccessHeader)
	sb, in, err := s.visit(inner, route.id, "", route.port)
	switch {
	case errors.Is(err, errNotReady):
		refuse(http.StatusServiceUnavailable, "sandbox not ready: "+route.id)
	case err != nil:
		http.Error(w, "connect: connection refused", http.StatusBadGateway)
	default:
		s.serveInside(w, inner, sb, in, route.port, route.path)
	}
}

// parseRoute reads where to go out of the path, a header or the host's name, as the ingress mode has it.
func (s *Service) parseRoute(r *http.Request) (gatewayRoute, bool) {
	path := strings.TrimPrefix(r.URL.Path, strings.TrimSuffix(gatewayPrefix, "/"))
	if s.options.Ingress == IngressURI {
		return parsePath(strings.TrimPrefix(path, "/"))
	}
	token := r.Header.Get(ingressHeader)
	if s.options.Ingress == IngressWildcard {
		token, _, _ = strings.Cut(r.Host, ".")
		path = r.URL.Path
	}
	parts := routeToken.FindStringSubmatch(token)
	if parts == nil {
		return gatewayRoute{}, false
	}
	port, err := strconv.Atoi(parts[2])
	return gatewayRoute{parts[1], port, parts[3], parts[4], path}, err == nil
}

func parsePath(path string) (gatewayRoute, bool) {
	parts := strings.SplitN(path, "/", 5)
	if len(parts) < 2 || parts[0] == "" {
		return gatewayRoute{}, false
	}
	port, err := strconv.Atoi(parts[1])
	if err != nil {
		return gatewayRoute{}, false
	}
	route := gatewayRoute{id: parts[0], port: port}
	rest := parts[2:]
	if len(rest) >= 2 && base36.MatchString(rest[0]) && signature.MatchString(rest[1]) {
		route.until, route.signature = rest[0], rest[1]
		rest = rest[2:]
	}
	route.path = "/" + strings.Join(rest, "/")
	return route, true
}

// gatewayCheck asks a secured sandbox's visitors for its token, or for a signature of the route; a wrong token isn't saved by a right
// signature. Status 0 lets in. Source: OSEP-0011.
func (s *Service) gatewayCheck(r *http.Request, sb *sandbox, route gatewayRoute) (status int, message string) {
	given := r.Header.Values(secureAccessHeader)
	switch {
	case sb.secureToken == "":
		return 0, ""
	case len(given) > 0 && strings.TrimSpace(given[0]) == sb.secureToken:
		return 0, ""
	case len(given) > 0:
		return http.StatusUnauthorized, "signature: secure access header mismatch"
	case route.signature == "":
		return http.StatusUnauthorized, "signature: signature required for this sandbox"
	case route.signature != s.sign(route.id, route.port, route.until):
		return http.StatusUnauthorized, "signature: unauthorized"
	}
	if until, err := strconv.ParseInt(route.until, 36, 64); err != nil || until <= s.clock.Now().Unix() {
		return http.StatusUnauthorized, "signature: access expired"
	}
	return 0, ""
}
