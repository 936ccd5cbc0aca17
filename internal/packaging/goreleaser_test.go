package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReleaseConfigurationsAgree: goreleaser can't share what two configurations have in common, so that this holds
// them together.
func TestReleaseConfigurationsAgree(t *testing.T) {
	t.Parallel()
	gpuvm := configuration(t, ".goreleaser.yml")
	opensandbox := strings.NewReplacer(
		"./cmd/terraform-provider-opensandbox", ".",
		"into its release-only repository", "into this repository",
		"opensandbox", "gpuvm",
	).Replace(configuration(t, ".goreleaser-opensandbox.yml"))
	if gpuvm != opensandbox {
		t.Errorf("they differ in more than names:\n%s\n---\n%s", gpuvm, opensandbox)
	}
}

func configuration(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
