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

resource "opensandbox_snapshot" "prepared" {
  sandbox_id = opensandbox_sandbox.prepared.id
  name       = "prepared"
}

resource "opensandbox_sandbox" "copy" {
  count = 2

  snapshot_id = opensandbox_snapshot.prepared.id
  ttl_seconds = 900
}
