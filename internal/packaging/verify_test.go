package main

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	project  = "terraform-provider-gpuvm"
	sumsFile = project + "_" + version + "_SHA256SUMS"
)

// released makes a folder as the release build leaves it, with one archive.
func released(t *testing.T) (moduleRoot, dist string) {
	t.Helper()
	moduleRoot, dist = t.TempDir(), t.TempDir()
	write(t, filepath.Join(moduleRoot, manifestFile), `{"version": 1, "metadata": {"protocol_versions": ["6.0"]}}`)
	write(t, filepath.Join(dist, "metadata.json"), `{"project_name": "`+project+`", "version": "`+version+`"}`)
	archiveOf(t, dist, project+"_v"+version)
	list(t, moduleRoot, dist)
	return moduleRoot, dist
}

func archiveOf(t *testing.T, dist, program string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), program)
	write(t, file, "a program")
	if err := pack(filepath.Join(dist, project+"_"+version+"_linux_amd64.zip"), file); err != nil {
		t.Fatal(err)
	}
}

// list writes the checksums of the archives and of the manifest.
func list(t *testing.T, moduleRoot, dist string) {
	t.Helper()
	archives, err := filepath.Glob(filepath.Join(dist, "*.zip"))
	if err != nil {
		t.Fatal(err)
	}
	var sums strings.Builder
	for file, name := range map[string]string{
		archives[0]:                             filepath.Base(archives[0]),
		filepath.Join(moduleRoot, manifestFile): project + "_" + version + "_manifest.json",
	} {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(content)
		sums.WriteString(hex.EncodeToString(sum[:]) + "  " + name + "\n")
	}
	write(t, filepath.Join(dist, sumsFile), sums.String())
}

func TestGoodReleaseIsVerified(t *testing.T) {
	t.Parallel()
	moduleRoot, dist := released(t)
	var said strings.Builder
	if err := verify(moduleRoot, &said, []string{dist}); err != nil {
		t.Fatal(err)
	}
	if want := "terraform-provider-gpuvm 1.2.3: 1 archives"; !strings.HasPrefix(said.String(), want) {
		t.Errorf("got %q", said.String())
	}
}

func TestWrongReleaseIsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil func(t *testing.T, moduleRoot, dist string)
		says  string
	}{
		"program under another name": {func(t *testing.T, moduleRoot, dist string) {
			t.Helper()
			archiveOf(t, dist, "gpuvm")
			list(t, moduleRoot, dist)
		}, "doesn't hold just"},
		"archive changed after its checksum": {func(t *testing.T, _, dist string) {
			t.Helper()
			archiveOf(t, dist, project+"_v9.9.9")
		}, "has the checksum"},
		"protocol 5": {func(t *testing.T, moduleRoot, dist string) {
			t.Helper()
			write(t, filepath.Join(moduleRoot, manifestFile), `{"version": 1, "metadata": {"protocol_versions": ["5.0"]}}`)
			list(t, moduleRoot, dist)
		}, "protocols [5.0]"},
		"something else among the checksums": {func(t *testing.T, _, dist string) {
			t.Helper()
			sums := filepath.Join(dist, sumsFile)
			content, err := os.ReadFile(sums)
			if err != nil {
				t.Fatal(err)
			}
			write(t, sums, string(content)+"00  notes.txt\n")
		}, "notes.txt"},
		"no archive": {func(t *testing.T, _, dist string) {
			t.Helper()
			if err := os.Remove(filepath.Join(dist, project+"_"+version+"_linux_amd64.zip")); err != nil {
				t.Fatal(err)
			}
		}, "no archive"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			moduleRoot, dist := released(t)
			c.spoil(t, moduleRoot, dist)
			if err := verify(moduleRoot, io.Discard, []string{dist}); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want it to say %q", err, c.says)
			}
		})
	}
}
