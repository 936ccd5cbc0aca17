run "plans_one_machine" {
  command = plan

  assert {
    condition     = keys(gpuvm_instance.client.ports) == tolist(["18765"])
    error_message = "The gateway's port is not exposed."
  }
}

run "boots" {
  assert {
    condition     = gpuvm_instance.client.status == "running"
    error_message = "The machine is ${gpuvm_instance.client.status}."
  }

  assert {
    condition     = startswith(output.gateway, "http")
    error_message = "The gateway's URL is ${output.gateway}."
  }
}

# The fake boots no image whose name holds "fail-boot": what does your configuration do then?
run "reports_a_failed_boot" {
  command = plan

  variables {
    image = ""
  }

  expect_failures = [gpuvm_instance.client]
}
