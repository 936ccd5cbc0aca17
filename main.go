// Terraform-provider-gpuvm is the Terraform provider for GPU virtual machines with a display.
package main

import (
	"os"

	"github.com/agentenv/terraform-provider-gpuvm/internal/program"
	"github.com/agentenv/terraform-provider-gpuvm/internal/provider"
)

// version is set by the release build.
var version = "dev"

func main() {
	os.Exit(program.Main("registry.terraform.io/agentenv/gpuvm", provider.GPUVM(version)()))
}
