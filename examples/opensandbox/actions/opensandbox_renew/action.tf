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
  ttl_seconds = 3600
}

# Gives the sandbox another two hours: terraform apply -invoke=action.opensandbox_renew.worker
action "opensandbox_renew" "worker" {
  config {
    sandbox_id  = opensandbox_sandbox.worker.id
    ttl_seconds = 7200
  }
}
