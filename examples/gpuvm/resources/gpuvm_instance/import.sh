terraform import gpuvm_instance.client vm-166505b8
