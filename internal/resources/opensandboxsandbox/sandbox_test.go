package opensandboxsandbox_test

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/agentenv/terraform-provider-gpuvm/internal/acctest"
	fake "github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/opensandbox"
)

const name = "opensandbox_sandbox.test"

// box is the configuration of a sandbox on the server, with the given lines in its block.
func box(server *acctest.OpenSandbox, lines ...string) string {
	return server.Provider() + resourceOf(lines...)
}

func resourceOf(lines ...string) string {
	return "resource \"opensandbox_sandbox\" \"test\" {\n  " + strings.Join(lines, "\n  ") + "\n}\n"
}

// said finds a message however Terraform breaks its lines.
func said(text string) *regexp.Regexp {
	words := strings.Fields(text)
	for i := range words {
		words[i] = regexp.QuoteMeta(words[i])
	}
	return regexp.MustCompile(strings.Join(words, `[\s│╷╵]+`))
}

// action is a plan check.
func action(want plancheck.ResourceActionType) resource.ConfigPlanChecks {
	return resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectResourceAction(name, want)}}
}

var (
	updated  = action(plancheck.ResourceActionUpdate)
	replaced = action(plancheck.ResourceActionDestroyBeforeCreate)
	nothing  = resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}}
)

// holds are state checks of attributes: nil is null, a text is exact, anything else a check of its own.
func holds(attributes map[string]any) []statecheck.StateCheck {
	var checks []statecheck.StateCheck
	for attribute, value := range attributes {
		checks = append(checks, statecheck.ExpectKnownValue(name, tfjsonpath.New(attribute), checkOf(value)))
	}
	return checks
}

func checkOf(value any) knownvalue.Check {
	switch value := value.(type) {
	case nil:
		return knownvalue.Null()
	case string:
		return knownvalue.StringExact(value)
	case bool:
		return knownvalue.Bool(value)
	case int:
		return knownvalue.Int64Exact(int64(value))
	case map[string]string:
		exact := map[string]knownvalue.Check{}
		for key, text := range value {
			exact[key] = knownvalue.StringExact(text)
		}
		return knownvalue.MapExact(exact)
	case knownvalue.Check:
		return value
	}
	panic(fmt.Sprintf("no check for a %T", value))
}

// only is the one sandbox that the server holds.
func only(t *testing.T, server *acctest.OpenSandbox) fake.Sandbox {
	t.Helper()
	all := server.Sandboxes()
	if len(all) != 1 {
		t.Fatalf("the server holds %d sandboxes, want 1", len(all))
	}
	return all[0]
}

// inspect is a check that looks at the one sandbox of the server.
func inspect(t *testing.T, server *acctest.OpenSandbox, look func(fake.Sandbox)) resource.TestCheckFunc {
	return func(*terraform.State) error {
		look(only(t, server))
		return nil
	}
}

// onlyGets is a check: nothing that could change anything was sent.
func onlyGets(server *acctest.OpenSandbox) resource.TestCheckFunc {
	return func(*terraform.State) error {
		for _, request := range server.Faults().Requests() {
			if request.Method != "GET" {
				return fmt.Errorf("%s %s was sent", request.Method, request.Path)
			}
		}
		return nil
	}
}

func same[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s is %#v, want %#v", what, got, want)
	}
}

func TestAccCreateSendsTheWholeSpec(t *testing.T) {
	server := acctest.NewOpenSandbox(t, func(o *fake.Options) {
		o.EgressMode, o.Newer, o.Kubernetes, o.Ingress = "dns+nft", true, true, fake.IngressURI
	})
	config := box(server,
		`image = "registry.example/tool:1"`,
		`image_auth = { username = "ada", password_wo = "hush-hush" }`,
		`entrypoint = ["sleep", "infinity"]`,
		"resources {\n cpu = 2.5\n memory_mib = 512\n disk_gib = 0\n gpu = 1\n extended = { \"example.com/dongle\" = \"2\" }\n}",
		"resource_requests {\n cpu = 1\n}",
		`env = { PLAIN = "one", BOTH = "plain" }`,
		`env_wo = { BOTH = "secret-both", SECRET = "secret-two" }`,
		`env_wo_version = 1`,
		`metadata = { team = "red team!" }`,
		`ttl_seconds = 600`,
		`platform = { os = "linux", arch = "arm64" }`,
		"volume {\n name = \"code\"\n mount_path = \"/code\"\n read_only = true\n sub_path = \"src\"\n host {\n path = \"/srv\"\n}\n}",
		"volume {\n name = \"data\"\n mount_path = \"/data\"\n pvc {\n claim_name = \"claim\"\n create_if_not_exists = false\n delete_on_sandbox_termination = true\n storage_class = \"fast\"\n storage = \"1Gi\"\n access_modes = [\"ReadWriteMany\"]\n}\n}",
		"network_policy {\n default_action = \"deny\"\n egress {\n action = \"allow\"\n target = \"pypi.org\"\n}\n egress {\n action = \"allow\"\n target = \"*.example\"\n}\n}",
		`credential_proxy = true`, `secure_access = true`,
		`extensions = { "access.renew.extend.seconds" = "300" }`,
		`image_pull_policy = "Always"`,
		"pre_start {\n command = [\"mkdir\", \"/x\"]\n timeout_seconds = 5\n}",
		"periodic {\n name = \"tick\"\n schedule = \"* * * * *\"\n command = [\"date\"]\n timeout_seconds = 7\n}",
	)
	acctest.Run(t, resource.TestCase{
		CheckDestroy: server.Empty,
		Steps: []resource.TestStep{
			{
				Config: config,
				Check: inspect(t, server, func(box fake.Sandbox) {
					r := box.Request
					same(t, "image", *r.Image, fake.ImageRequest{URI: "registry.example/tool:1", Auth: true, Username: "ada", Password: r.Image.Password})
					same(t, "password", r.Image.Password.Is("hush-hush"), true)
					same(t, "entrypoint", r.Entrypoint, []string{"sleep", "infinity"})
					same(t, "limits", r.ResourceLimits, map[string]string{"cpu": "2.5", "memory": "512Mi", "ephemeral-storage": "0Gi", "gpu": "1", "example.com/dongle": "2"})
					same(t, "requests", r.ResourceRequests, map[string]string{"cpu": "1"})
					same(t, "env", r.Env, map[string]string{"PLAIN": "one", "BOTH": "secret-both", "SECRET": "secret-two"})
					same(t, "team", r.Metadata["team"], "red_team")
					same(t, "timeout", r.Timeout, 600)
					same(t, "platform", *r.Platform, fake.Platform{OS: "linux", Arch: "arm64"})
					same(t, "policy", *r.NetworkPolicy, fake.NetworkPolicy{DefaultAction: "deny", Egress: []fake.NetworkRule{{Action: "allow", Target: "pypi.org"}, {Action: "allow", Target: "*.example"}}})
					same(t, "proxy", r.CredentialProxy, true)
					same(t, "secure access", r.SecureAccess, true)
					same(t, "extensions", r.Extensions, map[string]string{"access.renew.extend.seconds": "300", "imagePullPolicy": "Always", "opensandbox.extensions.image-pull-policy": "Always"})
					same(t, "pre_start", *r.PreStart, fake.Hook{Command: []string{"mkdir", "/x"}, TimeoutSeconds: 5})
					same(t, "periodic", r.Periodic, []fake.Hook{{Name: "tick", Schedule: "* * * * *", Command: []string{"date"}, TimeoutSeconds: 7}})
					checkVolumes(t, r.Volumes)
				}),
				ConfigStateChecks: holds(map[string]any{
					"image": "registry.example/tool:1", "status": "Running", "metadata": map[string]string{"team": "red team!"},
					"effective_metadata": map[string]string{"team": "red_team"}, "attribution_metadata": map[string]string{}, "env_wo": nil, "created_at": knownvalue.NotNull(), "expires_at": knownvalue.NotNull(),
					"image_auth": knownvalue.ObjectExact(map[string]knownvalue.Check{"username": knownvalue.StringExact("ada"), "password_wo": knownvalue.Null()}),
				}),
			},
			{Config: config, ConfigPlanChecks: nothing},
		},
	})
}

func checkVolumes(t *testing.T, volumes []fake.Volume) {
	t.Helper()
	if len(volumes) != 2 {
		t.Fatalf("%d volumes were sent", len(volumes))
	}
	same(t, "volume", volumes[0], fake.Volume{Name: "code", MountPath: "/code", ReadOnly: true, SubPath: "src", Host: "/srv"})
	same(t, "claim", *volumes[1].PVC, fake.Claim{Name: "claim", CreateIfNotExists: false, DeleteOnSandboxTermination: true, StorageClass: "fast", Storage: "1Gi", AccessModes: []string{"ReadWriteMany"}})
}

// What only a server on Docker takes.
func TestCreateOnDocker(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.make(with(busybox, values{
		"resources": values{"gpu": 2, "gpu_type": "A100"},
		"volume": []any{values{"name": "bucket", "mount_path": "/bucket", "ossfs": values{
			"bucket": "abc", "endpoint": "oss.example", "version": "1.0", "options": []string{"ro"}, "access_key_id": "id", "access_key_secret_wo": "oss-secret",
		}}},
	}))
	request := only(t, b.server).Request
	same(t, "limits", request.ResourceLimits, map[string]string{"gpu": "2", "gpu_type": "A100"})
	bucket := *request.Volumes[0].OSSFS
	same(t, "secret", bucket.AccessKeySecret.Is("oss-secret"), true)
	bucket.AccessKeySecret = fake.Secret{}
	same(t, "bucket", bucket, fake.OSSFS{Bucket: "abc", Endpoint: "oss.example", Version: "1.0", Options: []string{"ro"}, AccessKeyID: "id"})
}

func TestAccDefaults(t *testing.T) {
	server := acctest.NewOpenSandbox(t)
	acctest.Run(t, resource.TestCase{
		CheckDestroy: server.Empty,
		Steps: []resource.TestStep{
			{
				Config: box(server, `image = "busybox"`),
				Check: inspect(t, server, func(box fake.Sandbox) {
					same(t, "entrypoint", box.Request.Entrypoint, []string{"tail", "-f", "/dev/null"})
					same(t, "limits", box.Request.ResourceLimits, map[string]string{"cpu": "1", "memory": "2Gi"})
					same(t, "extensions", box.Request.Extensions, map[string]string{"imagePullPolicy": "IfNotPresent", "opensandbox.extensions.image-pull-policy": "IfNotPresent"})
					same(t, "timeout", box.Request.Timeout, 0)
					same(t, "what GET calls the image", box.Image, "busybox:latest")
				}),
				ConfigStateChecks: holds(map[string]any{
					"image": "busybox", "snapshot_id": nil, "pool_ref": nil, "image_auth": nil, "entrypoint": nil, "resources": nil, "resource_requests": nil,
					"env": nil, "env_wo_version": nil, "metadata": nil, "ttl_seconds": nil, "renew_below_seconds": nil, "vnc_port": nil, "platform": nil,
					"network_policy": nil, "credential_proxy": false, "secure_access": false, "extensions": nil, "image_pull_policy": nil, "pre_start": nil,
					"skip_health_check": false, "ready_timeout_seconds": 60, "files": nil, "setup_script": nil, "teardown_script": nil, "on_create_failure": "delete",
					"paused": nil, "ports": map[string]string{}, "vnc_url": nil, "effective_metadata": map[string]string{}, "attribution_metadata": map[string]string{},
					"expires_at": nil, "exposed_ports": knownvalue.SetExact(nil), "volume": knownvalue.ListExact(nil), "periodic": knownvalue.ListExact(nil),
				}),
			},
			{Config: box(server, `image = "busybox"`), ConfigPlanChecks: nothing},
			{
				Config: box(server, `image = "busybox"`, `exposed_ports = []`, `metadata = {}`, `env = {}`, `extensions = {}`, `files = {}`, `setup_script = ""`, "resources {\n}", `credential_proxy = false`),
				// Empty is as good as absent. What differs at all is noted in place.
				ConfigPlanChecks: updated,
			},
		},
	})
	same(t, "creates", server.Asked("POST", "/sandboxes"), 1)
}

func TestImagePullPolicyOfTheProvider(t *testing.T) {
	t.Parallel()
	b := newBench(t, values{"create": values{"image_pull_policy": "Never", "retry_delay_seconds": 0}})
	made := b.make(busybox)
	same(t, "extensions", only(t, b.server).Request.Extensions, map[string]string{"imagePullPolicy": "Never", "opensandbox.extensions.image-pull-policy": "Never"})
	// It is that of new sandboxes: what stands isn't replaced for it.
	later := b.again(nil)
	same(t, "what changes under another one", changed(made, later.plan(later.refresh(made), busybox)), nil)
}

func TestAccFromAPool(t *testing.T) {
	server := acctest.NewOpenSandbox(t, func(o *fake.Options) { o.Kubernetes = true })
	server.AddPool("warm", fake.Capacity{BufferMin: 1, BufferMax: 1, PoolMin: 1, PoolMax: 3}, true)
	acctest.Run(t, resource.TestCase{
		CheckDestroy: server.Empty,
		Steps: []resource.TestStep{
			{
				Config: box(server, `pool_ref = "warm"`, `ttl_seconds = 300`),
				Check: inspect(t, server, func(box fake.Sandbox) {
					same(t, "extensions", box.Request.Extensions, map[string]string{"poolRef": "warm"})
					same(t, "limits", box.Request.ResourceLimits, nil)
					same(t, "entrypoint", box.Request.Entrypoint, nil)
				}),
			},
			{Config: box(server, `pool_ref = "cold"`, `ttl_seconds = 300`), ExpectError: said(`Pool can't be used`)},
		},
	})
}

func TestAccPortsAreKnownByKeyAtPlan(t *testing.T) {
	server := acctest.NewOpenSandbox(t)
	more := "output \"keys\" {\n value = join(\",\", keys(opensandbox_sandbox.test.ports))\n}\n"
	keys := func(want string) resource.ConfigPlanChecks {
		return resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectKnownOutputValue("keys", knownvalue.StringExact(want))}}
	}
	acctest.Run(t, resource.TestCase{
		CheckDestroy: server.Empty,
		Steps: []resource.TestStep{
			{
				Config:           box(server, image, `exposed_ports = [8080, 80]`, `vnc_port = 5900`) + more,
				ConfigPlanChecks: keys("80,8080"),
				ConfigStateChecks: holds(map[string]any{
					"ports":   knownvalue.MapExact(map[string]knownvalue.Check{"80": knownvalue.StringRegexp(regexp.MustCompile(`^http://`)), "8080": knownvalue.StringRegexp(regexp.MustCompile(`^http://`))}),
					"vnc_url": knownvalue.StringRegexp(regexp.MustCompile(`^http://.*5900`)),
				}),
			},
			{
				// A change of ports writes nothing.
				PreConfig:         server.Faults().Reset,
				Config:            box(server, image, `exposed_ports = [8080, 3000]`) + more,
				ConfigPlanChecks:  keys("3000,8080"),
				ConfigStateChecks: holds(map[string]any{"vnc_url": nil, "ports": knownvalue.MapSizeExact(2)}),
				Check:             onlyGets(server),
			},
			{Config: box(server, image, `exposed_ports = [8080, 3000]`, `vnc_port = 8080`) + more, ConfigPlanChecks: updated},
			{Config: box(server, image, `exposed_ports = [8080, 3000]`, `vnc_port = 8080`) + more, ConfigPlanChecks: nothing},
		},
	})
}

func TestAccRefreshIsOneRequest(t *testing.T) {
	server := acctest.NewOpenSandbox(t)
	config := box(server, image, `exposed_ports = [80]`, `vnc_port = 5900`)
	acctest.Run(t, resource.TestCase{
		Steps: []resource.TestStep{
			{Config: config},
			{PreConfig: server.Faults().Reset, RefreshState: true, Check: func(*terraform.State) error {
				if sent := server.Faults().Requests(); len(sent) != 1 {
					return fmt.Errorf("%d requests were sent for a refresh", len(sent))
				}
				return nil
			}},
		},
	})
}
