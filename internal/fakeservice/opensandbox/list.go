package opensandbox

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

func (s *Service) getSandbox(w http.ResponseWriter, _ *http.Request, parameters []string) *failure {
	s.mu.Lock()
	sb, problem := s.lookUp(parameters[0])
	if problem != nil {
		s.mu.Unlock()
		return problem
	}
	view := s.view(sb)
	s.mu.Unlock()
	writeJSON(w, http.StatusOK, view)
	return nil
}

// listSandboxes filters by state, whatever its case, and by metadata, newest first. metadata is one parameter of key=value pairs
// that is decoded a second time here, after the query itself was.
func (s *Service) listSandboxes(w http.ResponseWriter, r *http.Request, _ []string) *failure {
	var c checker
	page, size := c.queryPage(r)
	if !c.ok(0) {
		c.write(w)
		return nil
	}
	wanted, problem := parseMetadata(r.URL.Query()["metadata"])
	if problem != nil {
		return problem
	}
	states := r.URL.Query()["state"]

	s.mu.Lock()
	now := s.clock.Now()
	var found []*sandbox
	for _, sb := range slices.Backward(s.live()) {
		if !sb.listed.After(now) && s.matches(sb, states, wanted) {
			found = append(found, sb)
		}
	}
	slices.SortStableFunc(found, func(a, b *sandbox) int { return b.created.Compare(a.created) })
	cut, pagination := paginate(found, page, size)
	items := make([]sandboxView, 0, len(cut))
	for _, sb := range cut {
		items = append(items, s.view(sb))
	}
	s.mu.Unlock()
	writeJSON(w, http.StatusOK, struct {
		Items      []sandboxView `json:"items"`
		Pagination pageView      `json:"pagination"`
	}{items, pagination})
	return nil
}

func (s *Service) matches(sb *sandbox, states []string, wanted map[string]string) bool {
	state := s.status(sb).State
	if len(states) > 0 && !slices.ContainsFunc(states, func(want string) bool { return strings.EqualFold(want, state) }) {
		return false
	}
	for key, value := range wanted {
		if has, ok := s.metadataValue(sb, key); !ok || has != value {
			return false
		}
	}
	return true
}

func parseMetadata(parameters []string) (map[string]string, *failure) {
	if len(parameters) == 0 || parameters[len(parameters)-1] == "" {
		return nil, nil
	}
	wanted := map[string]string{}
	for _, pair := range strings.Split(parameters[len(parameters)-1], "&") {
		key, value, ok := strings.Cut(pair, "=")
		if !ok {
			return nil, fail(http.StatusBadRequest, "INVALID_METADATA_FORMAT", "Invalid metadata format: bad query field: %s", quoted(pair))
		}
		wanted[unescape(key)] = unescape(value)
	}
	return wanted, nil
}

// unescape decodes what can be decoded and keeps the rest, as the server's library does.
func unescape(text string) string {
	if plain, err := url.QueryUnescape(text); err == nil {
		return plain
	}
	return strings.ReplaceAll(text, "+", " ")
}
