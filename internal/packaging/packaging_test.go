package main

import (
	"bytes"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/agentenv/terraform-provider-gpuvm/internal/acctest"
	"github.com/agentenv/terraform-provider-gpuvm/internal/catalog"
	"github.com/agentenv/terraform-provider-gpuvm/internal/terraformcli"
)

const (
	root    = "../.."
	version = "1.2.3"
)

// initialise has the real Terraform install every provider by a CLI configuration, into an empty folder, and says
// which versions it then has.
func initialise(t *testing.T, cliConfig string, env ...string) string {
	t.Helper()
	var required strings.Builder
	for _, p := range catalog.Providers() {
		fmt.Fprintf(&required, "%s = {\n source = %q\n version = %q\n}\n", p.Name, p.Address(), version)
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "main.tf"), "terraform {\nrequired_providers {\n"+required.String()+"}\n}\n")
	rc := filepath.Join(dir, "cli.tfrc")
	write(t, rc, cliConfig)
	cli := terraformcli.CLI{Path: acctest.CLI(), Dir: dir, Env: terraformcli.Environment(rc, env...)}
	if _, err := cli.Text(t.Context(), "init", "-input=false", "-no-color"); err != nil {
		t.Fatal(err)
	}
	found, err := cli.Text(t.Context(), "version")
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func expectAll(t *testing.T, found string) {
	t.Helper()
	for _, p := range catalog.Providers() {
		if want := "provider " + p.Address() + " v" + version; !strings.Contains(found, want) {
			t.Errorf("%q isn't among what was installed:\n%s", want, found)
		}
	}
}

func write(t *testing.T, file, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestAccMirrorServesTerraform(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	index := filepath.Join(dir, filepath.FromSlash(catalog.Addresses()[0]), "index.json")
	write(t, index, `{"versions": {"1.2.2": {}}}`)
	if err := mirror(t.Context(), root, io.Discard, dir, version, []platform{here()}); err != nil {
		t.Fatal(err)
	}
	var listed mirrorIndex
	if err := readJSON(index, &listed); err != nil || len(listed.Versions) != 2 {
		t.Errorf("versions %v (%v): the older one should still be there", listed.Versions, err)
	}
	expectAll(t, initialise(t, fmt.Sprintf("provider_installation {\n filesystem_mirror {\n path = %q\n }\n}\n", dir)))

	server := httptest.NewTLSServer(http.FileServer(http.Dir(dir)))
	defer server.Close()
	if runtime.GOOS != "linux" {
		return // elsewhere a program can't be told by its environment to trust the test's certificate
	}
	certificate := filepath.Join(t.TempDir(), "ca.pem")
	write(t, certificate, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})))
	expectAll(t, initialise(t, fmt.Sprintf("provider_installation {\n network_mirror {\n url = %q\n }\n}\n", server.URL+"/"), "SSL_CERT_FILE="+certificate))
}

func TestAccInstallIsFoundByTerraform(t *testing.T) {
	home := t.TempDir()
	t.Setenv("GOCACHE", goEnv(t, "GOCACHE"))
	t.Setenv("GOMODCACHE", goEnv(t, "GOMODCACHE"))
	t.Setenv("GOBIN", filepath.Join(home, "bin"))
	t.Setenv("HOME", home)
	t.Setenv("APPDATA", home)
	var said bytes.Buffer
	if err := install(t.Context(), root, &said, version); err != nil {
		t.Fatal(err)
	}
	// No provider_installation: found where Terraform looks by itself.
	expectAll(t, initialise(t, ""))
	for _, p := range catalog.Providers() {
		if _, err := os.Stat(filepath.Join(home, "bin", p.Program()+here().suffix())); err != nil {
			t.Error(err)
		}
		if !strings.Contains(said.String(), p.Address()) {
			t.Errorf("what to paste doesn't name %s:\n%s", p.Address(), said.String())
		}
	}
	if _, err := os.Stat(filepath.Join(home, "bin", "fakeservices"+here().suffix())); err != nil {
		t.Error(err)
	}
}

func goEnv(t *testing.T, name string) string {
	t.Helper()
	value, err := goSetting(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func TestRepositoryHoldsWhatTheRegistryReads(t *testing.T) {
	t.Parallel()
	for _, p := range catalog.Providers() {
		out := filepath.Join(t.TempDir(), p.Name)
		if err := repository(root, io.Discard, out, p.Name); err != nil {
			t.Fatal(err)
		}
		for _, file := range []string{"README.md", "LICENSE", "CHANGELOG.md", manifestFile, "docs/index.md", "examples/provider/provider.tf"} {
			if _, err := os.Stat(filepath.Join(out, filepath.FromSlash(file))); err != nil {
				t.Errorf("%s: %v", p.Name, err)
			}
		}
		if err := repository(root, io.Discard, out, p.Name); err == nil {
			t.Errorf("%s: an older packing was written over", p.Name)
		}
	}
	if err := repository(root, io.Discard, filepath.Join(t.TempDir(), "x"), "nosuch"); err == nil || !strings.Contains(err.Error(), "gpuvm") {
		t.Errorf("got %v", err)
	}
}

func TestPlatforms(t *testing.T) {
	t.Parallel()
	got, err := parsePlatforms("linux_amd64, windows_arm64")
	if err != nil || len(got) != 2 || got[1] != (platform{"windows", "arm64"}) || got[1].suffix() != ".exe" {
		t.Errorf("got %v, %v", got, err)
	}
	if got, err = parsePlatforms(" "); err != nil || len(got) != 1 || got[0] != here() {
		t.Errorf("got %v, %v", got, err)
	}
	if _, err = parsePlatforms("linux-amd64"); err == nil {
		t.Error("a platform without its architecture is taken")
	}
}
