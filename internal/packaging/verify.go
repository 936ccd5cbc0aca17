package main

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// manifestFile describes a release to the registry
// (https://developer.hashicorp.com/terraform/registry/providers/publishing#terraform-registry-manifest-file).
const manifestFile = "terraform-registry-manifest.json"

// verify holds what the release build made in each folder against what the registry wants of a release: archives by
// their names, each with just the program in it, and checksums of all of them and of the manifest.
func verify(root string, out io.Writer, dirs []string) error {
	for _, dir := range dirs {
		release, err := readRelease(root, dir)
		if err != nil {
			return err
		}
		if err := release.verify(); err != nil {
			return fmt.Errorf("release in %s: %w", dir, err)
		}
		fmt.Fprintf(out, "%s %s: %d archives and the manifest, each with its checksum\n", release.Project, release.Version, len(release.archives))
	}
	return nil
}

type release struct {
	Project  string `json:"project_name"`
	Version  string `json:"version"`
	archives []string
	manifest string            // the file that is released as it is
	sums     map[string]string // by file name
}

func readRelease(root, dir string) (*release, error) {
	content, err := os.ReadFile(filepath.Join(dir, "metadata.json"))
	if err != nil {
		return nil, fmt.Errorf("reading what was released: %w", err)
	}
	r := release{manifest: filepath.Join(root, manifestFile), sums: map[string]string{}}
	if err := json.Unmarshal(content, &r); err != nil {
		return nil, fmt.Errorf("reading what was released: %w", err)
	}
	if r.archives, err = filepath.Glob(filepath.Join(dir, "*.zip")); err != nil {
		return nil, fmt.Errorf("listing archives: %w", err)
	}
	listed, err := os.ReadFile(filepath.Join(dir, r.Project+"_"+r.Version+"_SHA256SUMS"))
	if err != nil {
		return nil, fmt.Errorf("reading checksums: %w", err)
	}
	for line := range strings.Lines(string(listed)) {
		if sum, name, ok := strings.Cut(strings.TrimSpace(line), "  "); ok {
			r.sums[name] = sum
		}
	}
	return &r, nil
}

func (r *release) verify() error {
	if len(r.archives) == 0 {
		return fmt.Errorf("no archive")
	}
	var names []string
	for _, archive := range r.archives {
		names = append(names, filepath.Base(archive))
		if err := r.verifyArchive(archive); err != nil {
			return err
		}
	}
	manifest := r.Project + "_" + r.Version + "_manifest.json"
	if err := r.verifyManifest(manifest); err != nil {
		return err
	}
	for name := range r.sums {
		if name != manifest && !slices.Contains(names, name) {
			return fmt.Errorf("the checksums list %s, which the registry doesn't expect there", name)
		}
	}
	return nil
}

func (r *release) verifyArchive(archive string) error {
	name := filepath.Base(archive)
	if err := r.verifySum(archive, name); err != nil {
		return err
	}
	prefix := r.Project + "_" + r.Version + "_"
	target, ok := strings.CutPrefix(strings.TrimSuffix(name, ".zip"), prefix)
	if !ok || strings.Count(target, "_") != 1 {
		return fmt.Errorf("%s isn't named %sOS_ARCH.zip", name, prefix)
	}
	system, _, _ := strings.Cut(target, "_")
	opened, err := zip.OpenReader(archive)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	defer opened.Close()
	want := r.Project + "_v" + r.Version + platform{os: system}.suffix()
	if len(opened.File) != 1 || opened.File[0].Name != want {
		return fmt.Errorf("%s doesn't hold just %s", name, want)
	}
	if opened.File[0].Mode().Perm()&0o111 == 0 {
		return fmt.Errorf("%s: %s isn't executable", name, want)
	}
	return nil
}

func (r *release) verifyManifest(name string) error {
	if err := r.verifySum(r.manifest, name); err != nil {
		return err
	}
	content, err := os.ReadFile(r.manifest)
	if err != nil {
		return fmt.Errorf("reading the manifest: %w", err)
	}
	var manifest struct {
		Version  int `json:"version"`
		Metadata struct {
			Protocols []string `json:"protocol_versions"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(content, &manifest); err != nil {
		return fmt.Errorf("reading the manifest: %w", err)
	}
	// The framework serves protocol 6.
	if manifest.Version != 1 || !slices.Equal(manifest.Metadata.Protocols, []string{"6.0"}) {
		return fmt.Errorf("the manifest says version %d and protocols %v", manifest.Version, manifest.Metadata.Protocols)
	}
	return nil
}

func (r *release) verifySum(file, name string) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("checking %s: %w", name, err)
	}
	sum := sha256.Sum256(content)
	if found := hex.EncodeToString(sum[:]); r.sums[name] != found {
		return fmt.Errorf("%s has the checksum %s, but %q is listed", name, found, r.sums[name])
	}
	return nil
}
