terraform {
  required_providers {
    opensandbox = {
      source = "registry.terraform.io/agentenv/opensandbox"
    }
  }
}

provider "opensandbox" {
  attribution {
    workload = "nightly-evaluation"
  }
}

# Nothing of this sandbox outlives the run: it is made at apply, never at plan, and deleted when the run ends. Its short
# ttl, renewed while the run lasts, ends it where the run is killed.
ephemeral "opensandbox_sandbox" "job" {
  open        = terraform.applying
  image       = "python:3.11"
  ttl_seconds = 300
}

# Runs in every apply, with the sandbox at hand. What it is told never stands in a state.
resource "terraform_data" "evaluation" {
  triggers_replace = plantimestamp()

  provisioner "local-exec" {
    command = "echo \"evaluating in sandbox $SANDBOX_ID\""

    environment = {
      SANDBOX_ID = ephemeral.opensandbox_sandbox.job.id
    }
  }
}
