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
  description = "The other configuration's output instance_id."
}

data "gpuvm_instance" "client" {
  id = var.instance_id

  lifecycle {
    postcondition {
      condition     = self.status == "running"
      error_message = "The machine ${self.id} is ${self.status}, not running."
    }
  }
}

output "display" {
  value = data.gpuvm_instance.client.vnc_url
}

output "gateway" {
  value = data.gpuvm_instance.client.ports["18765"]
}
