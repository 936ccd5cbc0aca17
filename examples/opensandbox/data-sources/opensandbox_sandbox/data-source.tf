terraform {
  required_providers {
    opensandbox = {
      source = "registry.terraform.io/agentenv/opensandbox"
    }
  }
}

provider "opensandbox" {}

variable "sandbox_id" {
  type        = string
  description = "The id that the other configuration gave out."
}

data "opensandbox_sandbox" "worker" {
  id            = var.sandbox_id
  exposed_ports = [8000]
}

output "api" {
  value = data.opensandbox_sandbox.worker.ports["8000"]
}

output "ends_at" {
  value = data.opensandbox_sandbox.worker.expires_at
}
