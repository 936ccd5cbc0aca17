# A sandbox for an agent beside it. The server's address and key come from OPEN_SANDBOX_DOMAIN and OPEN_SANDBOX_API_KEY.
resource "opensandbox_sandbox" "agent" {
  image         = "python:3.11"
  ttl_seconds   = 3600
  exposed_ports = [8000]
  metadata      = { purpose = "demo" }

  resources {
    cpu        = 2
    memory_mib = 4096
  }

  # Where the agent finds the client that it plays.
  env = {
    CLIENT_URL = gpuvm_instance.client.ports["18765"]
  }

  setup_script = "test -n \"$CLIENT_URL\""
}

output "sandbox_id" {
  value = opensandbox_sandbox.agent.id
}

output "sandbox_ports" {
  value = opensandbox_sandbox.agent.ports
}
