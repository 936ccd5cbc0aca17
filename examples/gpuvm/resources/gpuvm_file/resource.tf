terraform {
  required_providers {
    gpuvm = {
      source = "registry.terraform.io/agentenv/gpuvm"
    }
  }
}

provider "gpuvm" {}

# Pass it as TF_VAR_api_key.
variable "api_key" {
  type      = string
  sensitive = true
  ephemeral = true
}

resource "gpuvm_instance" "client" {
  image = "openciv3-client"
}

# Changed in place: the machine stays.
resource "gpuvm_file" "settings" {
  instance_id = gpuvm_instance.client.id
  path        = "/etc/client/settings.ini"
  content     = "volume = 3\n"
}

# A secret that stands in no state. Raise the version when it changes.
resource "gpuvm_file" "api_key" {
  instance_id        = gpuvm_instance.client.id
  path               = "/etc/client/api-key"
  content_wo         = var.api_key
  content_wo_version = 1
}
