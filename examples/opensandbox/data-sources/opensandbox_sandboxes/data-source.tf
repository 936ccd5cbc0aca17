terraform {
  required_providers {
    opensandbox = {
      source = "registry.terraform.io/agentenv/opensandbox"
    }
  }
}

provider "opensandbox" {}

data "opensandbox_sandboxes" "evaluation" {
  states   = ["Running", "Paused"]
  metadata = { project = "evaluation" }
}

# Those that nobody will end: they have no expiry.
output "without_expiry" {
  value = [for sandbox in data.opensandbox_sandboxes.evaluation.sandboxes : sandbox.id if sandbox.expires_at == null]
}
