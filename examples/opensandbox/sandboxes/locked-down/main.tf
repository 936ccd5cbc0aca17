terraform {
  required_providers {
    opensandbox = {
      source = "registry.terraform.io/agentenv/opensandbox"
    }
  }
}

provider "opensandbox" {}

resource "opensandbox_sandbox" "untrusted" {
  image       = "python:3.11"
  ttl_seconds = 1800

  network_policy {
    default_action = "deny"

    egress {
      action = "allow"
      target = "pypi.org"
    }

    egress {
      action = "allow"
      target = "*.pythonhosted.org"
    }
  }
}
