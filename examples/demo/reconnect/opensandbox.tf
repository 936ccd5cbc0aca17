variable "sandbox_id" {
  type = string
}

data "opensandbox_sandbox" "agent" {
  id            = var.sandbox_id
  exposed_ports = [8000]
}

output "sandbox_ports" {
  value = data.opensandbox_sandbox.agent.ports
}
