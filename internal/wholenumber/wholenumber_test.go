package wholenumber

import (
	"math/big"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr/xattr"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

func TestNumbersAreReadOrRefusedWithAReadableMessage(t *testing.T) {
	for text, want := range map[string]string{
		"8192": "", "-1": "", "0": "", "9223372036854775807": "",
		"8192.5": "8192.5 is not a whole number", "0.1": "0.1 is not a whole number", "1e30": "1e+30 is not a whole number",
		"9223372036854775808": "9223372036854775808 is not a whole number",
	} {
		number, _, err := big.ParseFloat(text, 10, 512, big.ToNearestEven)
		if err != nil {
			t.Fatal(err)
		}
		value, err := Type{}.ValueFromTerraform(t.Context(), tftypes.NewValue(tftypes.Number, number))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		var resp xattr.ValidateAttributeResponse
		value.(Value).ValidateAttribute(t.Context(), xattr.ValidateAttributeRequest{Path: path.Root("memory_mb")}, &resp)
		if want == "" && resp.Diagnostics.HasError() || want != "" && !resp.Diagnostics.HasError() {
			t.Errorf("%s: %v", text, resp.Diagnostics)
		}
		if want != "" && !strings.Contains(resp.Diagnostics[0].Detail(), want) {
			t.Errorf("%s: %q", text, resp.Diagnostics[0].Detail())
		}
	}
}

func TestNullAndUnknown(t *testing.T) {
	null, err := Type{}.ValueFromTerraform(t.Context(), tftypes.NewValue(tftypes.Number, nil))
	if err != nil || !null.Equal(Null()) {
		t.Errorf("null: %v, %v", null, err)
	}
	unknown, err := Type{}.ValueFromTerraform(t.Context(), tftypes.NewValue(tftypes.Number, tftypes.UnknownValue))
	if err != nil || !unknown.Equal(Unknown()) {
		t.Errorf("unknown: %v, %v", unknown, err)
	}
}
