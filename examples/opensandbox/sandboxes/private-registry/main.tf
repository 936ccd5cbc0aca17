terraform {
  required_providers {
    opensandbox = {
      source = "registry.terraform.io/agentenv/opensandbox"
    }
  }
}

provider "opensandbox" {}

# Pass both as TF_VAR_registry_username and TF_VAR_registry_password.
variable "registry_username" {
  type = string
}

variable "registry_password" {
  type      = string
  sensitive = true
  ephemeral = true
}

resource "opensandbox_sandbox" "private" {
  image       = "registry.example.com/team/agent:1.4"
  ttl_seconds = 3600

  image_auth = {
    username    = var.registry_username
    password_wo = var.registry_password
  }
}
