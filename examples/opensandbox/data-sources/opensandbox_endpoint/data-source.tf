terraform {
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

data "opensandbox_endpoint" "api" {
  sandbox_id = opensandbox_sandbox.worker.id
  port       = 8000
}

# The same port, for someone who reaches the server and not the sandbox.
data "opensandbox_endpoint" "api_through_server" {
  sandbox_id       = opensandbox_sandbox.worker.id
  port             = 8000
  use_server_proxy = true
}

output "api" {
  value = data.opensandbox_endpoint.api.url
}

output "api_through_server" {
  value = data.opensandbox_endpoint.api_through_server.url
}
