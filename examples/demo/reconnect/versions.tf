terraform {
  required_version = ">= 1.11"

  required_providers {
    gpuvm = {
      source = "registry.terraform.io/agentenv/gpuvm"
    }
    opensandbox = {
      source = "registry.terraform.io/agentenv/opensandbox"
    }
  }
}
