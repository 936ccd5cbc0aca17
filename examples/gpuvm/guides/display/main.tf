terraform {
  required_providers {
    gpuvm = {
      source = "registry.terraform.io/agentenv/gpuvm"
    }
  }
}

# One machine for each person who watches. Add a name and apply: the others stay as they are.
variable "watchers" {
  type    = set(string)
  default = ["ada", "grace"]
}

provider "gpuvm" {
  default_labels = {
    purpose = "live-view"
  }
}

resource "gpuvm_instance" "client" {
  for_each = var.watchers

  image         = "openciv3-client"
  cpu           = 4
  memory_mb     = 16384
  exposed_ports = [18765]
  labels        = { watcher = each.key }

  # The service ends a machine after its ttl and can't renew it. The first apply after that makes a new one.
  ttl_seconds = 12 * 3600

  readiness_command = ["sh", "-c", "test -n \"$DISPLAY\""]

  # The client saves its game as it stops. Where this fails, the machine stays.
  teardown_script = "systemctl stop client"

  timeouts {
    create = "20m"
  }
}

output "displays" {
  description = "Open these in a browser."
  value       = { for watcher, client in gpuvm_instance.client : watcher => client.vnc_url }
}

output "gateways" {
  value = { for watcher, client in gpuvm_instance.client : watcher => client.ports["18765"] }
}
