terraform {
  required_providers {
    gpuvm = {
      source = "registry.terraform.io/agentenv/gpuvm"
    }
  }
}

provider "gpuvm" {}

resource "gpuvm_instance" "client" {
  image         = "openciv3-client"
  exposed_ports = [18765]
}

output "instance_id" {
  value = gpuvm_instance.client.id
}
