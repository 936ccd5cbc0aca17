terraform {
  required_providers {
    opensandbox = {
      source = "registry.terraform.io/agentenv/opensandbox"
    }
  }
}

provider "opensandbox" {}

# Made at apply, never at plan, and deleted when the run ends.
ephemeral "opensandbox_sandbox" "test" {
  open          = terraform.applying
  image         = "python:3.11"
  exposed_ports = [8000]

  resources {
    cpu        = 2
    memory_mib = 4096
  }

  files = {
    "/workspace/server.py" = { content = "import http.server\n" }
  }

  setup_script = "test -s /workspace/server.py"
}

resource "terraform_data" "test" {
  triggers_replace = "version 3 of what is tested"

  provisioner "local-exec" {
    command = "echo \"testing $SANDBOX_ID at $URL\""

    environment = {
      SANDBOX_ID = ephemeral.opensandbox_sandbox.test.id
      URL        = ephemeral.opensandbox_sandbox.test.ports["8000"]
    }
  }
}
