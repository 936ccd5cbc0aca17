package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// managed is what tfplugindocs writes and clears; whatever else stands in a documentation folder (another provider's
// pages in docs/) isn't ours to compare or remove.
var managed = []string{
	"index.md", "actions", "data-sources", "ephemeral-resources", "functions", "guides", "list-resources", "resources",
}

// compare names the pages, with slashes and in order, that differ, are missing or are too many in committed.
func compare(rendered, committed string) ([]string, error) {
	want, err := pages(rendered)
	if err != nil {
		return nil, err
	}
	have, err := pages(committed)
	if err != nil {
		return nil, err
	}
	var differences []string
	for name, content := range want {
		if found, exists := have[name]; !exists || !bytes.Equal(found, content) {
			differences = append(differences, name)
		}
	}
	for name := range maps.Keys(have) {
		if _, wanted := want[name]; !wanted {
			differences = append(differences, name)
		}
	}
	slices.Sort(differences)
	return differences, nil
}

// adopt makes one committed page what was rendered: written, or removed where nothing was.
func adopt(rendered, committed, name string) error {
	from, to := filepath.Join(rendered, filepath.FromSlash(name)), filepath.Join(committed, filepath.FromSlash(name))
	content, err := os.ReadFile(from)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.Remove(to); err != nil {
			return fmt.Errorf("removing a page that is no longer rendered: %w", err)
		}
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading a rendered page: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return fmt.Errorf("making a page's folder: %w", err)
	}
	if err := os.WriteFile(to, content, 0o644); err != nil {
		return fmt.Errorf("writing a page: %w", err)
	}
	return nil
}

// pages reads the managed files of a folder, by name with slashes. A folder that isn't there has none.
func pages(dir string) (map[string][]byte, error) {
	found := map[string][]byte{}
	for _, top := range managed {
		err := filepath.WalkDir(filepath.Join(dir, top), func(path string, entry fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil || entry.IsDir() {
				return err
			}
			name, err := filepath.Rel(dir, path)
			if err != nil {
				return err
			}
			found[filepath.ToSlash(name)], err = os.ReadFile(path) //nolint:gosec // G122: nobody else writes in a checkout
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("reading pages: %w", err)
		}
	}
	return found, nil
}
