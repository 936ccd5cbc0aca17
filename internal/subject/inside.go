package subject

import (
	"fmt"
	"strings"

	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/machine"
	"github.com/agentenv/terraform-provider-gpuvm/internal/provider"
	core "github.com/agentenv/terraform-provider-gpuvm/internal/terraformcore"
)

// The machines that files and executions are for: services with the same seed give the same ids.
var (
	parentVM      = startInVM(nil).(*inside).parent      //nolint:forcetypeassert // made a line before
	parentSandbox = startInSandbox(nil).(*inside).parent //nolint:forcetypeassert // likewise
	fileValues    = map[string][]any{"content_base64": {nil}, "content_wo": {nil}, "source": {nil}}
	fileContents  = []any{"hello", "hello\nworld", ""}
	fileBundles   = []map[string]any{
		{"content": nil, "content_base64": "AAEC"},
		{"content": nil, "content_wo": "canary-content-wo-7f3a", "content_wo_version": 1},
		{"content": nil, "content_wo": "canary-content-wo-7f3a", "content_wo_version": 2},
	}
	execBundles = []map[string]any{
		{"argv": nil, "script": "echo hello; echo again >&2"},
		{"argv": nil, "script": "exit 3"},
		{"argv": []any{"false"}, "expected_exit_codes": []any{1}},
		{"argv": []any{"true"}, "timeouts": map[string]any{"create": "30s"}},
	}
)

// GPUVMFile is gpuvm_file.
var GPUVMFile = &Type{
	Name: "gpuvm_file", Provider: provider.GPUVM("test"), Inside: true, Start: startInVM, Tempers: []string{"knows-keys"},
	Smallest: map[string]any{"instance_id": parentVM, "path": "/etc/motd", "content": "hello"},
	Values: with(fileValues, map[string][]any{
		"instance_id": {parentVM}, "path": {"/etc/motd", "/opt/a b/ü"}, "content": fileContents,
	}),
	Bundles: fileBundles, Settings: GPUVMInstance.Settings,
	Disturbances: []string{"rewrite"},
	Requests:     []Request{{"PUT", "/v1/vms/*/files"}, {"GET", "/v1/vms/*"}},
	Tells:        []Request{{"GET", "/v1/vms/*"}}, Needed: GPUVMInstance.Needed,
	Secret:         fileSecrets(map[string]any{"instance_id": parentVM}),
	SecretSettings: secretSettings(),
}

// GPUVMExec is gpuvm_exec.
var GPUVMExec = &Type{
	Name: "gpuvm_exec", Provider: provider.GPUVM("test"), Inside: true, Start: startInVM, Tempers: []string{"knows-keys"},
	Smallest: map[string]any{"instance_id": parentVM, "argv": []any{"true"}},
	Values: map[string][]any{
		"instance_id": {parentVM}, "argv": {[]any{"true"}, []any{"echo", "a b"}, []any{"false"}}, "script": {nil},
		"triggers": {map[string]any{}, map[string]any{"a": "1"}, map[string]any{"a": "2"}}, "expected_exit_codes": {[]any{0}, []any{0, 1}},
		"timeouts": {map[string]any{}, map[string]any{"create": "30s"}},
	},
	Bundles: execBundles, Settings: GPUVMInstance.Settings,
	Disturbances: []string{"rewrite"},
	Requests:     []Request{{"POST", "/v1/vms/*/exec"}, {"GET", "/v1/vms/*"}},
	Tells:        []Request{{"GET", "/v1/vms/*"}}, Needed: GPUVMInstance.Needed,
	Secret:         []map[string]any{{"instance_id": parentVM, "argv": []any{"true"}}},
	SecretSettings: secretSettings(),
}

// OpenSandboxFile is opensandbox_file.
var OpenSandboxFile = &Type{
	Name: "opensandbox_file", Provider: provider.OpenSandbox("test"), Inside: true, Start: startInSandbox, Tempers: []string{"proxy-wants-key", "no-diagnostics"},
	Smallest: map[string]any{"sandbox_id": parentSandbox, "path": "/etc/motd", "content": "hello"},
	Values: with(fileValues, map[string][]any{
		"sandbox_id": {parentSandbox}, "path": {"/etc/motd", "/opt/a b/ü"}, "content": fileContents,
		"mode": {"644", "755"}, "owner": {"root"}, "group": {"root"},
	}),
	Bundles: fileBundles, Settings: OpenSandboxSandbox.Settings,
	Disturbances: []string{"rewrite", "remove"},
	Requests: []Request{
		{"POST", "/direct/"}, {"GET", "/direct/"}, {"DELETE", "/direct/"}, {"GET", "/v1/sandboxes/*"}, {"GET", "/v1/sandboxes/*/endpoints/*"},
	},
	Tells: []Request{{"GET", "/v1/sandboxes/*"}}, Needed: OpenSandboxSandbox.Needed,
	Secret:         fileSecrets(map[string]any{"sandbox_id": parentSandbox}),
	SecretSettings: secretSettings(),
}

// OpenSandboxExec is opensandbox_exec.
var OpenSandboxExec = &Type{
	Name: "opensandbox_exec", Provider: provider.OpenSandbox("test"), Inside: true, Start: startInSandbox, Tempers: []string{"proxy-wants-key", "no-diagnostics"},
	Smallest: map[string]any{"sandbox_id": parentSandbox, "argv": []any{"true"}},
	Values: with(GPUVMExec.Values, map[string][]any{
		"sandbox_id": {parentSandbox}, "user": {"root", "0"}, "cwd": {"/tmp"}, "env": {map[string]any{}, map[string]any{"A": "b"}},
		"env_wo": {map[string]any{"API_KEY": "canary-env-wo-c0de"}}, "timeout_seconds": {10, 600},
	}),
	Bundles: execBundles, Settings: OpenSandboxSandbox.Settings,
	Disturbances: []string{"rewrite"},
	Requests:     []Request{{"POST", "/direct/"}, {"GET", "/v1/sandboxes/*"}, {"GET", "/v1/sandboxes/*/endpoints/*"}},
	Tells:        []Request{{"GET", "/v1/sandboxes/*"}}, Needed: OpenSandboxSandbox.Needed,
	Secret: []map[string]any{{
		"sandbox_id": parentSandbox, "script": "cat > /dev/null; echo done",
		"env_wo": map[string]any{"API_KEY": "canary-env-wo-c0de", "PEM": "canary-env \"first\"\ncanary-env-second-line-66\n"},
	}},
	SecretSettings: secretSettings(),
}

// fileSecrets are files with each kind of sensitive content.
func fileSecrets(base map[string]any) []map[string]any {
	return []map[string]any{
		merged(base, map[string]any{"path": "/a", "content": "canary-content-1c9e55"}),
		merged(base, map[string]any{"path": "/b", "content_base64": "Y2FuYXJ5LWJ5dGVzLWE4MTIzNA=="}),
		merged(base, map[string]any{"path": "/c", "content_wo": "canary-content-wo \"7f3a\"\nof a second canary-line-5dd1e0f2\n", "content_wo_version": 1}),
	}
}

func with(base, more map[string][]any) map[string][]any {
	all := map[string][]any{}
	for _, layer := range []map[string][]any{base, more} {
		for name, values := range layer {
			all[name] = values
		}
	}
	return all
}

// inside is a service with one machine, which the tests of what is inside of it leave alone.
type inside struct {
	Service
	parent  string
	machine func() *machine.Machine
}

func startInVM(temper map[string]bool) Service {
	s := startGPUVM(temper).(*gpuvmService) //nolint:forcetypeassert // it makes no other
	var made struct{ ID string }
	s.ask("POST", "/v1/vms", map[string]any{
		"image": "client", "cpu": 1, "memory_mb": 1, "disk_gb": 1, "ttl_seconds": 1 << 40, "ports": []int{}, "labels": map[string]string{}, "priority": nil,
	}, &made)
	return &inside{s, made.ID, func() *machine.Machine { vm, _ := s.VM(made.ID); return vm.Machine }}
}

func startInSandbox(temper map[string]bool) Service {
	s := startOpenSandbox(temper).(*openSandboxService) //nolint:forcetypeassert // it makes no other
	var made struct{ ID string }
	s.ask("POST", "/v1/sandboxes", map[string]any{
		"image": map[string]any{"uri": "busybox"}, "entrypoint": []string{"tail", "-f", "/dev/null"}, "resourceLimits": map[string]string{"cpu": "1", "memory": "2Gi"},
	}, &made)
	return &inside{s, made.ID, func() *machine.Machine { return s.Machine(made.ID) }}
}

// Standing is nothing: the machine is the test's own.
func (*inside) Standing() []string { return nil }

func (s *inside) Disturb(kind, _ string) bool {
	switch kind {
	case "rewrite":
		return s.machine().WriteFile("/etc/motd", machine.File{Data: []byte("by other hands")}) == nil
	case "remove":
		return s.machine().Remove("/etc/motd") == nil
	}
	return false
}

func (*inside) InDoubt(string, string) bool { return false }

func (*inside) TTL(string) int64 { return 0 }

func (s *inside) Differences(o *core.Object, _ bool) []string {
	path, isFile := o.Attribute("path").(string)
	if !isFile || o.Attribute("sha256") == nil { // what was uploaded write-only isn't looked at again
		return nil
	}
	stands, err := s.machine().ReadFile(path)
	if err != nil {
		return []string{fmt.Sprintf("%s: %v", path, err)}
	}
	if content, ok := o.Attribute("content").(string); ok && content != string(stands.Data) && !strings.Contains(string(stands.Data), "by other hands") {
		return []string{fmt.Sprintf("%s holds %q, not %q", path, stands.Data, content)}
	}
	return nil
}
