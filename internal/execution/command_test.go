package execution

import (
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentenv/terraform-provider-gpuvm/internal/wholenumber"
)

func words(texts ...string) types.List {
	var elements []attr.Value
	for _, text := range texts {
		elements = append(elements, types.StringValue(text))
	}
	return types.ListValueMust(types.StringType, elements)
}

func codes(numbers ...int64) types.Set {
	elements := []attr.Value{}
	for _, number := range numbers {
		elements = append(elements, wholenumber.Of(number))
	}
	return types.SetValueMust(wholenumber.Type{}, elements)
}

func TestCheckRefusesWhatCantBeMeant(t *testing.T) {
	t.Parallel()
	var (
		noArgv, someArgv  = types.ListNull(types.StringType), types.ListUnknown(types.StringType)
		noText, someText  = types.StringNull(), types.StringUnknown()
		noCodes, anyCodes = types.SetNull(wholenumber.Type{}), types.SetUnknown(wholenumber.Type{})
	)
	for name, test := range map[string]struct {
		command Command
		says    string // "" where it passes
	}{
		"argv":                          {Command{words("ls", "-l", ""), noText, noCodes}, ""},
		"script":                        {Command{noArgv, types.StringValue("ls"), codes(0, 1)}, ""},
		"neither":                       {Command{noArgv, noText, noCodes}, "here is neither"},
		"both":                          {Command{words("ls"), types.StringValue("ls"), noCodes}, "here are both"},
		"both, one empty":               {Command{words("ls"), types.StringValue(""), noCodes}, "here are both"},
		"empty script":                  {Command{noArgv, types.StringValue(""), noCodes}, "Script is empty"},
		"empty argv":                    {Command{words(), noText, noCodes}, "here is no element"},
		"empty program":                 {Command{words("", "-l"), noText, noCodes}, "names the program"},
		"null argument":                 {Command{types.ListValueMust(types.StringType, []attr.Value{types.StringValue("ls"), noText}), noText, noCodes}, "Argument is null"},
		"unknown argument":              {Command{types.ListValueMust(types.StringType, []attr.Value{someText}), noText, noCodes}, ""},
		"unknown argv":                  {Command{someArgv, noText, noCodes}, ""},
		"unknown argv beside a script":  {Command{someArgv, types.StringValue("ls"), noCodes}, ""},
		"unknown script":                {Command{noArgv, someText, noCodes}, ""},
		"unknown script beside an argv": {Command{words("ls"), someText, noCodes}, ""},
		"both unknown":                  {Command{someArgv, someText, anyCodes}, ""},
		"no code":                       {Command{words("ls"), noText, codes()}, "no command could ever succeed"},
		"zero value":                    {Command{}, "here is neither"},
	} {
		var diags diag.Diagnostics
		test.command.Check(&diags)
		switch {
		case test.says == "" && diags.HasError():
			t.Errorf("%s: refused: %v", name, diags)
		case test.says != "" && len(diags) != 1:
			t.Errorf("%s: %d diagnostics, want 1: %v", name, len(diags), diags)
		case test.says != "" && !strings.Contains(diags[0].Summary()+" "+diags[0].Detail(), test.says):
			t.Errorf("%s: %q doesn't say %q", name, diags[0].Detail(), test.says)
		}
	}
}

func TestWhatCountsAsSuccess(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		expected types.Set
		exit     int
		want     string // "" is success
	}{
		"default":            {types.SetNull(wholenumber.Type{}), 0, ""},
		"default, failed":    {types.SetNull(wholenumber.Type{}), 1, "ended with exit code 1; expected: 0."},
		"one of several":     {codes(3, 0), 3, ""},
		"none of several":    {codes(3, 0), 2, "ended with exit code 2; expected: 0, 3."},
		"zero not expected":  {codes(1), 0, "ended with exit code 0; expected: 1."},
		"ended by a signal":  {codes(0), -9, "ended with exit code -9; expected: 0."},
		"a signal, expected": {codes(-9), -9, ""},
	} {
		err := Command{Argv: words("x"), Script: types.StringNull(), ExpectedExitCodes: test.expected}.judge("vm-1", Ended{ExitCode: test.exit})
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: got %v, want %q", name, err, test.want)
		}
	}
}
