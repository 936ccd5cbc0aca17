package terraformcore

import (
	"encoding/json"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// Diagnostic is what a provider tells the user.
type Diagnostic struct {
	Error           bool // else a warning
	Summary, Detail string
	Attribute       string // the path that it belongs to, or ""
	Terraforms      bool   // it is Terraform's own, not the provider's
}

// Exposure is something that a provider handed over.
type Exposure struct {
	Where string
	Text  string
}

// Report is what a step has come to, besides its object.
type Report struct {
	Diagnostics []Diagnostic
	// Faults are breaches of the protocol: what a user would see as "this is a bug in the provider", or as a crash.
	Faults []string
	// Kept is all that would be written into a state file or a plan file.
	Kept []Exposure
}

// Failed reports whether Terraform would stop here.
func (r *Report) Failed() bool { return len(r.Errors()) > 0 || len(r.Faults) > 0 }

// Errors are the diagnostics that are errors.
func (r *Report) Errors() []Diagnostic {
	var errors []Diagnostic
	for _, d := range r.Diagnostics {
		if d.Error {
			errors = append(errors, d)
		}
	}
	return errors
}

// String reads like the program's output.
func (r *Report) String() string {
	var lines []string
	for _, fault := range r.Faults {
		lines = append(lines, "FAULT OF THE PROVIDER: "+fault)
	}
	for _, d := range r.Diagnostics {
		severity := "Warning: "
		if d.Error {
			severity = "Error: "
		}
		lines = append(lines, severity+d.Summary+" ("+d.Attribute+")\n  "+strings.ReplaceAll(d.Detail, "\n", "\n  "))
	}
	return strings.Join(lines, "\n")
}

func (r *Report) fault(format string, values ...any) {
	r.Faults = append(r.Faults, fmt.Sprintf(format, values...))
}

func (r *Report) faults(what string, all []string) {
	for _, one := range all {
		r.fault("%s: %s", what, one)
	}
}

func (r *Report) add(diagnostics []*tfprotov6.Diagnostic) {
	for _, d := range diagnostics {
		told := Diagnostic{Error: d.Severity == tfprotov6.DiagnosticSeverityError, Summary: d.Summary, Detail: d.Detail}
		if d.Attribute != nil {
			told.Attribute = d.Attribute.String()
		}
		r.Diagnostics = append(r.Diagnostics, told)
	}
}

func (r *Report) keep(where string, v tftypes.Value) {
	encoded, err := json.Marshal(Plain(v))
	if err != nil {
		r.fault("%s can't be written as JSON: %v", where, err)
		return
	}
	r.Kept = append(r.Kept, Exposure{where, string(encoded)})
}

func (r *Report) keepPrivate(private []byte) {
	r.Kept = append(r.Kept, Exposure{"private state", string(private)})
}

// call makes a call of the protocol, and says whether it came back.
func (r *Report) call(name string, do func() error) (returned bool) {
	defer func() {
		if crash := recover(); crash != nil {
			r.fault("%s panicked: %v\n%s", name, crash, debug.Stack())
			returned = false
		}
	}()
	if err := do(); err != nil {
		r.fault("%s failed: %v", name, err)
		return false
	}
	return true
}
