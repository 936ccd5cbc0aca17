package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// repository packs what the registry reads from a provider's own repository: documentation, examples, licence,
// changelog, manifest, and a README that says where the source is. root is this module's.
func repository(root string, said io.Writer, out, name string) error {
	if out == "" {
		return errors.New("repository needs -out, the folder to write to")
	}
	p, err := findProvider(name)
	if err != nil {
		return err
	}
	if _, err := os.Stat(out); err == nil {
		return fmt.Errorf("%s is there already: remove it first", out)
	}
	for from, to := range map[string]string{p.Docs: "docs", p.Examples(): "examples"} {
		if err := os.CopyFS(filepath.Join(out, to), os.DirFS(filepath.Join(root, filepath.FromSlash(from)))); err != nil {
			return fmt.Errorf("packing %s: %w", from, err)
		}
	}
	for from, to := range map[string]string{
		"LICENSE":                          "LICENSE",
		"CHANGELOG.md":                     "CHANGELOG.md",
		"terraform-registry-manifest.json": "terraform-registry-manifest.json",
		p.Package + "/README.md":           "README.md",
	} {
		content, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(from)))
		if err != nil {
			return fmt.Errorf("packing: %w", err)
		}
		if err := os.WriteFile(filepath.Join(out, to), content, 0o644); err != nil {
			return fmt.Errorf("packing: %w", err)
		}
	}
	fmt.Fprintf(said, "%s's repository is packed in %s\n", p.Name, out)
	return nil
}
