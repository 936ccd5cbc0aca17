terraform {
  required_providers {
    opensandbox = {
      source = "registry.terraform.io/agentenv/opensandbox"
    }
  }
}

provider "opensandbox" {}

resource "opensandbox_pool" "python" {
  name = "python"

  # A PodTemplateSpec of Kubernetes.
  template = jsonencode({
    spec = {
      containers = [{
        name    = "sandbox"
        image   = "python:3.11"
        command = ["tail", "-f", "/dev/null"]
        resources = {
          limits = { cpu = "1", memory = "2Gi" }
        }
      }]
    }
  })

  capacity = {
    buffer_min = 1
    buffer_max = 3
    pool_min   = 1
    pool_max   = 20
  }
}

# Taken warm from the pool, so that it is there at once.
resource "opensandbox_sandbox" "worker" {
  pool_ref    = opensandbox_pool.python.name
  ttl_seconds = 3600
}
