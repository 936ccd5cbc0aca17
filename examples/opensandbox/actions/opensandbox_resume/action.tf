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

# Lets the paused sandbox run on: terraform apply -invoke=action.opensandbox_resume.worker
action "opensandbox_resume" "worker" {
  config {
    sandbox_id = opensandbox_sandbox.worker.id
  }
}
