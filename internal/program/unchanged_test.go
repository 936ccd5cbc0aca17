package program

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/faults"
	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/gpuvm"
	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/opensandbox"
	providers "github.com/agentenv/terraform-provider-gpuvm/internal/provider"
	"github.com/agentenv/terraform-provider-gpuvm/internal/terraformcore"
	"github.com/agentenv/terraform-provider-gpuvm/internal/unchanged"
)

// asked records which calls the framework gets.
type asked struct {
	Server
	calls []string
}

func (a *asked) UpgradeResourceState(ctx context.Context, req *tfprotov6.UpgradeResourceStateRequest) (*tfprotov6.UpgradeResourceStateResponse, error) {
	a.calls = append(a.calls, "upgrade")
	return a.Server.UpgradeResourceState(ctx, req)
}

func (a *asked) ReadResource(ctx context.Context, req *tfprotov6.ReadResourceRequest) (*tfprotov6.ReadResourceResponse, error) {
	a.calls = append(a.calls, "read")
	return a.Server.ReadResource(ctx, req)
}

func (a *asked) PlanResourceChange(ctx context.Context, req *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	a.calls = append(a.calls, "plan")
	return a.Server.PlanResourceChange(ctx, req)
}

// side is a provider, its service and an object.
type side struct {
	name     string
	provider provider.Provider
	settings map[string]any
	object   map[string]any
	setting  string               // of the object, that has a default
	back     terraformcore.Action // what becomes of the object with the default
	faults   *faults.Set
	change   func(t *testing.T, id string) // of the object, from outside
	after    []string                      // what the framework is asked then
}

func sides(t *testing.T) []side {
	t.Helper()
	vms, sandboxes := gpuvm.New(gpuvm.Options{Token: "t"}), opensandbox.New(opensandbox.Options{})
	vmServer, sandboxServer := httptest.NewServer(vms), httptest.NewServer(sandboxes)
	t.Cleanup(vmServer.Close)
	t.Cleanup(sandboxServer.Close)
	return []side{
		{
			"gpuvm_instance", providers.GPUVM("test")(), map[string]any{"base_url": vmServer.URL, "api_token": "t"},
			map[string]any{"image": "client", "cpu": 2, "labels": map[string]any{"a": "b"}}, "cpu", terraformcore.Replace, vms.Faults(),
			func(_ *testing.T, id string) { vms.Fail(id, "the host is lost") }, []string{"read", "plan"},
		},
		{
			"opensandbox_sandbox", providers.OpenSandbox("test")(),
			map[string]any{"domain": sandboxServer.URL, "probe": map[string]any{"command": ""}},
			map[string]any{"image": "busybox", "ready_timeout_seconds": 30, "metadata": map[string]any{"a": "b"}}, "ready_timeout_seconds", terraformcore.Update, sandboxes.Faults(),
			func(t *testing.T, id string) {
				t.Helper()
				request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, sandboxServer.URL+"/v1/sandboxes/"+id+"/pause", http.NoBody)
				if err != nil {
					t.Fatal(err)
				}
				answer, err := http.DefaultClient.Do(request)
				if err != nil || answer.StatusCode/100 != 2 {
					t.Fatal(answer, err)
				}
				_ = answer.Body.Close()
			}, []string{"read"},
		},
	}
}

// begin makes the object. What the framework is asked from then on is recorded.
func (s side) begin(t *testing.T) (*server, *asked, *terraformcore.Provider, *terraformcore.Object) {
	t.Helper()
	server := newServer(s.provider)
	framework := &asked{Server: server.Server}
	server.Server = framework
	schemas, err := terraformcore.SchemasOf(t.Context(), server)
	if err != nil {
		t.Fatal(err)
	}
	core := terraformcore.Start(server, schemas)
	if report := core.Configure(t.Context(), s.settings); report.Failed() {
		t.Fatal(report)
	}
	made := core.Up(t.Context(), s.name, nil, s.object, s.object)
	if made.Failed() {
		t.Fatal(made)
	}
	framework.calls = nil
	return server, framework, core, made.Object
}

func TestTheFrameworkIsAskedOnlyWhereSomethingChanges(t *testing.T) {
	t.Parallel()
	for _, s := range sides(t) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			_, framework, core, object := s.begin(t)
			without := maps.Clone(s.object)
			delete(without, s.setting)
			other := maps.Clone(s.object)
			other["image"] = "other"
			for _, step := range []struct {
				title  string
				before func()
				config map[string]any
				action terraformcore.Action
				asked  []string
			}{
				{"the first plan asks for the defaults", func() {}, s.object, terraformcore.NoOp, []string{"plan"}},
				{"nothing changed", func() {}, s.object, terraformcore.NoOp, nil},
				{"back to a default", func() {}, without, s.back, []string{"plan"}},
				{"another image", func() {}, other, terraformcore.Replace, []string{"plan"}},
				{"changed outside", func() { s.change(t, object.ID()) }, s.object, "", s.after},
			} {
				step.before()
				framework.calls = nil
				s.faults.Reset()
				planned := core.Preview(t.Context(), s.name, object, step.config)
				if planned.Failed() {
					t.Fatalf("%s: %v", step.title, planned)
				}
				calls := slices.Compact(framework.calls) // what replaces is planned a second time, as for a new object
				if !slices.Equal(calls, step.asked) {
					t.Errorf("%s: the framework was asked %v, want %v", step.title, calls, step.asked)
				}
				if got := planned.Change.Action; step.action != "" && got != step.action {
					t.Errorf("%s: it plans %s, want %s", step.title, got, step.action)
				}
				if requests := s.faults.Requests(); len(requests) != 1 {
					t.Errorf("%s: %d requests for one refresh: %v", step.title, len(requests), requests)
				}
			}
		})
	}
}

// panicking is a resource that can't tell whether something changed.
type panicking struct{ unchanged.Resource }

func (panicking) Look(context.Context, unchanged.Object) (context.Context, bool) { panic("look") }

func (panicking) Settled(context.Context, unchanged.Object) bool { panic("settled") }

func TestAPanicOverAnUnchangedObjectEndsNothing(t *testing.T) {
	t.Parallel()
	for _, s := range sides(t) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			server, framework, core, object := s.begin(t)
			f := server.shortcutOf(s.name)
			f.resource = panicking{f.resource}
			if out := core.Preview(t.Context(), s.name, object, s.object); out.Failed() || out.Change.Action != terraformcore.NoOp {
				t.Error(out)
			}
			if want := []string{"read", "plan"}; !slices.Equal(slices.Compact(framework.calls), want) {
				t.Errorf("the framework was asked %v, want %v", framework.calls, want)
			}
		})
	}
}

func TestAStateOfAnotherFormIsTheFrameworks(t *testing.T) {
	t.Parallel()
	kind := tftypes.Object{AttributeTypes: map[string]tftypes.Type{
		"id": tftypes.String, "ttl": tftypes.Number, "paused": tftypes.Bool, "ports": tftypes.Set{ElementType: tftypes.Number},
		"labels": tftypes.Map{ElementType: tftypes.String},
		"volume": tftypes.List{ElementType: tftypes.Object{AttributeTypes: map[string]tftypes.Type{"name": tftypes.String}}},
	}}
	whole := map[string]any{
		"id": "x", "ttl": 60, "paused": nil, "ports": []any{80}, "labels": map[string]any{"a": "b"}, "volume": []any{map[string]any{"name": "v"}},
	}
	for title, c := range map[string]struct {
		change func(map[string]any)
		own    bool
	}{
		"as it is":                         {func(map[string]any) {}, true},
		"an attribute is null":             {func(m map[string]any) { m["ports"] = nil }, true},
		"an attribute is missing":          {func(m map[string]any) { delete(m, "paused") }, false},
		"an attribute too many":            {func(m map[string]any) { m["was"] = "removed" }, false},
		"an attribute of another type":     {func(m map[string]any) { m["ttl"] = "60" }, false},
		"an element of another type":       {func(m map[string]any) { m["ports"] = []any{"80"} }, false},
		"a label of another type":          {func(m map[string]any) { m["labels"] = map[string]any{"a": 1} }, false},
		"a repeated block is null":         {func(m map[string]any) { m["volume"] = nil }, false},
		"a block with an attribute more":   {func(m map[string]any) { m["volume"] = []any{map[string]any{"name": "v", "size": 1}} }, false},
		"a block is no list":               {func(m map[string]any) { m["volume"] = map[string]any{} }, false},
		"an object is a text":              {func(m map[string]any) { m["volume"] = []any{"v"} }, false},
		"a number that floats can't count": {func(m map[string]any) { m["ttl"] = json.Number("123456789012345678901") }, true},
	} {
		state := maps.Clone(whole)
		c.change(state)
		text, err := json.Marshal(state)
		if err != nil {
			t.Fatal(err)
		}
		s := &server{}
		s.unchanged.Store(&map[string]*shortcut{"thing": {wireType: kind, version: 1}})
		answer := s.upgraded(&tfprotov6.UpgradeResourceStateRequest{TypeName: "thing", Version: 1, RawState: &tfprotov6.RawState{JSON: text}})
		if own := answer != nil; own != c.own {
			t.Errorf("%s: answered without the framework: %v, want %v", title, own, c.own)
		}
		if c.own && string(answer.UpgradedState.JSON) != string(text) {
			t.Errorf("%s: got %s", title, answer.UpgradedState.JSON)
		}
		if s.upgraded(&tfprotov6.UpgradeResourceStateRequest{TypeName: "thing", Version: 0, RawState: &tfprotov6.RawState{JSON: text}}) != nil {
			t.Errorf("%s: an older version's state is answered for", title)
		}
	}
}

// The shortcut knows neither plan modifiers, nor defaults of what can't be configured.
func TestNoUnchangedObjectWantsWhatOnlyTheFrameworkDoes(t *testing.T) {
	t.Parallel()
	for _, s := range sides(t) {
		server, _, _, _ := s.begin(t)
		var described resource.SchemaResponse
		server.shortcutOf(s.name).resource.Schema(t.Context(), resource.SchemaRequest{}, &described)
		for name, attribute := range described.Schema.Attributes {
			checkPlain(t, s.name+"."+name, attribute)
		}
		for name, block := range described.Schema.Blocks {
			checkPlain(t, s.name+"."+name, block)
		}
	}
}

func checkPlain(t *testing.T, name string, described any) {
	t.Helper()
	of := reflect.ValueOf(described)
	if modifiers := of.FieldByName("PlanModifiers"); modifiers.IsValid() && modifiers.Len() > 0 {
		t.Errorf("%s has plan modifiers", name)
	}
	fallback, optional := of.FieldByName("Default"), of.FieldByName("Optional")
	if fallback.IsValid() && !fallback.IsNil() && !optional.Bool() {
		t.Errorf("%s has a default, and can't be configured", name)
	}
	switch d := described.(type) {
	case schema.NestedAttribute:
		for inner, attribute := range d.GetNestedObject().GetAttributes() {
			checkPlain(t, name+"."+inner, attribute)
		}
	case schema.Block:
		for inner, attribute := range d.GetNestedObject().GetAttributes() {
			checkPlain(t, name+"."+inner, attribute)
		}
		for inner, block := range d.GetNestedObject().GetBlocks() {
			checkPlain(t, name+"."+inner, block)
		}
	}
}
