terraform {
  required_providers {
    gpuvm = {
      source = "registry.terraform.io/agentenv/gpuvm"
    }
  }
}

provider "gpuvm" {}

# Pass it as TF_VAR_license_key.
variable "license_key" {
  type      = string
  sensitive = true
  ephemeral = true
}

resource "gpuvm_instance" "client" {
  image         = "openciv3-client"
  cpu           = 4
  memory_mb     = 16384
  disk_gb       = 40
  ttl_seconds   = 28800
  exposed_ports = [18765]

  labels = {
    purpose = "live-view"
  }

  files = {
    "/etc/client/config.ini" = { content = "display = :0\n" }
    "/etc/client/license"    = { content_wo = var.license_key }
  }
  files_wo_version = 1

  setup_script = <<-EOT
    set -eu
    chmod 600 /etc/client/license
    systemctl restart client
  EOT

  readiness_command = ["test", "-d", "/etc"]

  timeouts {
    create = "20m"
  }
}

output "display" {
  value = gpuvm_instance.client.vnc_url
}

output "ports" {
  value = gpuvm_instance.client.ports
}
