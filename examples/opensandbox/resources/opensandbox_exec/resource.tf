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

resource "opensandbox_file" "task" {
  sandbox_id = opensandbox_sandbox.worker.id
  path       = "/workspace/task.json"
  content    = jsonencode({ steps = 3 })
}

# Runs once, and again whenever the task changes.
resource "opensandbox_exec" "prepare" {
  sandbox_id = opensandbox_sandbox.worker.id
  script     = "test -n \"$API_KEY\" && wc -c task.json"
  cwd        = "/workspace"

  env = {
    PYTHONUNBUFFERED = "1"
  }

  # Stands in no state, and is taken out of the output.
  env_wo = {
    API_KEY = var.api_key
  }

  # The sandbox's agent kills the command after that.
  timeout_seconds = 600

  triggers = {
    task = opensandbox_file.task.sha256
  }
}

# A program with its arguments; 1 means that the line isn't there, which is as good.
resource "opensandbox_exec" "verbose" {
  sandbox_id          = opensandbox_sandbox.worker.id
  argv                = ["grep", "-c", "verbose", opensandbox_file.task.path]
  expected_exit_codes = [0, 1]
}

output "prepared" {
  value     = opensandbox_exec.prepare.stdout
  sensitive = true
}
