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

# Looked up anew in each run; neither the URL nor the headers stand in a state.
ephemeral "opensandbox_endpoint" "api" {
  sandbox_id = opensandbox_sandbox.worker.id
  port       = 8000
}

resource "terraform_data" "smoke_test" {
  triggers_replace = opensandbox_sandbox.worker.id

  provisioner "local-exec" {
    command = "echo \"asking $URL\""

    environment = {
      URL     = ephemeral.opensandbox_endpoint.api.url
      HEADERS = jsonencode(ephemeral.opensandbox_endpoint.api.headers)
    }
  }
}
