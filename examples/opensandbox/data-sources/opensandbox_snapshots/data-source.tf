terraform {
  required_providers {
    opensandbox = {
      source = "registry.terraform.io/agentenv/opensandbox"
    }
  }
}

provider "opensandbox" {}

data "opensandbox_snapshots" "ready" {
  states = ["Ready"]
}

locals {
  prepared = [for snapshot in data.opensandbox_snapshots.ready.snapshots : snapshot.id if snapshot.name == "prepared"]
}

# The newest of that name, which comes first; null where there is none.
output "latest_prepared" {
  value = try(local.prepared[0], null)
}
