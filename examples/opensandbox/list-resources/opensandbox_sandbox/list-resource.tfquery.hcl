# terraform query lists them; terraform query -generate-config-out=sandboxes.tf writes what takes them over.
list "opensandbox_sandbox" "evaluation" {
  provider = opensandbox
  limit    = 500

  config {
    states   = ["Running", "Paused"]
    metadata = { project = "evaluation" }
  }
}
