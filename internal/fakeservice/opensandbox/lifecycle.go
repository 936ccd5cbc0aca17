package opensandbox

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// renewExpiration sets a new expiry. It only has to be in the future: it may shorten, and pass the maximum.
func (s *Service) renewExpiration(w http.ResponseWriter, r *http.Request, parameters []string) *failure {
	var c checker
	object := c.bodyModel(r, true)
	var expires time.Time
	if c.ok(0) {
		expires = c.moment(object, "expiresAt")
	}
	if !c.ok(0) {
		c.write(w)
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var past *failure
	if !expires.After(s.clock.Now()) {
		past = fail(http.StatusBadRequest, codeInvalidExpiration, "New expiration time must be in the future.")
	}
	if past != nil && s.options.Kubernetes { // which looks at the time before it looks for the sandbox
		return past
	}
	sb, problem := s.lookUp(parameters[0])
	switch {
	case problem != nil:
		return problem
	case past != nil:
		return past
	case sb.labels[labelManual] == "true" || sb.expires().IsZero():
		return fail(http.StatusConflict, codeInvalidExpiration, "Sandbox %s does not have automatic expiration enabled.", sb.id)
	}
	sb.deadline = expires
	writeJSON(w, http.StatusOK, map[string]timestamp{"expiresAt": timestamp(expires)})
	return nil
}

// moment reads a time as the server's models do: RFC 3339, without a zone too (then UTC), or seconds since 1970.
func (c *checker) moment(object map[string]any, key string) time.Time {
	value, place, found := c.member(object, body, key, true)
	if !found {
		return time.Time{}
	}
	switch v := value.(type) {
	case json.Number:
		if seconds, err := strconv.ParseFloat(v.String(), 64); err == nil {
			return time.UnixMicro(int64(seconds * 1e6)).UTC()
		}
	case string:
		text := strings.Replace(strings.TrimSpace(v), " ", "T", 1)
		for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02T15:04Z07:00", "2006-01-02"} {
			if at, err := time.Parse(layout, text); err == nil {
				return at.UTC().Truncate(time.Microsecond)
			}
		}
		c.add("datetime_from_date_parsing", place, "Input should be a valid datetime or date, invalid character in year", v, map[string]any{"error": "invalid character in year"})
		return time.Time{}
	}
	c.add("datetime_type", place, "Input should be a valid datetime", value, nil)
	return time.Time{}
}

func (s *Service) pauseSandbox(w http.ResponseWriter, _ *http.Request, parameters []string) *failure {
	s.mu.Lock()
	defer s.mu.Unlock()
	sb, problem := s.lookUp(parameters[0])
	if problem == nil && s.options.Kubernetes {
		problem = s.pauseWorkload(sb)
	} else if problem == nil {
		problem = pauseContainer(sb)
	}
	if problem == nil {
		w.WriteHeader(http.StatusAccepted)
	}
	return problem
}

// pauseContainer freezes. A paused container counts as running for the server, so that Docker itself refuses the second pause.
func pauseContainer(sb *sandbox) *failure {
	switch sb.phase {
	case running:
		sb.phase, sb.frozen = paused, make(chan struct{})
		return nil
	case paused:
		return fail(http.StatusInternalServerError, "DOCKER::SANDBOX_PAUSE_FAILED", "Failed to pause sandbox container: 409 Client Error: Conflict (\"container %s is already paused\")", sb.id)
	default:
		return fail(http.StatusConflict, "DOCKER::SANDBOX_NOT_RUNNING", "Sandbox is not in a running state.")
	}
}

// pauseWorkload begins a pause, at whose end the root file system is kept and the pod is gone.
func (s *Service) pauseWorkload(sb *sandbox) *failure {
	switch sb.phase {
	case running, allocated:
		now := s.clock.Now()
		sb.phase = pausing
		sb.coming = nil
		sb.schedule(change{at: now.Add(s.options.PauseDelay), to: paused})
		return nil
	case paused:
		return fail(http.StatusConflict, codeInvalidState, "Sandbox is already paused")
	case pausing, resuming:
		return fail(http.StatusConflict, codeInvalidState, "Cannot pause: operation in progress (phase=%s)", sb.phase)
	case pending:
		return fail(http.StatusConflict, codeInvalidState, "Cannot pause: sandbox is being created (phase=%s)", sb.phase)
	default:
		return fail(http.StatusConflict, codeInvalidState, "Cannot pause: sandbox is not available")
	}
}

func (s *Service) resumeSandbox(w http.ResponseWriter, _ *http.Request, parameters []string) *failure {
	s.mu.Lock()
	defer s.mu.Unlock()
	sb, problem := s.lookUp(parameters[0])
	if problem == nil && s.options.Kubernetes {
		problem = s.resumeWorkload(sb)
	} else if problem == nil {
		problem = resumeContainer(sb)
	}
	if problem != nil {
		return problem
	}
	if sb.egress != nil { // public #1366: rules that were set while it ran are gone, those of the create are back
		sb.egress.reset()
	}
	w.WriteHeader(http.StatusAccepted)
	return nil
}

func resumeContainer(sb *sandbox) *failure {
	if sb.phase != paused {
		return fail(http.StatusConflict, "DOCKER::SANDBOX_NOT_PAUSED", "Sandbox is not in a paused state.")
	}
	sb.phase = running
	sb.thaw()
	return nil
}

// resumeWorkload starts a new pod on the kept root file system: the id stays, processes and memory don't, nor does the address.
func (s *Service) resumeWorkload(sb *sandbox) *failure {
	switch sb.phase {
	case paused:
		sb.phase = resuming
		sb.schedule(change{at: s.clock.Now().Add(s.options.ResumeDelay), to: running})
		return nil
	case pausing, resuming:
		return fail(http.StatusConflict, codeInvalidState, "Cannot resume: operation in progress (phase=%s)", sb.phase)
	case running, allocated:
		return fail(http.StatusConflict, codeInvalidState, "Cannot resume sandbox in phase Succeed, expected Paused")
	case pending:
		return fail(http.StatusConflict, codeInvalidState, "Cannot resume: sandbox is being created (phase=%s)", sb.phase)
	default:
		return fail(http.StatusConflict, codeInvalidState, "Cannot resume: sandbox is not available")
	}
}

// deleteSandbox removes. With Docker the second of two at once is told so by Docker; on Kubernetes the workload lingers.
func (s *Service) deleteSandbox(w http.ResponseWriter, _ *http.Request, parameters []string) *failure {
	s.mu.Lock()
	defer s.mu.Unlock()
	sb, problem := s.lookUp(parameters[0])
	switch {
	case problem != nil:
		return problem
	case s.options.Kubernetes:
		if sb.vanishes.IsZero() {
			sb.vanishes = s.clock.Now().Add(s.options.DeleteDelay)
		}
		s.settle(sb, s.clock.Now())
	case sb.removing:
		return fail(http.StatusInternalServerError, "DOCKER::SANDBOX_DELETE_FAILED", "Failed to delete sandbox container: 409 Client Error: Conflict (\"removal of container sandbox-%s is already in progress\")", sb.id)
	default:
		sb.removing = true
		s.mu.Unlock()
		err := s.wait(s.options.DeleteDelay)
		s.mu.Lock()
		if err != nil {
			return fail(http.StatusInternalServerError, "DOCKER::SANDBOX_DELETE_FAILED", "Failed to delete sandbox container: the server stopped")
		}
		s.forget(sb)
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
