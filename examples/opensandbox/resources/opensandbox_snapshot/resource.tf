terraform {
  required_providers {
    opensandbox = {
      source = "registry.terraform.io/agentenv/opensandbox"
    }
  }
}

provider "opensandbox" {}

resource "opensandbox_sandbox" "prepared" {
  image        = "python:3.11"
  ttl_seconds  = 3600
  setup_script = "mkdir -p /workspace && echo prepared > /workspace/state"
}

# Taken once the setup script is done. It stays when the sandbox ends.
resource "opensandbox_snapshot" "prepared" {
  sandbox_id = opensandbox_sandbox.prepared.id
  name       = "prepared"
}

output "snapshot_id" {
  value = opensandbox_snapshot.prepared.id
}
