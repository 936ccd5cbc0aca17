terraform {
  required_providers {
    opensandbox = {
      source = "registry.terraform.io/agentenv/opensandbox"
    }
  }
}

# domain and api_key come from OPEN_SANDBOX_DOMAIN and OPEN_SANDBOX_API_KEY where they aren't set here.
provider "opensandbox" {
  default_metadata = {
    managed-by = "terraform"
  }

  # Stamps team, user, workload and run onto each sandbox.
  attribution {}
}
