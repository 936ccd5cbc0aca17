package acctest

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// own is what an example says of the provider for itself: where it comes from, and that it takes its settings from the
// environment.
var own = regexp.MustCompile(`(?s)^terraform \{.*?\n\}\n|\nprovider "[a-z]+" \{\}\n`)

// Example is an example's configuration, by its file's path under examples/, with another provider block.
func Example(t *testing.T, file, providerBlock string) string {
	t.Helper()
	return providerBlock + own.ReplaceAllString(readExample(t, file), "")
}

func readExample(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root(), "examples", filepath.FromSlash(file)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// ActionExample is the type and the configuration of the action in an example. Whatever isn't a literal is Unknown.
func ActionExample(t *testing.T, file string) (action string, config Values) {
	t.Helper()
	parsed, diags := hclsyntax.ParseConfig([]byte(readExample(t, file)), file, hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	body, ok := parsed.Body.(*hclsyntax.Body)
	if !ok {
		t.Fatalf("%s has no blocks", file)
	}
	for _, block := range body.Blocks {
		if block.Type == "action" {
			return block.Labels[0], literals(t, block.Body.Blocks[0].Body)
		}
	}
	t.Fatalf("%s has no action", file)
	return "", nil
}

func literals(t *testing.T, body *hclsyntax.Body) Values {
	t.Helper()
	values := Values{}
	for name, attribute := range body.Attributes {
		value, diags := attribute.Expr.Value(nil)
		switch {
		case diags.HasErrors() || !value.IsWhollyKnown():
			values[name] = Unknown
		case value.Type() == cty.String:
			values[name] = value.AsString()
		case value.Type() == cty.Number:
			number, _ := value.AsBigFloat().Float64()
			values[name] = number
		default:
			t.Fatalf("%s: a literal of type %s isn't read yet", name, value.Type().FriendlyName())
		}
	}
	return values
}
