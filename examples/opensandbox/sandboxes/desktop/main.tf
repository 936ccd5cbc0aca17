terraform {
  required_providers {
    opensandbox = {
      source = "registry.terraform.io/agentenv/opensandbox"
    }
  }
}

provider "opensandbox" {}

resource "opensandbox_sandbox" "desktop" {
  image         = "registry.example.com/desktop:24.04"
  entrypoint    = ["/usr/bin/start-desktop"]
  exposed_ports = [6080]
  vnc_port      = 5900

  resources {
    cpu        = 4
    memory_mib = 8192
  }
}

output "display" {
  value = opensandbox_sandbox.desktop.vnc_url
}
