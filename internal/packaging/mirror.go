package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/mod/sumdb/dirhash"

	"github.com/agentenv/terraform-provider-gpuvm/internal/catalog"
)

// The provider network mirror protocol (https://developer.hashicorp.com/terraform/internals/provider-network-mirror-protocol)
// is static files: for each provider an index.json, a VERSION.json and the archives. The names of the archives are
// those of a packed filesystem mirror, so that one folder serves both.
type (
	mirrorIndex struct {
		Versions map[string]struct{} `json:"versions"`
	}
	mirrorVersion struct {
		Archives map[string]mirrorArchive `json:"archives"`
	}
	mirrorArchive struct {
		URL    string   `json:"url"`
		Hashes []string `json:"hashes"`
	}
)

// mirror adds a version to the mirror in out, which need not be there yet, and keeps what it has of others.
func mirror(ctx context.Context, root string, said io.Writer, out, version string, targets []platform) error {
	if out == "" {
		return errors.New("mirror needs -out, the folder to write to")
	}
	for _, p := range catalog.Providers() {
		dir := filepath.Join(out, filepath.FromSlash(p.Address()))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("making the mirror's folder: %w", err)
		}
		var index mirrorIndex
		var listed mirrorVersion
		if err := errors.Join(readJSON(filepath.Join(dir, "index.json"), &index), readJSON(filepath.Join(dir, version+".json"), &listed)); err != nil {
			return err
		}
		if index.Versions == nil {
			index.Versions = map[string]struct{}{}
		}
		if listed.Archives == nil {
			listed.Archives = map[string]mirrorArchive{}
		}
		for _, target := range targets {
			archive, err := mirrorOne(ctx, root, dir, p, version, target)
			if err != nil {
				return err
			}
			listed.Archives[target.String()] = archive
		}
		index.Versions[version] = struct{}{}
		if err := errors.Join(writeJSON(filepath.Join(dir, version+".json"), listed), writeJSON(filepath.Join(dir, "index.json"), index)); err != nil {
			return err
		}
		fmt.Fprintf(said, "%s %s for %v in %s\n", p.Name, version, targets, dir)
	}
	return nil
}

func mirrorOne(ctx context.Context, root, dir string, p catalog.Provider, version string, target platform) (archive mirrorArchive, err error) {
	work, err := os.MkdirTemp("", "mirror-*")
	if err != nil {
		return mirrorArchive{}, fmt.Errorf("making a folder to build in: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	program := filepath.Join(work, programFile(p, version, target))
	if err := build(ctx, root, p.Package, version, target, program); err != nil {
		return mirrorArchive{}, err
	}
	name := fmt.Sprintf("%s_%s_%s.zip", p.Program(), version, target)
	if err := pack(filepath.Join(dir, name), program); err != nil {
		return mirrorArchive{}, err
	}
	// h1 is the hash of what is inside: lock files keep it whichever way the archive came.
	h1, err := dirhash.HashZip(filepath.Join(dir, name), dirhash.Hash1)
	if err != nil {
		return mirrorArchive{}, fmt.Errorf("hashing %s: %w", name, err)
	}
	return mirrorArchive{URL: name, Hashes: []string{h1}}, nil
}

// readJSON leaves out as it is where there is no file.
func readJSON(file string, out any) error {
	content, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the mirror: %w", err)
	}
	if err := json.Unmarshal(content, out); err != nil {
		return fmt.Errorf("reading %s: %w", file, err)
	}
	return nil
}

func writeJSON(file string, value any) error {
	content, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return fmt.Errorf("writing %s: %w", file, err)
	}
	if err := os.WriteFile(file, append(content, '\n'), 0o644); err != nil {
		return fmt.Errorf("writing the mirror: %w", err)
	}
	return nil
}
