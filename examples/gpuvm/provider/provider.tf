terraform {
  required_providers {
    gpuvm = {
      source = "registry.terraform.io/agentenv/gpuvm"
    }
  }
}

# base_url and api_token come from GPU_VM_URL and GPU_VM_TOKEN where they aren't set here.
provider "gpuvm" {
  default_labels = {
    managed-by = "terraform"
  }

  # Stamps team, user, workload and run onto each machine.
  attribution {}
}
