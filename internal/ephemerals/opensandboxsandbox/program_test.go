package opensandboxsandbox_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/agentenv/terraform-provider-gpuvm/internal/acctest"
	"github.com/agentenv/terraform-provider-gpuvm/internal/terraformcli"
)

// Terraform doesn't close an ephemeral resource whose user fails. The program deletes the sandbox as it ends.
func TestAccUserOfASandboxFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-o", dir+string(os.PathSeparator), "../../../cmd/terraform-provider-opensandbox")
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	server := acctest.NewOpenSandbox(t)
	config := server.Provider() + `
ephemeral "opensandbox_sandbox" "box" {
  open  = terraform.applying
  image = "busybox"
}

resource "terraform_data" "user" {
  provisioner "local-exec" {
    command = "echo ${ephemeral.opensandbox_sandbox.box.id}; exit 3"
  }
}
`
	for name, text := range map[string]string{
		"main.tf": config, "cli.tfrc": terraformcli.DevOverrides(dir, "registry.terraform.io/agentenv/opensandbox"),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cli := terraformcli.CLI{Path: acctest.CLI(), Dir: dir, Env: terraformcli.Environment(filepath.Join(dir, "cli.tfrc"))}
	if _, err := cli.Text(t.Context(), "apply", "-auto-approve", "-input=false"); err == nil {
		t.Error("the apply succeeds")
	}
	if made := server.Asked("POST", "/sandboxes"); made != 1 {
		t.Errorf("%d sandboxes were made", made)
	}
	noError(t, server.Empty(nil))
}
