terraform {
  required_providers {
    gpuvm = {
      source = "registry.terraform.io/agentenv/gpuvm"
    }
  }
}

provider "gpuvm" {}

variable "image" {
  type    = string
  default = "openciv3-client"

  validation {
    condition     = startswith(var.image, "openciv3-")
    error_message = "Only the images of openciv3 have a gateway."
  }
}

resource "gpuvm_instance" "client" {
  image         = var.image
  exposed_ports = [18765]
  setup_script  = "echo ready > /etc/client-ready"
}

output "gateway" {
  value = gpuvm_instance.client.ports["18765"]
}
