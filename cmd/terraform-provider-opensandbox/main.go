// Terraform-provider-opensandbox is the Terraform provider for sandboxes of an OpenSandbox server.
package main

import (
	"os"

	"github.com/agentenv/terraform-provider-gpuvm/internal/program"
	"github.com/agentenv/terraform-provider-gpuvm/internal/provider"
)

// version is set by the release build.
var version = "dev"

func main() {
	os.Exit(program.Main("registry.terraform.io/agentenv/opensandbox", provider.OpenSandbox(version)()))
}
