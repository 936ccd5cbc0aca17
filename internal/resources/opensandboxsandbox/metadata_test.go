package opensandboxsandbox_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentenv/terraform-provider-gpuvm/internal/acctest"
	fake "github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/opensandbox"
)

// texts is a map attribute.
func texts(t *testing.T, of map[string]tftypes.Value, attribute string) map[string]string {
	t.Helper()
	var elements map[string]tftypes.Value
	if of[attribute].IsNull() {
		return nil
	}
	if err := of[attribute].As(&elements); err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for key := range elements {
		texts[key] = text(t, elements, key)
	}
	return texts
}

// lastPatch is the body of the latest change of metadata.
func (b *bench) lastPatch() map[string]any {
	b.t.Helper()
	var body map[string]any
	for _, request := range b.server.Faults().Requests() {
		if request.Method == "PATCH" && strings.HasSuffix(request.Path, "/metadata") {
			body = nil
			if err := json.Unmarshal(request.Body, &body); err != nil {
				b.t.Fatal(err)
			}
		}
	}
	return body
}

// own is the server's metadata without the mark of the create.
func (b *bench) own() map[string]string {
	b.t.Helper()
	live := maps.Clone(only(b.t, b.server).Metadata)
	delete(live, "agentenv.dev/create-id")
	return live
}

func TestMetadataIsChangedInPlaceKeyByKey(t *testing.T) {
	t.Parallel()
	b := newBench(t, values{"default_metadata": values{"owner": "ada"}})
	made := b.make(with(busybox, values{"metadata": values{"team": "red team!", "old": "1"}}))
	id := text(t, made.Attributes, "id")
	same(t, "live", b.own(), map[string]string{"owner": "ada", "team": "red_team", "old": "1"})

	foreign := "theirs"
	b.server.SetMetadata(id, map[string]*string{"foreign": &foreign})
	made = b.refresh(made)
	same(t, "a foreign key", changed(made, b.plan(made, with(busybox, values{"metadata": values{"team": "red team!", "old": "1"}}))), nil)

	made = b.apply(made, with(busybox, values{"metadata": values{"team": "blue"}}))
	same(t, "patch", b.lastPatch(), map[string]any{"owner": "ada", "team": "blue", "old": nil})
	same(t, "effective", texts(t, made.Attributes, "effective_metadata"), map[string]string{"owner": "ada", "team": "blue"})

	// The server lets what was set at create come back with the next patch that doesn't name it.
	made = b.apply(b.refresh(made), with(busybox, values{"metadata": values{"team": "green"}}))
	same(t, "patch", b.lastPatch(), map[string]any{"owner": "ada", "team": "green", "old": nil})
	same(t, "live", b.own(), map[string]string{"owner": "ada", "team": "green", "foreign": "theirs"})

	// So does a change of the provider's defaults, on what stands.
	later := b.again(values{"default_metadata": values{"owner": "bob"}})
	made = later.apply(later.refresh(made), with(busybox, values{"metadata": values{"team": "green"}}))
	same(t, "live", b.own(), map[string]string{"owner": "bob", "team": "green", "foreign": "theirs"})
	later = b.again(nil)
	made = later.apply(later.refresh(made), busybox)
	same(t, "live", b.own(), map[string]string{"foreign": "theirs"})
	same(t, "effective", texts(t, made.Attributes, "effective_metadata"), map[string]string{})
	same(t, "metadata", texts(t, made.Attributes, "metadata"), nil)
}

func TestMetadataChangedOutsideIsDrift(t *testing.T) {
	t.Parallel()
	config := with(busybox, values{"metadata": values{"team": "red team!", "more": "x"}})
	b := newBench(t, values{"default_metadata": values{"owner": "ada"}})
	made := b.make(config)
	id := text(t, made.Attributes, "id")
	other := "blue"
	b.server.SetMetadata(id, map[string]*string{"team": &other, "more": nil, "owner": nil})
	drifted := b.refresh(made)
	same(t, "metadata", texts(t, drifted.Attributes, "metadata"), map[string]string{"team": "blue"})
	same(t, "what changes", changed(drifted, b.plan(drifted, config)), []string{"effective_metadata", "metadata"})

	mended := b.apply(drifted, config)
	same(t, "live", b.own(), map[string]string{"owner": "ada", "team": "red_team", "more": "x"})
	same(t, "what changes then", changed(mended, b.plan(b.refresh(mended), config)), nil)

	// Put back outside, it is none any more.
	b.server.SetMetadata(id, map[string]*string{"team": &other})
	drifted = b.refresh(mended)
	back := "red_team"
	b.server.SetMetadata(id, map[string]*string{"team": &back})
	mended = b.refresh(drifted)
	same(t, "what changes when put back", changed(mended, b.plan(mended, config)), nil)
}

// What the image or the cluster adds, or rewrites at once, is no drift.
func TestMetadataOfTheServerIsNoDrift(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil, func(o *fake.Options) {
		o.Images = map[string]fake.Image{"busybox": {Labels: map[string]string{"maintainer": "them"}}}
	})
	config := with(busybox, values{"metadata": values{"team": "red"}})
	made := b.refresh(b.make(config))
	same(t, "what changes", changed(made, b.plan(made, config)), nil)
	same(t, "metadata", texts(t, made.Attributes, "metadata"), map[string]string{"team": "red"})
	for attribute, value := range made.Attributes {
		if strings.Contains(value.String(), "create-id") {
			t.Errorf("%s shows the mark of the create", attribute)
		}
	}
}

func TestAttributionIsFrozenAtCreate(t *testing.T) {
	t.Parallel()
	b := newBench(t, values{"attribution": values{"team": "a team", "user": "ada", "run": "r1", "workload": "w"}, "default_metadata": values{"nemo-gym.nvidia.com/user": "default"}})
	config := with(busybox, values{"metadata": values{"nemo-gym.nvidia.com/run": "own"}})
	made := b.make(config)
	want := map[string]string{"nemo-gym.nvidia.com/team": "a_team", "nemo-gym.nvidia.com/workload": "w"}
	same(t, "attribution", texts(t, made.Attributes, "attribution_metadata"), want)
	same(t, "live", b.own(), map[string]string{
		"nemo-gym.nvidia.com/team": "a_team", "nemo-gym.nvidia.com/workload": "w", "nemo-gym.nvidia.com/user": "default", "nemo-gym.nvidia.com/run": "own",
	})
	later := b.again(values{"attribution": values{"team": "b", "user": "bob", "run": "r2"}, "default_metadata": values{"nemo-gym.nvidia.com/user": "default"}})
	made = later.refresh(made)
	same(t, "what changes under another attribution", changed(made, later.plan(made, config)), nil)
	made = later.apply(made, with(busybox, values{"metadata": values{"x": "y"}}))
	same(t, "attribution", texts(t, made.Attributes, "attribution_metadata"), want)
}

func TestDefaultsThatAreNotKnownStopTheCreate(t *testing.T) {
	t.Parallel()
	b := newBench(t, values{"default_metadata": acctest.Unknown})
	change := b.plan(acctest.Object{}, busybox)
	_, diagnostics := b.Apply(t.Context(), change)
	if said := acctest.Text(diagnostics); !strings.Contains(said, "Provider setting default_metadata isn't known yet") {
		t.Errorf("it says %s", said)
	}
	same(t, "requests", len(b.server.Faults().Requests()), 0)
}

// A provider that is killed in the middle of an update takes the notes with it; the state still tells which keys are ours.
func TestRemovedMetadataIsRemovedWithoutTheNotes(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	made := b.make(with(busybox, values{"metadata": values{"team": "red", "old": "1"}}))
	made.Private = nil
	made = b.apply(made, with(busybox, values{"metadata": values{"team": "red"}}))
	same(t, "live", b.own(), map[string]string{"team": "red"})
	b.apply(made, with(busybox, values{"metadata": values{"team": "blue"}}))
	same(t, "live after one more change", b.own(), map[string]string{"team": "blue"})
}
