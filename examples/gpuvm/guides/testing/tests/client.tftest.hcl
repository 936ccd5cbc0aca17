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

run "refuses_an_image_without_a_gateway" {
  command = plan

  variables {
    image = "ubuntu"
  }

  expect_failures = [var.image]
}
