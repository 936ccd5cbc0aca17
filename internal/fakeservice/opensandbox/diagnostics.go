package opensandbox

import (
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// diagnosticsMissing answers the stable Diagnostics API (?scope=), which no server of either generation has yet.
func (s *Service) diagnosticsMissing(r *http.Request) *failure {
	if !s.options.NoDiagnostics && !r.URL.Query().Has("scope") {
		return nil
	}
	return fail(http.StatusNotImplemented, "DIAGNOSTICS_NOT_IMPLEMENTED", "The stable Diagnostics API is not implemented by this OpenSandbox server.")
}

// diagnose looks the sandbox up and writes what text tells of it. deprecated marks the routes that have a stable successor.
func (s *Service) diagnose(w http.ResponseWriter, id string, deprecated bool, text func(*sandbox) string) *failure {
	s.mu.Lock()
	sb, problem := s.lookUp(id)
	var answer string
	if problem == nil {
		answer = text(sb)
	}
	s.mu.Unlock()
	if problem != nil {
		return problem
	}
	if deprecated {
		w.Header().Set("Deprecation", "true")
	}
	writeText(w, http.StatusOK, answer)
	return nil
}

// diagnosticLogs is the end of the log: tail lines, 1 to 10000.
func (s *Service) diagnosticLogs(w http.ResponseWriter, r *http.Request, parameters []string) *failure {
	var c checker
	tail := c.queryWhole(r, "tail", 100, 1, 10000)
	if !c.ok(0) {
		c.write(w)
		return nil
	}
	if problem := s.diagnosticsMissing(r); problem != nil {
		return problem
	}
	since := s.since(r.URL.Query().Get("since"))
	return s.diagnose(w, parameters[0], true, func(sb *sandbox) string { return logText(sb, int(tail), since) })
}

var duration = regexp.MustCompile(`^(\d+)\s*([smhd])$`)

// since reads "10m" and the like; what it can't read counts as ten minutes.
func (s *Service) since(text string) time.Time {
	if text == "" {
		return time.Time{}
	}
	back := 10 * time.Minute
	if parts := duration.FindStringSubmatch(strings.ToLower(strings.TrimSpace(text))); parts != nil {
		count, _ := strconv.Atoi(parts[1]) // digits
		back = time.Duration(count) * map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour}[parts[2]]
	}
	return s.clock.Now().Add(-back)
}

func logText(sb *sandbox, tail int, since time.Time) string {
	var text strings.Builder
	for _, line := range sb.history.lastLines(tail, since) {
		fmt.Fprintf(&text, "%s %s\n", line.at.UTC().Format(time.RFC3339Nano), line.text)
	}
	if text.Len() == 0 {
		return "(no logs)"
	}
	return text.String()
}

// diagnosticEvents tells what happened to the sandbox: limit events, 1 to 500.
func (s *Service) diagnosticEvents(w http.ResponseWriter, r *http.Request, parameters []string) *failure {
	var c checker
	limit := c.queryWhole(r, "limit", 50, 1, 500)
	if !c.ok(0) {
		c.write(w)
		return nil
	}
	if problem := s.diagnosticsMissing(r); problem != nil {
		return problem
	}
	return s.diagnose(w, parameters[0], true, func(sb *sandbox) string { return s.eventText(sb, int(limit)) })
}

func (s *Service) eventText(sb *sandbox, limit int) string {
	status := s.status(sb)
	created := sb.created.UTC().Format(time.RFC3339Nano)
	if s.options.Kubernetes {
		events := []string{
			fmt.Sprintf("[%s] Normal   %-20s %s", created, "Scheduled", "Successfully assigned "+sb.id),
			fmt.Sprintf("[%s] Normal   %-20s %s", created, status.Reason, status.Message),
		}
		return strings.Join(events[:min(limit, len(events))], "\n")
	}
	events := []string{
		fmt.Sprintf("Container:  %s (sandbox-%s)", sb.hostname(), sb.id),
		"Status:     " + strings.ToLower(status.State),
		"Created:    " + created,
	}
	if sb.phase != pending {
		events = append(events, "Started:    "+created)
	}
	if sb.oom {
		events = append(events, "Event:      OOMKilled - container was killed due to out-of-memory")
	}
	if sb.phase == failed {
		events = append(events, fmt.Sprintf("Event:      Exited with code %d", sb.exit))
	}
	if len(events) == 3 {
		events = append(events, "(no notable events)")
	}
	return strings.Join(events, "\n")
}

func (s *Service) diagnosticInspect(w http.ResponseWriter, _ *http.Request, parameters []string) *failure {
	return s.diagnose(w, parameters[0], false, s.inspectText)
}

// inspectText hides the values of what looks like a secret by its name, and of nothing else, as the real server does.
func (s *Service) inspectText(sb *sandbox) string {
	var text strings.Builder
	fmt.Fprintf(&text, "Container ID:   %s\nName:           sandbox-%s\nImage:          %s\nStatus:         %s\n", sb.hostname(), sb.id, sb.image, strings.ToLower(s.status(sb).State))
	fmt.Fprintf(&text, "OOMKilled:      %t\nExit Code:      %d\n\nLabels:\n", sb.oom, sb.exit)
	for _, key := range sortedKeys(sb.labels) {
		fmt.Fprintf(&text, "  %s=%s\n", key, sb.labels[key])
	}
	text.WriteString("\nEnvironment:\n")
	for _, key := range sortedKeys(sb.request.Env) {
		value := sb.request.Env[key]
		for _, word := range []string{"SECRET", "TOKEN", "PASSWORD", "KEY"} {
			if strings.Contains(strings.ToUpper(key), word) {
				value = "***"
			}
		}
		fmt.Fprintf(&text, "  %s=%s\n", key, value)
	}
	return strings.TrimSuffix(text.String(), "\n")
}

func (s *Service) diagnosticSummary(w http.ResponseWriter, r *http.Request, parameters []string) *failure {
	var c checker
	tail := c.queryWhole(r, "tail", 50, 1, 10000)
	limit := c.queryWhole(r, "event_limit", 20, 1, 500)
	if !c.ok(0) {
		c.write(w)
		return nil
	}
	return s.diagnose(w, parameters[0], false, func(sb *sandbox) string {
		rule := strings.Repeat("-", 40)
		parts := []string{"SANDBOX DIAGNOSTICS SUMMARY", "Sandbox ID: " + sb.id}
		for _, part := range [][2]string{
			{"INSPECT", s.inspectText(sb)}, {"EVENTS", s.eventText(sb, int(limit))},
			{fmt.Sprintf("LOGS (last %d lines)", tail), logText(sb, int(tail), time.Time{})},
		} {
			parts = append(parts, "", rule, part[0], rule, part[1])
		}
		return strings.Join(parts, "\n") + "\n"
	})
}
