terraform {
  required_version = ">= 1.14"

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

resource "opensandbox_file" "task" {
  sandbox_id = opensandbox_sandbox.worker.id
  path       = "/workspace/task.json"
  content    = jsonencode({ steps = 3 })

  lifecycle {
    action_trigger {
      events  = [after_create, after_update]
      actions = [action.opensandbox_exec.check]
    }
  }
}

# Runs after the task was uploaded. The secret is ephemeral: it stands in no plan, and is taken out of the output.
action "opensandbox_exec" "check" {
  config {
    sandbox_id      = opensandbox_sandbox.worker.id
    script          = "test -n \"$API_KEY\" && wc -c task.json"
    cwd             = "/workspace"
    env_wo          = { API_KEY = var.api_key }
    timeout_seconds = 60
  }
}
