package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestDifferencesAreFoundAndAdopted(t *testing.T) {
	t.Parallel()
	rendered := tree(t, map[string]string{"index.md": "new", "resources/a.md": "same", "actions/b.md": "added"})
	committed := tree(t, map[string]string{
		"index.md": "old", "resources/a.md": "same", "guides/gone.md": "no longer rendered", "other/index.md": "another provider's",
	})
	differences, err := compare(rendered, committed)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"actions/b.md", "guides/gone.md", "index.md"}; !slices.Equal(differences, want) {
		t.Errorf("differences %v, want %v", differences, want)
	}
	for _, name := range differences {
		if err := adopt(rendered, committed, name); err != nil {
			t.Fatal(err)
		}
	}
	if differences, err = compare(rendered, committed); err != nil || len(differences) > 0 {
		t.Errorf("still different: %v (%v)", differences, err)
	}
	if _, err := os.Stat(filepath.Join(committed, "other", "index.md")); err != nil {
		t.Errorf("another provider's page was touched: %v", err)
	}
}
