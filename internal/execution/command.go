// Package execution is running a command in a machine for a user, as the exec resources and the exec actions of both
// providers do: what the user says of it, how it counts as success, what is kept of it, and what is told while it runs.
package execution

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentenv/terraform-provider-gpuvm/internal/wholenumber"
)

// Command is what a user wants run: one of Argv and Script, and the exit codes that count as success.
type Command struct {
	Argv              types.List   `tfsdk:"argv"`
	Script            types.String `tfsdk:"script"`
	ExpectedExitCodes types.Set    `tfsdk:"expected_exit_codes"`
}

// Check refuses a command that can't be meant. What isn't known yet passes.
func (c Command) Check(diags *diag.Diagnostics) {
	argv, script := !c.Argv.IsNull(), !c.Script.IsNull()
	unknown := c.Argv.IsUnknown() || c.Script.IsUnknown()
	switch {
	case argv && script && !unknown:
		diags.AddAttributeError(path.Root("script"), "Command is given twice", "Give either argv or script; here are both.")
	case !argv && !script:
		diags.AddAttributeError(path.Root("argv"), "Command is missing", "Give either argv, a command with its arguments, or script; here is neither.")
	case script && !c.Script.IsUnknown() && c.Script.ValueString() == "":
		diags.AddAttributeError(path.Root("script"), "Script is empty", "There is nothing to run. Give the script a text, or leave out what is to run it.")
	}
	if argv && !c.Argv.IsUnknown() {
		checkArgv(c.Argv, diags)
	}
	if codes := c.ExpectedExitCodes; !codes.IsNull() && !codes.IsUnknown() && len(codes.Elements()) == 0 {
		diags.AddAttributeError(path.Root("expected_exit_codes"), "No exit code is expected", "With an empty set no command could ever succeed. Name at least one exit code, or leave the attribute out, which expects 0.")
	}
}

func checkArgv(argv types.List, diags *diag.Diagnostics) {
	at := path.Root("argv")
	if len(argv.Elements()) == 0 {
		diags.AddAttributeError(at, "Command is empty", "argv takes the program and then its arguments, such as [\"systemctl\", \"restart\", \"client\"]; here is no element.")
	}
	for i, element := range argv.Elements() {
		word, _ := element.(types.String)
		switch {
		case word.IsUnknown():
		case word.IsNull():
			diags.AddAttributeError(at.AtListIndex(i), "Argument is null", "Give it a text, which may be empty, or leave it out of the list.")
		case i == 0 && word.ValueString() == "":
			diags.AddAttributeError(at.AtListIndex(i), "Command is empty", "The first element of argv names the program to run.")
		}
	}
}

// IsScript says which of the two forms the command has.
func (c Command) IsScript() bool { return !c.Script.IsNull() }

// Words is a command of the form argv.
func (c Command) Words() []string {
	var words []string
	for _, element := range c.Argv.Elements() {
		if word, ok := element.(types.String); ok {
			words = append(words, word.ValueString())
		}
	}
	return words
}

// at is the attribute that an error of the command belongs to.
func (c Command) at() path.Path {
	if c.IsScript() {
		return path.Root("script")
	}
	return path.Root("argv")
}

// noun is how a message calls the command. What it holds isn't told: a command line may carry what isn't meant for logs.
func (c Command) noun() string {
	if c.IsScript() {
		return "script"
	}
	return "command"
}

// expected is the exit codes that count as success, in order.
func (c Command) expected() []int64 {
	var codes []int64
	for _, element := range c.ExpectedExitCodes.Elements() {
		if code, ok := element.(wholenumber.Value); ok {
			codes = append(codes, code.ValueInt64())
		}
	}
	if len(codes) == 0 {
		return []int64{0}
	}
	slices.Sort(codes)
	return codes
}

// judge is an *ExitError where the command ended otherwise than the user expects.
func (c Command) judge(in string, e Ended) error {
	expected := c.expected()
	if slices.Contains(expected, int64(e.ExitCode)) {
		return nil
	}
	return &ExitError{Noun: c.noun(), In: in, Ended: e, Expected: expected}
}

func capitalised(noun string) string { return strings.ToUpper(noun[:1]) + noun[1:] }

func list(codes []int64) string {
	words := make([]string, len(codes))
	for i, code := range codes {
		words[i] = fmt.Sprint(code)
	}
	return strings.Join(words, ", ")
}
