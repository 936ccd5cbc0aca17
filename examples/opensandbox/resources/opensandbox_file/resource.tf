terraform {
  required_providers {
    opensandbox = {
      source = "registry.terraform.io/agentenv/opensandbox"
    }
  }
}

provider "opensandbox" {}

# Pass it as TF_VAR_api_key.
variable "api_key" {
  type      = string
  sensitive = true
  ephemeral = true
}

resource "opensandbox_sandbox" "worker" {
  image       = "python:3.11"
  ttl_seconds = 3600
}

# Changed in place, and put right when somebody changes it in the sandbox.
resource "opensandbox_file" "task" {
  sandbox_id = opensandbox_sandbox.worker.id
  path       = "/workspace/task.json"
  content    = jsonencode({ steps = 3 })
  mode       = "644"
}

# A secret that stands in no state. Raise the version when it changes.
resource "opensandbox_file" "api_key" {
  sandbox_id         = opensandbox_sandbox.worker.id
  path               = "/run/secrets/api-key"
  content_wo         = var.api_key
  content_wo_version = 1
  mode               = "600"
}
