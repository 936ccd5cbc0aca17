package subject

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/clock"
	fake "github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/gpuvm"
	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/machine"
	"github.com/agentenv/terraform-provider-gpuvm/internal/memorynet"
	"github.com/agentenv/terraform-provider-gpuvm/internal/provider"
	core "github.com/agentenv/terraform-provider-gpuvm/internal/terraformcore"
)

// GPUVMInstance is gpuvm_instance.
var GPUVMInstance = &Type{
	Name:     "gpuvm_instance",
	Provider: provider.GPUVM("test"),
	Start:    startGPUVM,
	Tempers: []string{
		"knows-keys", "holds-answers", "ports-at-once", "vnc-null", "vnc-absent", "foreign-labels", "rewrites-labels", "rewrites-image",
		"appears-late", "ends-late", "boots-slowly",
	},
	Smallest: map[string]any{"image": "client"},
	Values: map[string][]any{
		"image":            {"client", "client", "client", "desktop", "desktop", "registry.example/team/image:1.2", fake.FailBootImage},
		"cpu":              {1, 0.5, 16},
		"memory_mb":        {8192, 1, 65536},
		"disk_gb":          {10, 0.25, 500},
		"ttl_seconds":      {7200, 600, 86400},
		"exposed_ports":    {[]any{}, []any{80}, []any{443, 80}, []any{65535, 1}},
		"labels":           {map[string]any{}, map[string]any{"owner": "ada"}, map[string]any{"owner": "bob", "rack": "7"}, map[string]any{"empty": ""}},
		"priority":         {0, 5, -3},
		"files_wo_version": {1, 2},
		"readiness_command": {
			[]any{"true"}, []any{"sh", "-c", "echo up"},
		},
		"files": {
			map[string]any{},
			map[string]any{"/etc/motd": map[string]any{"content": "hello"}},
			map[string]any{"/etc/motd": map[string]any{"content": ""}, "/opt/a b/ü": map[string]any{"content_base64": "AAEC"}},
			map[string]any{"/root/.netrc": map[string]any{"content_wo": "canary-content-wo-7f3a"}},
		},
		"setup_script":      {"", "true", "echo ready > /tmp/state; cat /tmp/state", "echo no display >&2; exit 3"},
		"teardown_script":   {"", "true", "echo saved", "test -e " + healed},
		"on_create_failure": {"delete", "keep"},
		"network_policy": {
			map[string]any{"default_action": "allow"},
			map[string]any{"default_action": "allow", "egress": []any{map[string]any{"action": "allow", "target": "example.com"}}},
			map[string]any{"default_action": "deny"},
		},
		"timeouts": {
			map[string]any{}, map[string]any{"create": "4m", "delete": "3m"}, map[string]any{"create": "20s"}, map[string]any{"read": "40s"},
		},
	},
	Bundles: []map[string]any{
		{"image": fake.HangBootImage},
		{"image": fake.HangBootImage, "timeouts": map[string]any{"create": "90s"}},
		{"readiness_command": []any{"false"}, "timeouts": map[string]any{"create": "2m"}},
		{"files": map[string]any{"/root/.netrc": map[string]any{"content_wo": "canary-content-wo-7f3a"}}, "files_wo_version": 3},
	},
	Settings: map[string][]any{
		"boot_timeout_seconds":    {60, 600},
		"default_labels":          {map[string]any{}, map[string]any{"owner": "all", "site": "north"}},
		"attribution":             {map[string]any{}, map[string]any{"team": "red", "run": "r1"}},
		"request_timeout_seconds": {5, 30},
		"max_retries":             {0, 1, 4},
		"retry_max_delay_seconds": {0, 30},
		"headers":                 {map[string]any{"X-Gateway": "canary-header-2b9c"}},
	},
	Secret: []map[string]any{{
		"image": "client",
		"files": map[string]any{
			"/a": map[string]any{"content": "canary-content-1c9e55"},
			"/b": map[string]any{"content_base64": "Y2FuYXJ5LWJ5dGVzLWE4MTIzNA=="},
			"/c": map[string]any{"content_wo": "canary-content-wo \"7f3a\"\nof a second canary-line-5dd1e0f2\n"},
		},
		"files_wo_version": 1,
		"setup_script":     "export TOKEN=canary-script-e4b7f1\nexport OTHER=canary-script-2-77aa12\n",
		"teardown_script":  "true",
	}},
	SecretSettings: secretSettings(),
	Disturbances:   []string{"delete", "fail", "relabel", "unlabel", "close-port"},
	Requests: []Request{
		{"POST", "/v1/vms"},
		{"GET", "/v1/vms/*"},
		{"DELETE", "/v1/vms/*"},
		{"POST", "/v1/vms/*/exec"},
		{"PUT", "/v1/vms/*/files"},
	},
	Tells:  []Request{{"POST", "/v1/vms"}, {"GET", "/v1/vms/*"}},
	Needed: []string{"id", "status"},
}

const gpuvmToken = "canary-token-91d4e0"

// deleteDelay is how long the service that "ends-late" tells of what it is deleting.
const deleteDelay = 4 * time.Second

type gpuvmService struct{ *fake.Service }

func startGPUVM(temper map[string]bool) Service {
	o := fake.Options{
		Token: gpuvmToken, Clock: clock.System(), Seed: 1, URL: "http://machines.example", EchoSecrets: true,
		IdempotencyKeys: temper["knows-keys"], LongPoll: temper["holds-answers"], PortsAtOnce: temper["ports-at-once"],
	}
	switch {
	case temper["vnc-null"]:
		o.VNC = fake.VNCNull
	case temper["vnc-absent"]:
		o.VNC = fake.VNCAbsent
	}
	if temper["foreign-labels"] {
		o.ForeignLabels = map[string]string{"region": "north", "owner-of-host": "x"}
	}
	if temper["rewrites-labels"] {
		o.RewriteLabel = func(_, value string) string { return strings.ToUpper(value) }
	}
	if temper["rewrites-image"] {
		o.RewriteImage = func(image string) string { return "sha256:" + strconv.Itoa(len(image)) }
	}
	if temper["appears-late"] {
		o.AppearDelay = 3 * time.Second
	}
	if temper["ends-late"] {
		o.DeleteDelay = deleteDelay
	}
	if temper["boots-slowly"] {
		o.BootDelay = 7 * time.Second
	}
	return &gpuvmService{fake.New(o)}
}

func (s *gpuvmService) Settings() map[string]any {
	return map[string]any{"base_url": memorynet.URL, "api_token": gpuvmToken + "\n"}
}

func (s *gpuvmService) Secrets() []string {
	return []string{gpuvmToken, "canary-header-2b9c", "canary-content-wo-7f3a"}
}

func (s *gpuvmService) Standing() []string {
	var ids []string
	for _, vm := range s.VMs() {
		ids = append(ids, vm.ID)
	}
	return ids
}

func (s *gpuvmService) Make() (string, map[string]any) {
	config := map[string]any{"image": "client", "cpu": 2, "exposed_ports": []any{80}, "labels": map[string]any{"owner": "ada"}}
	body := map[string]any{
		"image": "client", "cpu": 2, "memory_mb": 8192, "disk_gb": 10, "ttl_seconds": 7200, "ports": []int{80}, "labels": map[string]string{"owner": "ada"}, "priority": nil,
	}
	var made struct{ ID string }
	s.ask(http.MethodPost, "/v1/vms", body, &made)
	pass(time.Minute) // it is imported once it runs
	return made.ID, config
}

// ask makes a request that no fault strikes and no log shows.
func (s *gpuvmService) ask(method, path string, body, answer any) {
	encoded, _ := json.Marshal(body) //nolint:errchkjson // literals of this package
	pending := s.Faults().Pending()
	s.Faults().Clear()
	defer s.Faults().Order(pending...)
	r := httptest.NewRequestWithContext(context.Background(), method, path, bytes.NewReader(encoded))
	r.Header.Set("Authorization", "Bearer "+gpuvmToken)
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	answered, _ := io.ReadAll(w.Result().Body) // a recorder's body can be read
	if err := json.Unmarshal(answered, answer); err != nil {
		panic(err)
	}
}

func (s *gpuvmService) Disturb(kind, id string) bool {
	vm, ok := s.VM(id)
	switch {
	case !ok:
		return false
	case kind == "delete":
		return s.Delete(id)
	case kind == "fail":
		return s.Fail(id, "the host lost its GPU")
	case kind == "relabel":
		labels := maps.Clone(vm.Spec.Labels)
		for key := range labels {
			labels[key] = "changed"
		}
		return s.SetLabels(id, labels)
	case kind == "unlabel":
		return s.SetLabels(id, nil)
	case kind == "close-port" && len(vm.Ports) > 0:
		return s.ClosePort(id, slices.Min(slices.Collect(maps.Keys(vm.Ports))))
	}
	return false
}

func (s *gpuvmService) Settle() { pass(deleteDelay) }

// healed is the file whose presence lets every teardown succeed.
const healed = "/healed"

func (s *gpuvmService) Heal() {
	for _, vm := range s.VMs() {
		_ = vm.Machine.WriteFile(healed, machine.File{}) // one that has just gone needs none
	}
}

func (s *gpuvmService) TTL(id string) int64 {
	vm, _ := s.VM(id)
	return vm.Spec.TTLSeconds
}

func (s *gpuvmService) InDoubt(detail, id string) bool {
	vm, ok := s.VM(id)
	if !ok || !strings.Contains(detail, "Check with the VM service whether a machine stands") || !strings.Contains(detail, "Idempotency-Key") {
		return false
	}
	if vm.IdempotencyKey != "" && !strings.Contains(detail, vm.IdempotencyKey) {
		return false
	}
	for key, value := range vm.Spec.Labels {
		if !strings.Contains(detail, key+"="+value) {
			return false
		}
	}
	return true
}

func (s *gpuvmService) Differences(o *core.Object, imported bool) []string {
	vm, ok := s.VM(o.ID())
	if !ok {
		return []string{"it doesn't stand"}
	}
	var found []string
	compare := func(what string, state, machine any) {
		if is, stands := fmt.Sprint(state), fmt.Sprint(machine); is != stands {
			found = append(found, fmt.Sprintf("%s is %s in the state, %s in the machine", what, is, stands))
		}
	}
	compare("status", o.Attribute("status"), vm.Status)
	if !imported {
		compare("image", o.Attribute("image"), vm.Spec.Image)
		compare("cpu", o.Attribute("cpu"), vm.Spec.CPU)
		compare("memory_mb", o.Attribute("memory_mb"), vm.Spec.MemoryMB)
		compare("disk_gb", o.Attribute("disk_gb"), vm.Spec.DiskGB)
		compare("ttl_seconds", o.Attribute("ttl_seconds"), vm.Spec.TTLSeconds)
	}
	ports, _ := o.Attribute("ports").(map[string]any)
	for port := range ports {
		number, _ := strconv.Atoi(port)
		url, open := vm.Ports[number]
		if open {
			compare("ports["+port+"]", ports[port], url)
		} else {
			compare("ports["+port+"]", ports[port], nil)
		}
	}
	if !imported { // a port that isn't told can't be known of
		compare("number of ports", len(ports), len(vm.Spec.Ports))
	}
	return found
}
