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

  # A plan made with less than ten minutes left renews to the whole hour.
  renew_below_seconds = 600

  resources {
    cpu        = 2
    memory_mib = 4096
  }

  env = {
    PYTHONUNBUFFERED = "1"
  }

  metadata = {
    project = "evaluation"
  }

  exposed_ports = [8000]

  files = {
    "/workspace/task.json" = { content = jsonencode({ steps = 3 }), mode = "644" }
  }

  setup_script = "test -s /workspace/task.json"
}

output "ports" {
  value = opensandbox_sandbox.worker.ports
}
