package examples

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// kinds are the files that an example may hold, and what becomes of each. Anything else fails the tests.
var kinds = []string{"*.tf", "import.sh", "*.tfquery.hcl", "tests/*.tftest.hcl"}

// TestEveryExampleIsInTheTable: nothing under examples/ is left out without a word.
func TestEveryExampleIsInTheTable(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	err := fs.WalkDir(os.DirFS(filepath.Join(root, "examples")), ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		folder, name := path.Split(file)
		folder = strings.TrimSuffix(folder, "/")
		if path.Base(folder) == "tests" {
			folder, name = path.Dir(folder), "tests/"+name
		}
		if _, known := table[folder]; !known {
			t.Errorf("examples/%s: the folder isn't in the table that says how each example is tested", file)
		}
		if !slices.ContainsFunc(kinds, func(kind string) bool { matches, _ := path.Match(kind, name); return matches }) {
			t.Errorf("examples/%s: nothing tests a file of that kind", file)
		}
		seen[folder] = true
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for folder := range table {
		if !seen[folder] {
			t.Errorf("examples/%s is in the table, and doesn't exist", folder)
		}
	}
}

func TestAccExamples(t *testing.T) {
	t.Parallel()
	for folder, e := range table {
		t.Run(folder, func(t *testing.T) {
			t.Parallel()
			newStage(t, e).play(folder, e)
		})
	}
}

// play runs one example from an empty service to an empty service.
func (s *stage) play(folder string, e example) {
	t := s.t
	t.Helper()
	var before *configuration
	if e.before != "" {
		before = s.open(e.before)
		_, outputs := before.must("apply", "-auto-approve", "-input=false")
		s.addOutputs(outputs)
	}
	if e.prepare != nil {
		for name, value := range e.prepare(t, s) {
			s.variables[name] = value
		}
	}
	c := s.open(folder)
	c.must("apply", "-auto-approve", "-input=false")
	c.planAgain(e)
	c.invokeActions(e)
	c.runLists()
	c.importObjects()
	c.must("destroy", "-auto-approve", "-input=false")
	if len(glob(t, c.from, "tests/*.tftest.hcl")) > 0 {
		c.text("test")
	}
	for _, cleanUp := range s.cleanUps {
		if err := cleanUp(); err != nil {
			t.Error(err)
		}
	}
	if before != nil {
		before.must("destroy", "-auto-approve", "-input=false")
	}
	if held := s.holds(); held != "" {
		t.Errorf("after the destroy the services hold %s", held)
	}
}

// planAgain: what was just applied isn't changed by the next plan, unless the example means to do something in every apply.
func (c *configuration) planAgain(e example) {
	t := c.stage.t
	t.Helper()
	if e.always == "" {
		if _, _, err := c.run("plan", "-detailed-exitcode", "-input=false"); err != nil {
			t.Errorf("the next plan has changes, or fails: %v", err)
		}
		return
	}
	// plantimestamp() counts whole seconds: a plan in the second of the apply has no change yet.
	for range 10 {
		if changes, _ := c.must("plan", "-input=false"); changes.Add > 0 {
			return
		}
	}
	t.Errorf("the plan stays empty, although %s", e.always)
}
