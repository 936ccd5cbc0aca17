terraform {
  required_providers {
    opensandbox = {
      source = "registry.terraform.io/agentenv/opensandbox"
    }
  }
}

provider "opensandbox" {}

resource "opensandbox_sandbox" "prepared" {
  image       = "python:3.11"
  ttl_seconds = 3600
}

resource "opensandbox_snapshot" "prepared" {
  sandbox_id = opensandbox_sandbox.prepared.id
  name       = "prepared"
}
