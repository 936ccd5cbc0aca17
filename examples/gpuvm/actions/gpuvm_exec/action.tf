terraform {
  required_version = ">= 1.14"

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

  lifecycle {
    action_trigger {
      events  = [after_create, after_update]
      actions = [action.gpuvm_exec.restart]
    }
  }
}

# Runs after the settings were uploaded, and whenever it is asked for:
# terraform apply -invoke=action.gpuvm_exec.restart
action "gpuvm_exec" "restart" {
  config {
    instance_id     = gpuvm_instance.client.id
    script          = "systemctl restart client && uname -a"
    timeout_seconds = 60
  }
}
