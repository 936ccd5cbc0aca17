package opensandbox

import "time"

// with changes a sandbox from outside the API and reports whether there is such a one.
func (s *Service) with(id string, change func(*sandbox)) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	sb := s.find(id)
	if sb == nil {
		return false
	}
	change(sb)
	return true
}

// Kill removes a sandbox as if someone had removed its container: GET answers 404 from then on.
func (s *Service) Kill(id string) bool { return s.with(id, s.forget) }

// Expire lets a sandbox's time be over.
func (s *Service) Expire(id string) bool { return s.with(id, s.forget) }

// Exit ends a sandbox's container: Terminated for code 0, else Failed. It stays until its expiry or a delete.
func (s *Service) Exit(id string, code int) bool {
	return s.with(id, func(sb *sandbox) {
		to := failed
		if code == 0 {
			to = terminated
		}
		s.enter(sb, change{at: s.clock.Now(), to: to, code: code})
	})
}

// Fail puts a sandbox into state Failed with a message of its own.
func (s *Service) Fail(id, message string) bool {
	return s.with(id, func(sb *sandbox) {
		s.enter(sb, change{at: s.clock.Now(), to: failed, code: 1, message: message})
	})
}

// SetStatus lets GET and list tell a state that the service itself never comes to; an empty one ends that.
func (s *Service) SetStatus(id string, status Status) bool {
	return s.with(id, func(sb *sandbox) {
		sb.odd = &status
		if status == (Status{}) {
			sb.odd = nil
		}
	})
}

// RunOutOfMemory kills execd and nothing else: the sandbox stays Running and answers no command any more (public #1665).
func (s *Service) RunOutOfMemory(id string) bool {
	return s.with(id, func(sb *sandbox) {
		sb.oom = true
		sb.history.note(s.clock.Now(), "Out of memory: Killed process (execd)")
	})
}

// SetMetadata merges metadata as another client's PATCH would; nil deletes a key.
func (s *Service) SetMetadata(id string, patch map[string]*string) bool {
	return s.with(id, func(sb *sandbox) { s.mergeMetadata(sb, patch) })
}

// SetExpiry moves a sandbox's expiry as another client's renewal would; the zero time ends it.
func (s *Service) SetExpiry(id string, at time.Time) bool {
	return s.with(id, func(sb *sandbox) { sb.deadline = at })
}

// SetPolicy replaces the policy of a sandbox's sidecar as another client would.
func (s *Service) SetPolicy(id string, policy NetworkPolicy) bool {
	return s.with(id, func(sb *sandbox) {
		if sb.egress == nil {
			return
		}
		sb.egress.mu.Lock()
		defer sb.egress.mu.Unlock()
		sb.egress.policy = policy
	})
}

// ClosePort lets nothing listen on a port of a sandbox any more; its endpoint is told all the same.
func (s *Service) ClosePort(id string, port int) bool {
	return s.with(id, func(sb *sandbox) { sb.closed[port] = true })
}

// FailPulls lets the next pulls of an image fail; with Kubernetes their pods then never come.
func (s *Service) FailPulls(count int) { s.setBreaks(func(b *breaks) { b.pulls = count }) }

// FailStarts lets the next starts of a container fail (Docker).
func (s *Service) FailStarts(count int) { s.setBreaks(func(b *breaks) { b.starts = count }) }

// FailReadiness lets the pods of the next creates never become ready (Kubernetes): 504 after CreateTimeout.
func (s *Service) FailReadiness(count int) { s.setBreaks(func(b *breaks) { b.readiness = count }) }

func (s *Service) setBreaks(change func(*breaks)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.breaks)
}

// Restart is a restart of the server: sandboxes and snapshots stay. A Docker server forgets renewals, since they could not be
// written to the containers, and goes by their labels again, those that a restored sandbox inherited too.
func (s *Service) Restart() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.options.Kubernetes {
		return
	}
	for _, sb := range s.live() {
		at, err := time.Parse(time.RFC3339Nano, sb.labels[labelExpires])
		if err == nil {
			sb.deadline = at
		} else {
			sb.deadline = time.Time{}
		}
	}
	s.live()
}
