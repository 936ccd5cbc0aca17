terraform {
  required_providers {
    gpuvm = {
      source = "registry.terraform.io/agentenv/gpuvm"
    }
  }
}

provider "gpuvm" {}

variable "instance_id" {
  type        = string
  description = "The id that the other configuration gave out, such as vm-166505b8."
}

data "gpuvm_instance" "client" {
  id = var.instance_id
}

output "display" {
  value = data.gpuvm_instance.client.vnc_url
}
