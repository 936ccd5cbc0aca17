package opensandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// egressAuthHeader carries the token that the endpoint of port 18080 tells.
const egressAuthHeader = "OPENSANDBOX-EGRESS-AUTH"

// NetworkPolicy is an egress policy. Its members stand in the sidecar's order.
type NetworkPolicy struct {
	Egress        []NetworkRule `json:"egress"`
	DefaultAction string        `json:"defaultAction"`
}

// NetworkRule allows or denies a domain, an address or a range.
type NetworkRule struct {
	Action string `json:"action"`
	Target string `json:"target"`
}

// networkPolicy reads the policy of a create. Neither the actions nor the targets are checked here: "maybe" passes.
func (c *checker) networkPolicy(object map[string]any) *NetworkPolicy {
	value, place, found := c.member(object, body, "networkPolicy", false)
	if !found {
		return nil
	}
	policy, ok := c.model(value, place)
	if !ok {
		return nil
	}
	result := &NetworkPolicy{Egress: []NetworkRule{}}
	result.DefaultAction, _ = c.text(policy, place, "defaultAction", false)
	rules, given := policy["egress"]
	if !given {
		return result
	}
	items := c.list(rules, at(place, "egress"), 0)
	for i, item := range items {
		place := at(at(place, "egress"), i)
		rule, ok := c.model(item, place)
		if !ok {
			continue
		}
		action, _ := c.text(rule, place, "action", true)
		target, _ := c.text(rule, place, "target", true, minLength(1))
		result.Egress = append(result.Egress, NetworkRule{action, target})
	}
	return result
}

// refused says why the sidecar would not start with the policy, or "".
func (p NetworkPolicy) refused() string {
	if _, err := p.normalised(); err != nil {
		return err.Error()
	}
	return ""
}

// normalised is the policy as the sidecar keeps it: lower case, trimmed, deny where nothing is said. An unknown default action
// passes, an unknown action of a rule doesn't.
func (p NetworkPolicy) normalised() (NetworkPolicy, error) {
	p.DefaultAction = strings.ToLower(strings.TrimSpace(p.DefaultAction))
	if p.DefaultAction == "" {
		p.DefaultAction = "deny"
	}
	p.Egress = slices.Clone(p.Egress)
	for i, rule := range p.Egress {
		rule.Action, rule.Target = strings.ToLower(strings.TrimSpace(rule.Action)), strings.TrimSpace(rule.Target)
		if rule.Action == "" {
			rule.Action = "deny"
		}
		if rule.Action != "allow" && rule.Action != "deny" {
			return p, fmt.Errorf("unsupported action %q", rule.Action)
		}
		if rule.Target == "" {
			return p, errors.New("egress target cannot be empty")
		}
		p.Egress[i] = rule
	}
	return p, nil
}

func (p NetworkPolicy) mode() string {
	switch {
	case len(p.Egress) > 0 || (p.DefaultAction != "allow" && p.DefaultAction != "deny"):
		return "enforcing"
	case p.DefaultAction == "allow":
		return "allow_all"
	}
	return "deny_all"
}

// sidecar is the egress sidecar of one sandbox.
type sidecar struct {
	token, enforcement string
	first              NetworkPolicy // of the create

	mu     sync.Mutex
	policy NetworkPolicy
}

func newSidecar(policy NetworkPolicy, token, enforcement string) *sidecar {
	policy, _ = policy.normalised() // create has refused one that can't be
	return &sidecar{token: token, enforcement: enforcement, first: policy, policy: policy}
}

// reset brings the create's policy back, as a new sidecar would.
func (e *sidecar) reset() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.policy = e.first
}

func (e *sidecar) current() NetworkPolicy {
	e.mu.Lock()
	defer e.mu.Unlock()
	return NetworkPolicy{slices.Clone(e.policy.Egress), e.policy.DefaultAction}
}

type policyStatus struct {
	Status          string         `json:"status,omitempty"`
	Mode            string         `json:"mode,omitempty"`
	EnforcementMode string         `json:"enforcementMode,omitempty"`
	Reason          string         `json:"reason,omitempty"`
	Policy          *NetworkPolicy `json:"policy,omitempty"`
}

// serve answers the sidecar's API. Its errors are plain text.
func (e *sidecar) serve(w http.ResponseWriter, r *http.Request, path string) {
	switch {
	case path == "/healthz":
		writeText(w, http.StatusOK, "ok")
	case path != "/policy":
		http.NotFound(w, r)
	case r.Header.Get(egressAuthHeader) != e.token:
		http.Error(w, "unauthorized", http.StatusUnauthorized)
	default:
		e.servePolicy(w, r)
	}
}

func (e *sidecar) servePolicy(w http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if r.Method == http.MethodGet {
		writeJSON(w, http.StatusOK, policyStatus{"ok", e.policy.mode(), e.enforcement, "", &e.policy})
		return
	}
	raw, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	if err != nil {
		http.Error(w, fmt.Sprintf("failed to read body: %v", err), http.StatusBadRequest)
		return
	}
	answer := policyStatus{Status: "ok", EnforcementMode: e.enforcement}
	var next NetworkPolicy
	switch r.Method {
	case http.MethodPut, http.MethodPost:
		next, answer.Reason, err = replaced(raw)
		if answer.Reason != "" {
			answer.EnforcementMode = ""
		}
	case http.MethodPatch:
		next, err = e.policy.patched(raw)
	case http.MethodDelete:
		next, answer.Reason, err = e.policy.without(raw)
	default:
		w.Header().Set("Allow", "GET, POST, PUT, PATCH, DELETE")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		return
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	e.policy = next
	answer.Mode = next.mode()
	writeJSON(w, http.StatusOK, answer)
}

// replaced reads a whole policy. Without rules its egress is null from then on, not an empty list.
func replaced(raw []byte) (policy NetworkPolicy, reason string, err error) {
	text := strings.TrimSpace(string(raw))
	if text == "" {
		return NetworkPolicy{DefaultAction: "deny"}, "policy reset to default deny-all", nil
	}
	if text == "null" || text == "{}" {
		return NetworkPolicy{DefaultAction: "deny"}, "", nil
	}
	if err := json.Unmarshal([]byte(text), &policy); err != nil {
		return policy, "", fmt.Errorf("invalid policy: %w", err)
	}
	if policy, err = policy.normalised(); err != nil {
		return policy, "", fmt.Errorf("invalid policy: %w", err)
	}
	return policy, "", nil
}

// patched merges rules by their target. The new ones come first, the first of a target counts.
func (p NetworkPolicy) patched(raw []byte) (NetworkPolicy, error) {
	var rules []NetworkRule
	switch err := json.Unmarshal(raw, &rules); {
	case strings.TrimSpace(string(raw)) == "":
		return p, errors.New("empty body")
	case err != nil:
		return p, fmt.Errorf("invalid patch rules: %w", err)
	case len(rules) == 0:
		return p, errors.New("invalid patch rules: empty array")
	}
	seen := map[string]bool{}
	merged := NetworkPolicy{DefaultAction: p.DefaultAction}
	for _, rule := range append(rules, p.Egress...) {
		if key := strings.ToLower(rule.Target); !seen[key] {
			seen[key] = true
			merged.Egress = append(merged.Egress, rule)
		}
	}
	merged, err := merged.normalised()
	if err != nil {
		return p, fmt.Errorf("invalid merged policy: %w", err)
	}
	return merged, nil
}

// without removes rules by their target; a target that no rule has is passed over.
func (p NetworkPolicy) without(raw []byte) (next NetworkPolicy, reason string, err error) {
	var targets []string
	switch err := json.Unmarshal(raw, &targets); {
	case strings.TrimSpace(string(raw)) == "":
		return p, "", errors.New("empty body")
	case err != nil:
		return p, "", fmt.Errorf("invalid delete targets: %w", err)
	case len(targets) == 0:
		return p, "", errors.New("invalid delete targets: empty array")
	}
	next = NetworkPolicy{Egress: []NetworkRule{}, DefaultAction: p.DefaultAction}
	for _, rule := range p.Egress {
		if !slices.ContainsFunc(targets, func(target string) bool { return strings.EqualFold(strings.TrimSpace(target), rule.Target) }) {
			next.Egress = append(next.Egress, rule)
		}
	}
	if len(next.Egress) == len(p.Egress) {
		return p, "no matching targets found", nil
	}
	return next, "", nil
}
