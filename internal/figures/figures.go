// Package figures shows what a test has tried, which the test program itself tells only with -v: make prints it after a run.
package figures

import (
	"os"
	"path/filepath"
	"testing"
)

// Directory is the environment variable that names the folder for files of figures, one a name; where it is empty, none is
// written. (A result that go test has cached leaves the file of the run that it comes from.)
const Directory = "FIGURES"

// Tell logs a text, and writes it where make finds it.
func Tell(t *testing.T, name, text string) {
	t.Helper()
	t.Log(text)
	dir := os.Getenv(Directory)
	if dir == "" {
		return
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Error(err)
		return
	}
	if err := os.WriteFile(filepath.Join(dir, name+".txt"), []byte(text+"\n"), 0o600); err != nil {
		t.Error(err)
	}
}
