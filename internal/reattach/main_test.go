package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/agentenv/terraform-provider-gpuvm/internal/acctest"
	"github.com/agentenv/terraform-provider-gpuvm/internal/catalog"
	"github.com/agentenv/terraform-provider-gpuvm/internal/terraformcli"
)

const root = "../.."

// TestAccOneValueReachesEveryProvider has Terraform validate a configuration that needs every provider, none of which
// is installed.
func TestAccOneValueReachesEveryProvider(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var required, blocks strings.Builder
	for _, p := range catalog.Providers() {
		build := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(dir, "bin")+string(os.PathSeparator), "./"+p.Package)
		build.Dir = root
		if output, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, output)
		}
		fmt.Fprintf(&required, "%s = { source = %q }\n", p.Name, p.Address())
		fmt.Fprintf(&blocks, "provider %q {}\n", p.Name)
	}
	config := "terraform {\nrequired_providers {\n" + required.String() + "}\n}\n" + blocks.String()
	for name, content := range map[string]string{"main.tf": config, "cli.tfrc": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	reader, writer := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := run(ctx, filepath.Join(dir, "bin"), writer)
		writer.CloseWithError(io.EOF)
		ended <- err
	}()
	cli := terraformcli.CLI{Path: acctest.CLI(), Dir: dir, Env: terraformcli.Environment(filepath.Join(dir, "cli.tfrc"), reattachSetting(t, reader))}
	if _, err := cli.Text(ctx, "validate", "-no-color"); err != nil {
		t.Error(err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// reattachSetting reads the printed setting, and reads on in the background.
func reattachSetting(t *testing.T, out io.Reader) string {
	t.Helper()
	printed := regexp.MustCompile(`TF_REATTACH_PROVIDERS='(.*)'`)
	var said []byte
	for buffer := make([]byte, 1024); ; {
		n, err := out.Read(buffer)
		said = append(said, buffer[:n]...)
		if match := printed.FindSubmatch(said); match != nil {
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return "TF_REATTACH_PROVIDERS=" + string(match[1])
		}
		if err != nil {
			t.Fatalf("%v after %q", err, said)
		}
	}
}

func TestProgramThatDoesNotStartIsNamed(t *testing.T) {
	t.Parallel()
	err := run(t.Context(), t.TempDir(), io.Discard)
	if err == nil || !strings.Contains(err.Error(), catalog.Providers()[0].Program()) {
		t.Errorf("got %v", err)
	}
}
