package fields

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentenv/terraform-provider-gpuvm/internal/wholenumber"
)

type Source struct {
	Image types.String `tfsdk:"image"`
}

type model struct {
	Source

	TTL    wholenumber.Value `tfsdk:"ttl"`
	Labels types.Map         `tfsdk:"labels"`
}

// schema has the types of the model's attributes.
type schema map[string]attr.Type

func (s schema) Type() attr.Type { return types.ObjectType{AttrTypes: s} }

func object(ttl any) (schema, tftypes.Value) {
	kinds := schema{"image": types.StringType, "ttl": wholenumber.Type{}, "labels": types.MapType{ElemType: types.StringType}}
	texts := tftypes.Map{ElementType: tftypes.String}
	wire := tftypes.Object{AttributeTypes: map[string]tftypes.Type{"image": tftypes.String, "ttl": tftypes.Number, "labels": texts}}
	return kinds, tftypes.NewValue(wire, map[string]tftypes.Value{
		"image": tftypes.NewValue(tftypes.String, "client"), "ttl": tftypes.NewValue(tftypes.Number, ttl),
		"labels": tftypes.NewValue(texts, map[string]tftypes.Value{"a": tftypes.NewValue(tftypes.String, "b")}),
	})
}

func TestAModelIsFilled(t *testing.T) {
	t.Parallel()
	kinds, raw := object(60)
	var m model
	if diags := Get(t.Context(), kinds, raw, &m); diags.HasError() {
		t.Fatal(diags)
	}
	if m.Image.ValueString() != "client" || m.TTL.ValueInt64() != 60 || len(m.Labels.Elements()) != 1 {
		t.Errorf("got %+v", m)
	}
	other := m
	if !Same(m, other) {
		t.Error("a copy isn't the same")
	}
	if other.Image = types.StringValue("desktop"); Same(m, other) {
		t.Error("another image is the same")
	}
}

func TestWhatIsWrongWithAValueIsTold(t *testing.T) {
	t.Parallel()
	kinds, raw := object(60.5)
	var m model
	if diags := Get(t.Context(), kinds, raw, &m); !diags.HasError() || diags[0].Summary() != "Not a whole number" {
		t.Errorf("got %v", diags)
	}
	for title, wrong := range map[string]tftypes.Value{
		"null":    tftypes.NewValue(raw.Type(), nil),
		"unknown": tftypes.NewValue(raw.Type(), tftypes.UnknownValue),
	} {
		if diags := Get(t.Context(), kinds, wrong, &m); !diags.HasError() {
			t.Errorf("%s: no error", title)
		}
	}
	kinds["image"] = types.BoolType
	if diags := Get(t.Context(), kinds, raw, &m); !diags.HasError() {
		t.Error("an attribute of another type: no error")
	}
}

func TestAnUnknownNameIsNotNull(t *testing.T) {
	t.Parallel()
	kinds, raw := object(nil)
	o, ok := Of(raw, kinds)
	if !ok || !o.IsNull("ttl") || o.IsNull("labels") || o.IsNull("lables") || o.Text("image") != "client" || o.Text("ttl") != "" {
		t.Errorf("got %v", o)
	}
}
