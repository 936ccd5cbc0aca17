terraform {
  required_providers {
    gpuvm = {
      source = "registry.terraform.io/agentenv/gpuvm"
    }
  }
}

provider "gpuvm" {}

resource "gpuvm_instance" "client" {
  image = "openciv3-client"
}

resource "gpuvm_file" "settings" {
  instance_id = gpuvm_instance.client.id
  path        = "/etc/client/settings.ini"
  content     = "volume = 3\n"
}

# Runs once, and again whenever the settings change.
resource "gpuvm_exec" "restart" {
  instance_id = gpuvm_instance.client.id
  script      = <<-EOT
    set -eu
    grep -q volume /etc/client/settings.ini
    systemctl restart client
  EOT

  triggers = {
    settings = gpuvm_file.settings.sha256
  }

  timeouts {
    create = "5m"
  }
}

# A program with its arguments; 1 means that the line isn't there, which is as good.
resource "gpuvm_exec" "muted" {
  instance_id         = gpuvm_instance.client.id
  argv                = ["grep", "-c", "volume = 0", gpuvm_file.settings.path]
  expected_exit_codes = [0, 1]
}

output "muted" {
  value = gpuvm_exec.muted.exit_code == 0
}
