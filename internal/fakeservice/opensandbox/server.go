package opensandbox

import (
	"fmt"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// apiKeyHeader carries the key of the lifecycle API.
const apiKeyHeader = "OPEN-SANDBOX-API-KEY"

// route is one of the server's routes. Its path holds "*" for a parameter and may end in "..." for a rest of any length.
type route struct {
	method, path string
	handle       func(w http.ResponseWriter, r *http.Request, parameters []string) *failure
}

func (s *Service) routes() []route {
	routes := []route{
		{"GET", "health", s.health},
		{"POST", "sandboxes", s.createSandbox},
		{"GET", "sandboxes", s.listSandboxes},
		{"GET", "sandboxes/*", s.getSandbox},
		{"PATCH", "sandboxes/*/metadata", s.patchMetadata},
		{"DELETE", "sandboxes/*", s.deleteSandbox},
		{"POST", "sandboxes/*/pause", s.pauseSandbox},
		{"POST", "sandboxes/*/resume", s.resumeSandbox},
		{"POST", "sandboxes/*/renew-expiration", s.renewExpiration},
		{"POST", "sandboxes/*/snapshots", s.createSnapshot},
		{"GET", "snapshots", s.listSnapshots},
		{"GET", "snapshots/*", s.getSnapshot},
		{"DELETE", "snapshots/*", s.deleteSnapshot},
		{"GET", "sandboxes/*/endpoints/*", s.getEndpoint},
		{"GET", "sandboxes/*/diagnostics/logs", s.diagnosticLogs},
		{"GET", "sandboxes/*/diagnostics/events", s.diagnosticEvents},
		{"GET", "sandboxes/*/diagnostics/inspect", s.diagnosticInspect},
		{"GET", "sandboxes/*/diagnostics/summary", s.diagnosticSummary},
		{"POST", "pools", s.createPool},
		{"GET", "pools", s.listPools},
		{"GET", "pools/*", s.getPool},
		{"PUT", "pools/*", s.updatePool},
		{"DELETE", "pools/*", s.deletePool},
	}
	for _, method := range []string{"GET", "POST", "PUT", "DELETE", "PATCH"} {
		routes = append(routes, route{method, "sandboxes/*/proxy/*/...", s.serveProxied})
	}
	return routes
}

// match splits a request's path by a route's; the rest of "..." is the last parameter.
func (r route) match(steps []string) (parameters []string, ok bool) {
	pattern := strings.Split(r.path, "/")
	for i, step := range pattern {
		switch {
		case step == "...":
			return append(parameters, strings.Join(steps[min(i, len(steps)):], "/")), true
		case i >= len(steps):
			return nil, false
		case step == "*" && steps[i] != "":
			parameters = append(parameters, steps[i])
		case step != steps[i]:
			return nil, false
		}
	}
	return parameters, len(steps) == len(pattern)
}

// serveServer is the server: request id first, then its limits, authentication, and only then whether there is such a route.
func (s *Service) serveServer(w http.ResponseWriter, r *http.Request) {
	id := strings.TrimSpace(r.Header.Get("X-Request-ID"))
	if id == "" {
		id = s.ids.hex32()
	}
	w.Header().Set("X-Request-ID", id)
	leave, problem := s.admit()
	if problem != nil {
		problem.write(w)
		return
	}
	if leave == nil { // uvicorn's own answer, which is no JSON
		writeText(w, http.StatusServiceUnavailable, "Service Unavailable")
		return
	}
	defer leave()
	s.loop.pass() // a Docker create holds up every other request
	if problem := s.authenticate(r); problem != nil {
		problem.write(w)
		return
	}
	s.route(w, r)
}

func (s *Service) route(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimPrefix(r.URL.Path, "/")
	if rest, versioned := strings.CutPrefix(path, "v1/"); versioned && rest != "health" {
		path = rest
	}
	steps := strings.Split(path, "/")
	var allowed []string
	for _, route := range s.table {
		parameters, ok := route.match(steps)
		if !ok {
			continue
		}
		if route.method != r.Method {
			allowed = append(allowed, route.method)
			continue
		}
		if problem := route.handle(w, r, parameters); problem != nil {
			problem.write(w)
		}
		return
	}
	switch {
	case len(allowed) > 0:
		w.Header().Set("Allow", strings.Join(slices.Compact(allowed), ", "))
		writeDetail(w, http.StatusMethodNotAllowed, "Method Not Allowed")
	case s.slashIsMissingOrTooMuch(path):
		s.redirectSlash(w, r)
	default:
		writeDetail(w, http.StatusNotFound, "Not Found")
	}
}

// slashIsMissingOrTooMuch reports whether the path would be a route with its last slash added or left out.
func (s *Service) slashIsMissingOrTooMuch(path string) bool {
	other, trailing := strings.CutSuffix(path, "/")
	if !trailing || other == "" {
		return false
	}
	steps := strings.Split(other, "/")
	return slices.ContainsFunc(s.table, func(r route) bool { _, ok := r.match(steps); return ok })
}

func (s *Service) redirectSlash(w http.ResponseWriter, r *http.Request) {
	target := *r.URL
	target.Scheme, target.Host = "http", r.Host
	target.Path, target.RawPath = strings.TrimSuffix(target.Path, "/"), ""
	w.Header().Set("Location", target.String())
	w.WriteHeader(http.StatusTemporaryRedirect)
}

// proxyPath is the one route that the mirror leaves open, since the sandbox has to protect itself.
var proxyPath = regexp.MustCompile(`^(/v1)?/sandboxes/[^/]+/proxy/\d+(/|$)`)

func (s *Service) authenticate(r *http.Request) *failure {
	path := r.URL.Path
	exempt := strings.HasPrefix(path, "/health") || strings.HasPrefix(path, "/docs") || strings.HasPrefix(path, "/redoc") || strings.HasPrefix(path, "/openapi.json")
	proxied := !s.options.ProxyAuth && !strings.Contains(path, "..") && proxyPath.MatchString(path)
	if exempt || proxied || strings.TrimSpace(s.options.APIKey) == "" {
		return nil
	}
	switch r.Header.Get(apiKeyHeader) {
	case s.options.APIKey:
		return nil
	case "":
		return fail(http.StatusUnauthorized, "MISSING_API_KEY", "Authentication credentials are missing. Provide API key via %s header.", apiKeyHeader)
	}
	return fail(http.StatusUnauthorized, "INVALID_API_KEY", "Authentication credentials are invalid. Check your API key and try again.")
}

// window counts the requests of the current RateWindow.
type window struct {
	start time.Time
	count int
}

// admit counts a request in; leave counts it out and is nil when there are too many at once.
func (s *Service) admit() (leave func(), problem *failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if limit := s.options.RateLimit; limit > 0 {
		now := s.clock.Now()
		if now.Sub(s.window.start) >= s.options.RateWindow {
			s.window = window{start: now}
		}
		if s.window.count++; s.window.count > limit {
			left := s.window.start.Add(s.options.RateWindow).Sub(now)
			problem = fail(http.StatusTooManyRequests, "RATE_LIMITED", "Too many requests: %d in %s are served.", limit, s.options.RateWindow)
			problem.retryAfter = strconv.Itoa(int(math.Ceil(left.Seconds())))
			return nil, problem
		}
	}
	if limit := s.options.MaxConcurrent; limit > 0 && s.inFlight >= limit {
		return nil, nil
	}
	s.inFlight++
	return func() {
		s.mu.Lock()
		s.inFlight--
		s.mu.Unlock()
	}, nil
}

func (s *Service) health(w http.ResponseWriter, _ *http.Request, _ []string) *failure {
	writeJSON(w, http.StatusOK, map[string]string{"status": "healthy"})
	return nil
}

// portOf reads a port out of a path. What is no number is a 422; whether it is a port is the handler's question.
func portOf(w http.ResponseWriter, text string) (int, bool) {
	port, err := strconv.Atoi(text)
	if err == nil {
		return port, true
	}
	if _, err := strconv.ParseFloat(text, 64); err == nil && !strings.ContainsAny(text, ".eE") {
		return math.MaxInt32, true // a number, though one that no int holds
	}
	var c checker
	c.add("int_parsing", []any{"path", "port"}, "Input should be a valid integer, unable to parse string as an integer", text, nil)
	c.write(w)
	return 0, false
}

// queryWhole reads a whole number of the query; the last one counts when there are several.
func (c *checker) queryWhole(r *http.Request, name string, otherwise, low, high int64) int64 {
	values := r.URL.Query()[name]
	if len(values) == 0 {
		return otherwise
	}
	text := values[len(values)-1]
	place := []any{"query", name}
	n, ok := c.parseWhole(text, place)
	if !ok || !c.within(n, place, text, low, high) {
		return otherwise
	}
	return n
}

func (c *checker) queryTruth(r *http.Request, name string) bool {
	values := r.URL.Query()[name]
	if len(values) == 0 {
		return false
	}
	value, ok := parseTruth(values[len(values)-1])
	if !ok {
		c.add("bool_parsing", []any{"query", name}, "Input should be a valid boolean, unable to interpret input", values[len(values)-1], nil)
	}
	return value
}

// pageView is the pagination of list answers.
type pageView struct {
	Page        int64 `json:"page"`
	PageSize    int64 `json:"pageSize"`
	TotalItems  int   `json:"totalItems"`
	TotalPages  int64 `json:"totalPages"`
	HasNextPage bool  `json:"hasNextPage"`
}

// queryPage reads page and pageSize, which is 200 at most: the specification names no limit.
func (c *checker) queryPage(r *http.Request) (page, size int64) {
	return c.queryWhole(r, "page", 1, 1, unbounded), c.queryWhole(r, "pageSize", 20, 1, 200)
}

// paginate cuts a page out of what was found; past the end it is empty.
func paginate[T any](items []T, page, size int64) ([]T, pageView) {
	total := int64(len(items))
	pages := (total + size - 1) / size
	view := pageView{page, size, len(items), pages, page < pages}
	if page > pages {
		return []T{}, view
	}
	start := (page - 1) * size
	return items[start:min(start+size, total)], view
}

func quoted(text string) string { return fmt.Sprintf("'%s'", text) }
