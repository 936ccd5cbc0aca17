package subject

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/clock"
	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/machine"
	fake "github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/opensandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/memorynet"
	"github.com/agentenv/terraform-provider-gpuvm/internal/provider"
	core "github.com/agentenv/terraform-provider-gpuvm/internal/terraformcore"
)

// OpenSandboxSandbox is opensandbox_sandbox.
var OpenSandboxSandbox = &Type{
	Name:     "opensandbox_sandbox",
	Provider: provider.OpenSandbox("test"),
	Start:    startOpenSandbox,
	Tempers: []string{
		"kubernetes", "newer", "answers-at-once", "labels-of-images", "lists-late", "pulls-slowly", "agent-comes-late", "ends-late", "pauses-slowly",
		"no-diagnostics", "proxy-wants-key",
	},
	Smallest: map[string]any{"image": "busybox"},
	Values: map[string][]any{
		"image":             {"busybox", "busybox", "ubuntu:24.04", "registry.example/team/agent", "no-such-image"},
		"snapshot_id":       {nil},
		"pool_ref":          {nil},
		"image_auth":        {map[string]any{"username": "ada", "password_wo": "canary-password-wo-4d11"}},
		"image_pull_policy": {"Always", "IfNotPresent", "Never"},
		"entrypoint":        {[]any{"tail", "-f", "/dev/null"}, []any{"sleep", "infinity"}, []any{"no-such-program"}, []any{"sh", "-c", "exit 0"}},
		"env":               {map[string]any{}, map[string]any{"MODE": "batch"}, map[string]any{"MODE": "", "Z": "a b"}},
		"env_wo":            {map[string]any{"API_KEY": "canary-env-wo-c0de"}},
		"env_wo_version":    {1, 2},
		"files_wo_version":  {1, 2},
		"metadata": {
			map[string]any{}, map[string]any{"team": "red"}, map[string]any{"team": "blue", "note": "a b/c"}, map[string]any{"example.com/empty": ""},
		},
		"platform":              {map[string]any{"os": "linux", "arch": "amd64"}},
		"credential_proxy":      {false},
		"secure_access":         {false},
		"extensions":            {map[string]any{}, map[string]any{"access.renew.extend.seconds": "600"}},
		"ttl_seconds":           {3600, 600, 86400, nil},
		"renew_below_seconds":   {300, 60},
		"exposed_ports":         {[]any{}, []any{8080}, []any{8080, 9000}, []any{1}},
		"vnc_port":              {6080, 8080},
		"skip_health_check":     {false, true},
		"ready_timeout_seconds": {60, 5},
		"paused":                {false, true, nil},
		"files": {
			map[string]any{},
			map[string]any{"/etc/motd": map[string]any{"content": "hello"}},
			map[string]any{"/etc/motd": map[string]any{"content": "", "mode": "644"}, "/opt/a b/ü": map[string]any{"content_base64": "AAEC", "owner": "root", "group": "root"}},
			map[string]any{"/root/.netrc": map[string]any{"content_wo": "canary-content-wo-7f3a"}},
		},
		"setup_script":      {"", "true", "echo ready > /tmp/state; cat /tmp/state", "echo no display >&2; exit 3"},
		"teardown_script":   {"", "true", "echo saved", "test -e " + healed},
		"on_create_failure": {"delete", "keep"},
		"resources": {
			map[string]any{"cpu": 1, "memory_mib": 512}, map[string]any{"cpu": 0.5, "memory_mib": 2048, "disk_gib": 4}, map[string]any{"cpu": 2, "memory_mib": 64, "extended": map[string]any{"hugepages-2Mi": "4Mi"}},
		},
		"resource_requests": {map[string]any{"cpu": 0.25, "memory_mib": 64}},
		"volume": {
			[]any{},
			[]any{map[string]any{"name": "cache", "mount_path": "/cache", "pvc": map[string]any{"claim_name": "cache"}}},
			[]any{map[string]any{"name": "data", "mount_path": "/data", "read_only": true, "host": map[string]any{"path": "/srv/data"}}},
			[]any{map[string]any{"name": "bucket", "mount_path": "/bucket", "ossfs": map[string]any{
				"bucket": "models", "endpoint": "oss.example", "access_key_id": "id", "access_key_secret_wo": "canary-key-secret-wo-88aa",
			}}},
		},
		"network_policy": {
			map[string]any{"default_action": "allow"},
			map[string]any{"default_action": "deny", "egress": []any{map[string]any{"action": "allow", "target": "example.com"}}},
			map[string]any{"default_action": "deny", "egress": []any{
				map[string]any{"action": "allow", "target": "pypi.org"}, map[string]any{"action": "deny", "target": "*.org"},
			}},
		},
		"pre_start": {map[string]any{"command": []any{"true"}}, map[string]any{"command": []any{"echo", "a"}, "timeout_seconds": 10}},
		"periodic":  {[]any{map[string]any{"name": "tick", "schedule": "*/5 * * * *", "command": []any{"true"}}}, []any{}},
		"timeouts": {
			map[string]any{}, map[string]any{"create": "4m", "delete": "3m", "update": "2m"}, map[string]any{"create": "20s"}, map[string]any{"read": "40s"},
		},
	},
	Requires: map[string]map[string]any{"renew_below_seconds": {"ttl_seconds": 3600}},
	Bundles: []map[string]any{
		{"image": nil, "pool_ref": warmPool, "network_policy": nil, "platform": nil, "volume": nil, "pre_start": nil, "periodic": nil, "image_pull_policy": nil},
		{"image": nil, "pool_ref": "no-such-pool"},
		{"ttl_seconds": 3600, "renew_below_seconds": 3500},
		{"env_wo": map[string]any{"API_KEY": "canary-env-wo-c0de"}, "env_wo_version": 3},
		{"network_policy": map[string]any{"default_action": "deny"}, "paused": true},
	},
	Settings: map[string][]any{
		"use_server_proxy":        {true},
		"default_metadata":        {map[string]any{}, map[string]any{"team": "all", "site": "north"}},
		"attribution":             {map[string]any{}, map[string]any{"team": "red", "run": "r1", "key_prefix": ""}},
		"request_timeout_seconds": {5, 30},
		"max_retries":             {0, 1, 4},
		"retry_max_delay_seconds": {0, 30},
		"headers":                 {map[string]any{"X-Gateway": "canary-header-2b9c"}},
		"create":                  {map[string]any{"retries": 0}, map[string]any{"retries": 3, "retry_delay_seconds": 1}, map[string]any{"request_timeout_seconds": 60}},
		"probe":                   {map[string]any{"command": ""}, map[string]any{"stable_count": 2, "stable_delay_seconds": 1}, map[string]any{"deadline_seconds": 20}},
		"operations":              {map[string]any{"retries": 0}, map[string]any{"command_retries": 1, "close_timeout_seconds": 10}},
	},
	Secret: []map[string]any{{
		"image":      "busybox",
		"image_auth": map[string]any{"username": "ada", "password_wo": "canary-password-wo-4d11"},
		"env_wo":     map[string]any{"API_KEY": "canary-env-wo-c0de", "PEM": "canary-env \"first\"\ncanary-env-second-line-66\n"}, "env_wo_version": 1,
		"files": map[string]any{
			"/a": map[string]any{"content": "canary-content-1c9e55"},
			"/b": map[string]any{"content_base64": "Y2FuYXJ5LWJ5dGVzLWE4MTIzNA=="},
			"/c": map[string]any{"content_wo": "canary-content-wo \"7f3a\"\nof a second canary-line-5dd1e0f2\n"},
		},
		"files_wo_version": 1,
		"setup_script":     "export TOKEN=canary-script-e4b7f1\nexport OTHER=canary-script-2-77aa12\n",
		"volume": []any{map[string]any{"name": "bucket", "mount_path": "/bucket", "ossfs": map[string]any{
			"bucket": "models", "endpoint": "oss.example", "access_key_id": "id", "access_key_secret_wo": "canary-key-secret-wo-88aa",
		}}},
	}},
	SecretSettings: secretSettings(),
	Disturbances:   []string{"delete", "fail", "exit", "relabel", "unlabel", "renew", "policy", "pause", "resume", "out-of-memory"},
	Requests: []Request{
		{"POST", "/v1/sandboxes"},
		{"GET", "/v1/sandboxes"},
		{"GET", "/v1/sandboxes/*"},
		{"DELETE", "/v1/sandboxes/*"},
		{"PATCH", "/v1/sandboxes/*/metadata"},
		{"POST", "/v1/sandboxes/*/renew-expiration"},
		{"POST", "/v1/sandboxes/*/pause"},
		{"POST", "/v1/sandboxes/*/resume"},
		{"GET", "/v1/sandboxes/*/endpoints/*"},
		{"GET", "/direct/"},
		{"POST", "/direct/"},
		{"PUT", "/direct/"},
		{"", "/sandboxes/"},
	},
	Passing: []string{"expires_at"}, // with renew_below_seconds
	Tells:   []Request{{"POST", "/v1/sandboxes"}, {"GET", "/v1/sandboxes/*"}},
	Needed:  []string{"id", "status", "state"},
}

const (
	openSandboxKey = "canary-api-key-5e77"
	warmPool       = "warm" // of a server that has pools
)

type openSandboxService struct {
	*fake.Service
	kubernetes bool
	deaf       map[string]bool // sandboxes whose agent has died: no teardown can run there any more
}

func startOpenSandbox(temper map[string]bool) Service {
	o := fake.Options{
		APIKey: openSandboxKey, Clock: clock.System(), Seed: 1,
		Kubernetes: temper["kubernetes"], Newer: temper["newer"], Async: temper["answers-at-once"], NoDiagnostics: temper["no-diagnostics"], ProxyAuth: temper["proxy-wants-key"],
	}
	if temper["labels-of-images"] {
		o.Images = map[string]fake.Image{"busybox": {FirstTag: "busybox:stable", Labels: map[string]string{"maintainer": "somebody", "team": "image"}}}
	}
	delay := func(name string, into *time.Duration, d time.Duration) {
		if temper[name] {
			*into = d
		}
	}
	delay("lists-late", &o.ListLag, 3*time.Second)
	delay("pulls-slowly", &o.PullDelay, 40*time.Second)
	delay("agent-comes-late", &o.ExecdDelay, 4*time.Second)
	delay("ends-late", &o.DeleteDelay, deleteDelay)
	delay("pauses-slowly", &o.PauseDelay, 3*time.Second)
	delay("pauses-slowly", &o.ResumeDelay, 3*time.Second)
	s := &openSandboxService{fake.New(o), temper["kubernetes"], map[string]bool{}}
	if s.kubernetes {
		s.AddPool(warmPool, fake.Capacity{BufferMin: 1, BufferMax: 2, PoolMin: 1, PoolMax: 50}, true)
	}
	return s
}

func (s *openSandboxService) Settings() map[string]any {
	return map[string]any{"domain": memorynet.URL, "api_key": openSandboxKey + "\n"}
}

func (s *openSandboxService) Secrets() []string {
	return []string{
		openSandboxKey, "canary-header-2b9c", "canary-content-wo-7f3a", "canary-env-wo-c0de", "canary-password-wo-4d11", "canary-key-secret-wo-88aa",
	}
}

func (s *openSandboxService) Standing() []string {
	var ids []string
	for _, sandbox := range s.Sandboxes() {
		ids = append(ids, sandbox.ID)
	}
	return ids
}

func (s *openSandboxService) Make() (string, map[string]any) {
	config := map[string]any{"image": "busybox", "ttl_seconds": 3600, "metadata": map[string]any{"team": "red"}}
	var made struct{ ID string }
	s.ask(http.MethodPost, "/v1/sandboxes", map[string]any{
		"image": map[string]any{"uri": "busybox"}, "entrypoint": []string{"tail", "-f", "/dev/null"}, "timeout": 3600,
		"resourceLimits": map[string]string{"cpu": "1", "memory": "2Gi"}, "metadata": map[string]string{"team": "red"},
	}, &made)
	pass(time.Minute) // it is imported once it runs
	return made.ID, config
}

// pass lets time pass, by the bubble's clock.
func pass(d time.Duration) { _ = clock.System().Sleep(context.Background(), d) }

// ask makes a request that no fault strikes.
func (s *openSandboxService) ask(method, path string, body, answer any) {
	encoded, _ := json.Marshal(body) //nolint:errchkjson // literals of this package
	pending := s.Faults().Pending()
	s.Faults().Clear()
	defer s.Faults().Order(pending...)
	r := httptest.NewRequestWithContext(context.Background(), method, path, bytes.NewReader(encoded))
	r.Header.Set("OPEN-SANDBOX-API-KEY", openSandboxKey)
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	answered, _ := io.ReadAll(w.Result().Body) // a recorder's body can be read
	if answer == nil {
		return
	}
	if err := json.Unmarshal(answered, answer); err != nil {
		panic(err)
	}
}

func (s *openSandboxService) Disturb(kind, id string) bool {
	sandbox, ok := s.Sandbox(id)
	if !ok {
		return false
	}
	changed := "changed"
	switch kind {
	case "delete":
		return s.Kill(id)
	case "fail":
		return s.Fail(id, "the node is gone")
	case "exit":
		return s.Exit(id, 0)
	case "relabel":
		return s.SetMetadata(id, map[string]*string{"team": &changed, "foreign": &changed})
	case "unlabel":
		return s.SetMetadata(id, map[string]*string{"team": nil})
	case "renew":
		if sandbox.Expires.IsZero() {
			return false
		}
		return s.SetExpiry(id, sandbox.Expires.Add(10*time.Minute).Truncate(time.Second))
	case "policy":
		return s.SetPolicy(id, fake.NetworkPolicy{DefaultAction: "allow"})
	case "pause", "resume":
		s.ask(http.MethodPost, "/v1/sandboxes/"+id+"/"+kind, nil, nil)
		return true
	case "out-of-memory":
		s.deaf[id] = true
		return s.RunOutOfMemory(id)
	}
	return false
}

func (s *openSandboxService) Settle() { pass(deleteDelay) }

func (s *openSandboxService) Heal() {
	for _, sandbox := range s.Sandboxes() {
		if s.deaf[sandbox.ID] {
			s.Kill(sandbox.ID)
		} else if inside := s.Machine(sandbox.ID); inside != nil {
			_ = inside.WriteFile(healed, machine.File{}) // one that has just gone needs none
		}
	}
}

func (s *openSandboxService) TTL(id string) int64 {
	sandbox, ok := s.Sandbox(id)
	if !ok || sandbox.Expires.IsZero() {
		return 0
	}
	return int64(time.Until(sandbox.Expires).Seconds()) + 1
}

func (s *openSandboxService) InDoubt(detail, id string) bool {
	sandbox, _ := s.Sandbox(id)
	key := sandbox.Request.Metadata["agentenv.dev/create-id"]
	return key != "" && strings.Contains(detail, "agentenv.dev/create-id = "+key)
}

func (s *openSandboxService) Differences(o *core.Object, imported bool) []string {
	sandbox, ok := s.Sandbox(o.ID())
	if !ok {
		return []string{"it doesn't stand"}
	}
	var found []string
	compare := func(what string, state, live any) {
		if is, stands := fmt.Sprint(state), fmt.Sprint(live); is != stands {
			found = append(found, fmt.Sprintf("%s is %s in the state, %s at the server", what, is, stands))
		}
	}
	if paused, managed := o.Attribute("paused").(bool); managed {
		compare("paused", paused, sandbox.Status.State == "Paused")
	}
	if !imported && sandbox.Request.Image != nil {
		compare("image", o.Attribute("image"), sandbox.Request.Image.URI)
	}
	metadata, _ := o.Attribute("effective_metadata").(map[string]any)
	for key, value := range metadata {
		compare("metadata "+key, value, sandbox.Metadata[key])
	}
	if !sandbox.Expires.IsZero() {
		compare("expires_at", o.Attribute("expires_at"), sandbox.Expires.UTC().Format(time.RFC3339))
	} else {
		compare("expires_at", o.Attribute("expires_at"), nil)
	}
	if policy, given := o.Attribute("network_policy").(map[string]any); given && sandbox.Policy != nil && sandbox.Status.State == "Running" {
		compare("network_policy", policy["default_action"], sandbox.Policy.DefaultAction)
		rules, _ := policy["egress"].([]any)
		compare("number of egress rules", len(rules), len(sandbox.Policy.Egress))
	}
	return found
}
