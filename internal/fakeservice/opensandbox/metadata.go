package opensandbox

import (
	"maps"
	"net/http"
	"strings"
)

// patchMetadata merges metadata. With Docker the container's labels can't be changed, so the result is kept beside them, and the
// next PATCH begins again with the labels: a key of the create that an earlier PATCH deleted comes back.
func (s *Service) patchMetadata(w http.ResponseWriter, r *http.Request, parameters []string) *failure {
	var c checker
	var patch map[string]*string
	if value, ok := c.decodeBody(r); ok && value == nil {
		c.add("missing", body, "Field required", nil, nil)
	} else if ok {
		patch = c.texts(value, body, true)
	}
	if !c.ok(0) {
		c.write(w)
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	sb, problem := s.lookUp(parameters[0])
	if problem != nil {
		return problem
	}
	added := map[string]string{}
	for _, key := range sortedKeys(patch) {
		if strings.HasPrefix(key, reservedPrefix) {
			return fail(http.StatusBadRequest, "INVALID_METADATA_LABEL", "Metadata key '%s' is reserved (opensandbox.io/ prefix).", key)
		}
		if patch[key] != nil {
			added[key] = *patch[key]
		}
	}
	if problem := checkLabels(added); problem != nil {
		return problem
	}
	s.mergeMetadata(sb, patch)
	writeJSON(w, http.StatusOK, s.view(sb))
	return nil
}

func (s *Service) mergeMetadata(sb *sandbox, patch map[string]*string) {
	target := sb.labels
	if !s.options.Kubernetes {
		target = s.visible(sb.labels)
		maps.Copy(target, sb.override)
	}
	for key, value := range patch {
		if value == nil {
			delete(target, key)
		} else {
			target[key] = *value
		}
	}
	if !s.options.Kubernetes {
		sb.override = target
	}
}
