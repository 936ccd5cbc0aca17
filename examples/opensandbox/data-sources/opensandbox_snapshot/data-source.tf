terraform {
  required_providers {
    opensandbox = {
      source = "registry.terraform.io/agentenv/opensandbox"
    }
  }
}

provider "opensandbox" {}

variable "snapshot_id" {
  type        = string
  description = "The id of a snapshot that another configuration has taken."
}

data "opensandbox_snapshot" "prepared" {
  id = var.snapshot_id

  lifecycle {
    postcondition {
      condition     = self.status == "Ready"
      error_message = "The snapshot is ${self.status}."
    }
  }
}

resource "opensandbox_sandbox" "copy" {
  snapshot_id = data.opensandbox_snapshot.prepared.id
  ttl_seconds = 900
}
