import {
  to = gpuvm_instance.client
  identity = {
    id = "vm-166505b8"
  }
}
