package upload

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentenv/terraform-provider-gpuvm/internal/wholenumber"
)

const hello = "hello\n"

// values are those of some attributes; all others are null.
type values map[string]any

var unknown = tftypes.UnknownValue

func object(set values) tftypes.Value {
	of := map[string]tftypes.Type{
		"content": tftypes.String, "content_base64": tftypes.String, "content_wo": tftypes.String, "content_wo_version": tftypes.Number,
		"source": tftypes.String, "sha256": tftypes.String,
	}
	all := map[string]tftypes.Value{}
	for name, kind := range of {
		all[name] = tftypes.NewValue(kind, set[name])
	}
	return tftypes.NewValue(tftypes.Object{AttributeTypes: of}, all)
}

// plan is what a plan makes of a configuration and a state (nil where there is none), and its errors.
func planned(t *testing.T, state, config values) (sha256 types.String, diags diag.Diagnostics) {
	t.Helper()
	shape := schema.Schema{Attributes: SoleAttributes()}
	raw := object(config)
	var before tftypes.Value
	if state == nil {
		before = tftypes.NewValue(raw.Type(), nil)
	} else {
		before = object(state)
	}
	proposed := values{}
	for name, value := range config {
		proposed[name] = value
	}
	proposed["content_wo"], proposed["sha256"] = nil, unknown // as the framework proposes
	req := resource.ModifyPlanRequest{
		State:  tfsdk.State{Raw: before, Schema: shape},
		Config: tfsdk.Config{Raw: raw, Schema: shape},
		Plan:   tfsdk.Plan{Raw: object(proposed), Schema: shape},
	}
	resp := resource.ModifyPlanResponse{Plan: req.Plan}
	var sole Sole
	resp.Diagnostics.Append(req.Config.Get(t.Context(), &sole)...)
	PlanSole(t.Context(), req, &resp, sole)
	resp.Diagnostics.Append(resp.Plan.GetAttribute(t.Context(), path.Root("sha256"), &sha256)...)
	return sha256, resp.Diagnostics
}

func TestWhichPlanUploads(t *testing.T) {
	t.Parallel()
	local := filepath.Join(t.TempDir(), "hello.txt")
	if err := os.WriteFile(local, []byte(hello), 0o600); err != nil {
		t.Fatal(err)
	}
	was := Hash([]byte(hello))
	for name, test := range map[string]struct {
		state, config values
		uploads       bool
	}{
		"new":                           {nil, values{"content": hello}, true},
		"new, write-only":               {nil, values{"content_wo": "secret"}, true},
		"same content":                  {values{"content": hello, "sha256": was}, values{"content": hello}, false},
		"same, empty":                   {values{"content": "", "sha256": Hash(nil)}, values{"content": ""}, false},
		"other content":                 {values{"content": hello, "sha256": was}, values{"content": "bye"}, true},
		"emptied":                       {values{"content": hello, "sha256": was}, values{"content": ""}, true},
		"unknown content":               {values{"content": hello, "sha256": was}, values{"content": unknown}, true},
		"same bytes from base64":        {values{"content": hello, "sha256": was}, values{"content_base64": "aGVsbG8K"}, false},
		"other bytes from base64":       {values{"content": hello, "sha256": was}, values{"content_base64": "aGVsbG8="}, true},
		"same bytes from a local file":  {values{"content": hello, "sha256": was}, values{"source": local}, false},
		"changed local file":            {values{"source": local, "sha256": Hash([]byte("older"))}, values{"source": local}, true},
		"unchanged local file":          {values{"source": local, "sha256": was}, values{"source": local}, false},
		"unknown local file":            {values{"source": local, "sha256": was}, values{"source": unknown}, true},
		"changed in the machine":        {values{"content": hello, "sha256": Hash([]byte("edited"))}, values{"content": hello}, true},
		"doubtful":                      {values{"content": hello}, values{"content": hello}, true},
		"write-only, same version":      {values{"content_wo_version": 1}, values{"content_wo": "other", "content_wo_version": 1}, false},
		"write-only, no version":        {values{}, values{"content_wo": "other"}, false},
		"write-only, unknown":           {values{"content_wo_version": 1}, values{"content_wo": unknown, "content_wo_version": 1}, false},
		"write-only, new version":       {values{"content_wo_version": 1}, values{"content_wo": "other", "content_wo_version": 2}, true},
		"write-only, unknown version":   {values{"content_wo_version": 1}, values{"content_wo": "other", "content_wo_version": unknown}, true},
		"write-only, doubtful":          {values{}, values{"content_wo": "other", "content_wo_version": 2}, true},
		"from content to write-only":    {values{"content": hello, "sha256": was}, values{"content_wo": hello}, true},
		"from write-only to content":    {values{"content_wo_version": 1}, values{"content": hello}, true},
		"from write-only to no content": {values{"content_wo_version": 1}, values{"content": ""}, true},
	} {
		sha256, diags := planned(t, test.state, test.config)
		if diags.HasError() {
			t.Errorf("%s: %v", name, diags)
		}
		if sha256.IsUnknown() != test.uploads {
			t.Errorf("%s: sha256 is planned as %s, want an upload: %t", name, sha256, test.uploads)
		}
		if was, _ := test.state["sha256"].(string); !test.uploads && sha256.ValueString() != was {
			t.Errorf("%s: sha256 is planned as %s, and was %q", name, sha256, was)
		}
	}
}

func TestMissingSourceIsAnErrorOfThePlan(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(t.TempDir(), "missing")
	for name, state := range map[string]values{"new": nil, "standing": {"source": missing, "sha256": "x"}} {
		_, diags := planned(t, state, values{"source": missing})
		if !diags.HasError() || !strings.Contains(diags[0].Detail(), "no such file") {
			t.Errorf("%s: %v", name, diags)
		}
	}
	if _, diags := planned(t, nil, values{"source": unknown}); diags.HasError() {
		t.Errorf("an unknown path: %v", diags)
	}
}

func TestExactlyOneContent(t *testing.T) {
	t.Parallel()
	text, unknown := types.StringValue("x"), types.StringUnknown()
	for name, test := range map[string]struct {
		sole Sole
		says string
	}{
		"one":                 {Sole{Content: text}, ""},
		"an empty one":        {Sole{Content: types.StringValue("")}, ""},
		"none":                {Sole{}, "this one has none"},
		"two":                 {Sole{ContentWO: text, Source: text}, "this one has content_wo and source"},
		"one, one unknown":    {Sole{Content: text, Source: unknown}, ""},
		"unknown":             {Sole{ContentWO: unknown}, ""},
		"two and one unknown": {Sole{Content: text, ContentBase64: text, Source: unknown}, "content and content_base64"},
	} {
		var diags diag.Diagnostics
		test.sole.Check(&diags)
		if diags.HasError() != (test.says != "") || test.says != "" && !strings.Contains(diags[0].Detail(), test.says) {
			t.Errorf("%s: %v", name, diags)
		}
	}
}

func TestWhatIsNotedOfAnUpload(t *testing.T) {
	t.Parallel()
	var sole Sole
	sole.Uploaded(Sole{Content: types.StringValue(hello)}, []byte(hello))
	if sole.SHA256.ValueString() != "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03" {
		t.Errorf("sha256 %s", sole.SHA256)
	}
	sole.Uploaded(Sole{ContentWO: types.StringValue(hello)}, []byte(hello))
	if !sole.SHA256.IsNull() {
		t.Errorf("the hash of a write-only content is kept: %s", sole.SHA256)
	}

	sole = Sole{SHA256: types.StringValue("x"), ContentWOVersion: wholenumber.Of(1)}
	sole.Doubtful(Sole{ContentWOVersion: wholenumber.Of(2)})
	if !sole.SHA256.IsNull() || !sole.ContentWOVersion.IsNull() {
		t.Errorf("a failed upload leaves %v", sole)
	}
	sole = Sole{ContentWOVersion: wholenumber.Of(1)}
	sole.Doubtful(Sole{})
	if sole.ContentWOVersion.ValueInt64() != 1 {
		t.Errorf("a failed upload without a version leaves %v", sole)
	}
}
