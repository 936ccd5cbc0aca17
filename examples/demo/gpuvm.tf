# A GPU VM with a display, set up for a client. The service's address and token come from GPU_VM_URL and GPU_VM_TOKEN.
resource "gpuvm_instance" "client" {
  image         = "openciv3-client"
  cpu           = 4
  memory_mb     = 16384
  exposed_ports = [18765]
  labels        = { purpose = "demo" }

  files = {
    "/etc/openciv3/client.env" = { content = "DISPLAY=:0\n" }
  }

  setup_script = "grep -q DISPLAY /etc/openciv3/client.env"
}

output "vm_id" {
  value = gpuvm_instance.client.id
}

output "vm_ports" {
  value = gpuvm_instance.client.ports
}

output "vm_vnc_url" {
  value = gpuvm_instance.client.vnc_url
}
