# Another configuration, perhaps of another repository, that knows only the machine's id.
variable "vm_id" {
  type = string
}

data "gpuvm_instance" "client" {
  id = var.vm_id
}

output "vm_ports" {
  value = data.gpuvm_instance.client.ports
}

output "vm_vnc_url" {
  value = data.gpuvm_instance.client.vnc_url
}
