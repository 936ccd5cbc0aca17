package conformance

import (
	"fmt"
	"strings"
)

// Verdict is what came of one check.
type Verdict int

// The verdicts.
const (
	OK         Verdict = iota // as the contract says
	Fail                      // not so
	NotOffered                // something that a service may add, and this one doesn't
	NotChecked                // left out: Text says why
)

// verdictNames are as wide as the widest, so that what follows stands in a column.
var verdictNames = map[Verdict]string{
	OK: "ok         ", Fail: "FAIL       ", NotOffered: "not offered", NotChecked: "not checked",
}

func (v Verdict) String() string { return strings.TrimSpace(verdictNames[v]) }

// Line is what is reported of one check.
type Line struct {
	Verdict  Verdict
	Name     string
	Asked    string // the request that the verdict rests on
	Came     string // its answer
	Contract string // what the contract says
	Text     string // what is wrong, or is to be known
}

const indent = "             "

// String writes one line, and for a failure those that explain it.
func (l Line) String() string {
	head := verdictNames[l.Verdict] + "  " + l.Name
	switch l.Verdict {
	case Fail:
		head += ": " + l.Text
		for _, detail := range [][2]string{{"asked", l.Asked}, {"came", l.Came}, {"contract", l.Contract}} {
			if detail[1] != "" {
				head += fmt.Sprintf("\n%s%-8s  %s", indent, detail[0], detail[1])
			}
		}
		return head
	case OK:
		if l.Asked != "" {
			asked := strings.Fields(l.Asked)
			status, _, _ := strings.Cut(l.Came, " ")
			head += fmt.Sprintf("  (%s: %s)", strings.Join(asked[:min(2, len(asked))], " "), status) // without the bodies
		}
	case NotOffered, NotChecked:
	}
	if l.Text != "" {
		head += ": " + l.Text
	}
	return head
}

// Report is what came of a whole check.
type Report struct {
	Lines       []Line
	Left        []string // machines that may still stand, and why
	Interrupted bool     // not all was checked
}

// Conforms says whether everything that was checked is as the contract says.
func (r Report) Conforms() bool {
	return r.count(Fail) == 0 && len(r.Left) == 0 && !r.Interrupted
}

func (r Report) count(v Verdict) int {
	n := 0
	for _, line := range r.Lines {
		if line.Verdict == v {
			n++
		}
	}
	return n
}

// Summary is the report's last words.
func (r Report) Summary() string {
	var b strings.Builder
	for _, left := range r.Left {
		fmt.Fprintf(&b, "LEFT BEHIND: %s\n", left)
	}
	fmt.Fprintf(&b, "%d ok, %d FAIL, %d not offered, %d not checked: ", r.count(OK), r.count(Fail), r.count(NotOffered), r.count(NotChecked))
	switch {
	case r.Interrupted:
		b.WriteString("the check was interrupted")
	case r.count(Fail) > 0:
		b.WriteString("the service doesn't keep the contract")
	case len(r.Left) > 0:
		b.WriteString("the service holds machines that it should not")
	default:
		b.WriteString("the service keeps the contract, as far as was checked")
	}
	return b.String()
}
