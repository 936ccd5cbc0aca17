terraform {
  required_version = ">= 1.14"

  required_providers {
    opensandbox = {
      source = "registry.terraform.io/agentenv/opensandbox"
    }
  }
}

provider "opensandbox" {}

resource "opensandbox_sandbox" "worker" {
  image       = "python:3.11"
  ttl_seconds = 28800
}

# Pauses the sandbox for the night: terraform apply -invoke=action.opensandbox_pause.worker
action "opensandbox_pause" "worker" {
  config {
    sandbox_id = opensandbox_sandbox.worker.id
  }
}
