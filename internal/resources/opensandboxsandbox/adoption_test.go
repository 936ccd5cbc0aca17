package opensandboxsandbox_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"

	"github.com/agentenv/terraform-provider-gpuvm/internal/acctest"
	fake "github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/opensandbox"
)

// foreign makes a sandbox that no state knows, and imports it.
func (b *bench) foreign(more map[string]any) acctest.Object {
	b.t.Helper()
	request := map[string]any{"image": map[string]any{"uri": "busybox"}, "entrypoint": []string{"sleep", "1d"}, "resourceLimits": map[string]string{"cpu": "1"}}
	for key, value := range more {
		request[key] = value
	}
	body, err := json.Marshal(request)
	if err != nil {
		b.t.Fatal(err)
	}
	imported, diagnostics := b.Import(b.t.Context(), kind, b.server.Make(b.t, string(body)))
	if len(diagnostics) > 0 {
		b.t.Fatal(acctest.Text(diagnostics))
	}
	b.server.Faults().Reset()
	return imported
}

// writes counts the requests that could change something.
func (b *bench) writes() int {
	count := 0
	for _, request := range b.server.Faults().Requests() {
		if request.Method != "GET" {
			count++
		}
	}
	return count
}

// adopt plans the first apply after an import, hears the warning, and applies.
func (b *bench) adopt(imported acctest.Object, config values) (adopted acctest.Object, warning string) {
	b.t.Helper()
	change := b.PlanChange(b.t.Context(), kind, imported, config)
	if len(change.Replace) > 0 || change.Attributes == nil {
		b.t.Fatalf("replaced through %v: %s", change.Replace, acctest.Text(change.Diagnostics))
	}
	adopted, diagnostics := b.Apply(b.t.Context(), change)
	if len(diagnostics) > 0 {
		b.t.Fatal(acctest.Text(diagnostics))
	}
	return adopted, acctest.Text(change.Diagnostics)
}

func TestImportedSandboxIsAdoptedWithoutARequest(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	imported := b.foreign(map[string]any{"timeout": 600, "metadata": map[string]string{"team": "red", "theirs": "x"}})
	for attribute, want := range map[string]string{"image": "busybox:latest", "status": "Running", "setup_script": ""} {
		same(t, attribute, text(t, imported.Attributes, attribute), want)
	}
	same(t, "effective_metadata, of which nothing is ours yet", texts(t, imported.Attributes, "effective_metadata"), map[string]string{})
	same(t, "created_at is known", imported.Attributes["created_at"].IsNull(), false)
	config := values{
		"image": "busybox", "ttl_seconds": 600, "metadata": values{"team": "red"}, "setup_script": "true", "env": values{"A": "b"},
		"resources": values{"cpu": 4}, "exposed_ports": []int{80},
	}
	adopted, warning := b.adopt(imported, config)
	if !strings.Contains(warning, "take them from the configuration") && !strings.Contains(warning, "takes them from the configuration") ||
		!strings.Contains(warning, "image") || !strings.Contains(warning, "setup_script") || !strings.Contains(warning, "ttl_seconds") || strings.Contains(warning, "platform") {
		t.Errorf("it warns: %s", warning)
	}
	same(t, "writes", b.writes(), 0)
	same(t, "effective", texts(t, adopted.Attributes, "effective_metadata"), map[string]string{"team": "red"})
	same(t, "URL of 80", strings.HasPrefix(texts(t, adopted.Attributes, "ports")["80"], "http://"), true)

	adopted = b.refresh(adopted)
	same(t, "what changes then", changed(adopted, b.plan(adopted, config)), nil)
	// The flag is gone: now the same change replaces.
	same(t, "what replaces", b.plan(adopted, with(config, values{"setup_script": "false"})).Replace, []string{"setup_script"})
	same(t, "what changes by removing metadata", func() map[string]any { b.apply(adopted, with(config, values{"metadata": nil})); return b.lastPatch() }(), map[string]any{"team": nil})
}

// Even where nothing is to be changed the first apply runs, which ends the adoption.
func TestAdoptionEndsWithTheFirstApply(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	imported := b.foreign(nil)
	config := values{"image": "busybox:latest"}
	change := b.plan(imported, config)
	same(t, "what isn't known", unknowns(change), []string{"status", "status_message", "status_reason"})
	adopted, _ := b.adopt(imported, config)
	same(t, "writes", b.writes(), 0)
	same(t, "what replaces", b.plan(b.refresh(adopted), values{"image": "alpine"}).Replace, []string{"image"})
}

// A provider that is killed in the middle of the first apply takes the note of the import with it.
func TestAdoptionOutlivesTheNotes(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	imported := b.foreign(map[string]any{"metadata": map[string]string{"team": "red"}})
	imported.Private = nil
	config := values{"image": "busybox", "setup_script": "true", "metadata": values{"team": "red"}}
	adopted, warning := b.adopt(b.refresh(imported), config)
	if !strings.Contains(warning, "setup_script") {
		t.Errorf("it warns: %s", warning)
	}
	same(t, "writes", b.writes(), 0)
	adopted = b.refresh(adopted)
	same(t, "what changes then", changed(adopted, b.plan(adopted, config)), nil)
	same(t, "what replaces", b.plan(adopted, with(config, values{"setup_script": "false"})).Replace, []string{"setup_script"})
}

func TestAdoptionComparesMetadataAndPausing(t *testing.T) {
	t.Parallel()
	b := newBench(t, values{"default_metadata": values{"owner": "ada"}})
	imported := b.foreign(map[string]any{"metadata": map[string]string{"team": "red"}})
	adopted, _ := b.adopt(imported, values{"image": "busybox", "metadata": values{"team": "blue"}, "paused": true})
	same(t, "patch", b.lastPatch(), map[string]any{"owner": "ada", "team": "blue"})
	same(t, "status", text(t, adopted.Attributes, "status"), "Paused")
}

func TestAdoptionSeesToTheNetworkPolicy(t *testing.T) {
	t.Parallel()
	deny := values{"image": "busybox", "network_policy": values{"default_action": "deny"}}
	b := newBench(t, nil)
	imported := b.foreign(map[string]any{"networkPolicy": map[string]any{"defaultAction": "allow"}})
	b.adopt(imported, deny)
	same(t, "policy", only(t, b.server).Policy.DefaultAction, "deny")

	other := newBench(t, values{"operations": values{"retries": 0}})
	bare := other.foreign(nil)
	_, diagnostics := other.Apply(t.Context(), other.PlanChange(t.Context(), kind, bare, deny))
	if said := acctest.Text(diagnostics); !strings.Contains(said, "has no sidecar that could enforce one") {
		t.Errorf("it says %s", said)
	}
}

func TestAdoptionReplacesWhereAnExpiryComesOrGoes(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	change := b.PlanChange(t.Context(), kind, b.foreign(map[string]any{"timeout": 600}), values{"image": "busybox:latest"})
	same(t, "what replaces", change.Replace, []string{"expires_at"})
	same(t, "expires_at is known", change.Attributes["expires_at"].IsKnown(), false)
	if said := acctest.Text(change.Diagnostics); !strings.HasPrefix(said, "WARNING: Imported sandbox expires, so it is replaced") {
		t.Errorf("it says %s", said)
	}

	b = newBench(t, nil)
	change = b.PlanChange(t.Context(), kind, b.foreign(nil), values{"image": "busybox:latest", "ttl_seconds": 600})
	same(t, "what replaces", change.Replace, []string{"ttl_seconds"})
	if said := acctest.Text(change.Diagnostics); !strings.HasPrefix(said, "WARNING: Imported sandbox never expires, so it is replaced") {
		t.Errorf("it says %s", said)
	}
}

// An adopted sandbox is renewed by renew_below_seconds like any other.
func TestAdoptionRenewsWhatRunsOut(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	imported := b.foreign(map[string]any{"timeout": 100})
	adopted, _ := b.adopt(imported, values{"image": "busybox", "ttl_seconds": 3600, "renew_below_seconds": 600})
	expires, err := time.Parse(time.RFC3339, text(t, adopted.Attributes, "expires_at"))
	if err != nil || expires.Sub(b.clock.Now()) < 50*time.Minute {
		t.Errorf("it expires at %v (%v)", expires, err)
	}
}

func TestImportTellsTheSource(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil, func(o *fake.Options) { o.Kubernetes, o.Newer = true, true })
	b.server.AddPool("warm", fake.Capacity{BufferMin: 1, BufferMax: 1, PoolMin: 1, PoolMax: 3}, true)
	imported := b.foreign(map[string]any{"image": nil, "entrypoint": nil, "resourceLimits": nil, "timeout": 600, "extensions": map[string]string{"poolRef": "warm"}})
	same(t, "pool_ref", text(t, imported.Attributes, "pool_ref"), "warm")
	same(t, "image", text(t, imported.Attributes, "image"), "")
}

func TestAccImport(t *testing.T) {
	server := acctest.NewOpenSandbox(t)
	id := server.Make(t, `{"image":{"uri":"busybox"},"entrypoint":["sleep","1d"],"resourceLimits":{"cpu":"1"},"timeout":600}`)
	step := func(config string) resource.TestStep {
		return resource.TestStep{Config: config, ResourceName: name, ImportState: true, ImportStateId: id, ImportStatePersist: true}
	}
	adopting := box(server, image, `ttl_seconds = 600`)
	acctest.Run(t, resource.TestCase{
		CheckDestroy: server.Empty,
		Steps: []resource.TestStep{
			step(adopting),
			{Config: adopting, ConfigPlanChecks: updated, ConfigStateChecks: holds(map[string]any{"id": id, "image": "busybox"})},
			{Config: adopting, ConfigPlanChecks: nothing},
		},
	})
	same(t, "creates", server.Asked("POST", "/sandboxes"), 0)
}

func TestAccImportThatExpiresIsReplacedWithoutTTL(t *testing.T) {
	server := acctest.NewOpenSandbox(t)
	id := server.Make(t, `{"image":{"uri":"busybox"},"entrypoint":["sleep","1d"],"resourceLimits":{"cpu":"1"},"timeout":600}`)
	config := box(server, `image = "busybox:latest"`)
	acctest.Run(t, resource.TestCase{
		CheckDestroy: server.Empty,
		Steps: []resource.TestStep{
			{Config: config, ResourceName: name, ImportState: true, ImportStateId: id, ImportStatePersist: true},
			{
				Config: config,
				ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
					plancheck.ExpectResourceAction(name, plancheck.ResourceActionDestroyBeforeCreate),
				}},
				ConfigStateChecks: holds(map[string]any{"expires_at": nil}),
			},
			{Config: config, ConfigPlanChecks: nothing},
		},
	})
}

func TestAccImportOfWhatIsGoneOrOdd(t *testing.T) {
	for id, says := range map[string]string{
		"none": `Cannot import non-existent remote object`, "../sandboxes": `Cannot import non-existent remote object`,
		"a b?c": `Cannot import non-existent remote object`, "..": `import id isn't usable`,
	} {
		t.Run(id, func(t *testing.T) {
			server := acctest.NewOpenSandbox(t)
			acctest.Run(t, resource.TestCase{Steps: []resource.TestStep{{
				Config: box(server, image), ResourceName: name, ImportState: true, ImportStateId: id, ExpectError: said(says),
			}}})
		})
	}
}
