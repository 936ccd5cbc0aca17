terraform {
  required_providers {
    opensandbox = {
      source = "registry.terraform.io/agentenv/opensandbox"
    }
  }
}

provider "opensandbox" {}

data "opensandbox_pool" "python" {
  name = "python"
}

output "warm_sandboxes" {
  value = data.opensandbox_pool.python.available
}
