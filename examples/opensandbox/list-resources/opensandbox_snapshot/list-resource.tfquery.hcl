# terraform query lists them; terraform query -generate-config-out=snapshots.tf writes what takes them over.
list "opensandbox_snapshot" "ready" {
  provider         = opensandbox
  include_resource = true

  config {
    states = ["Ready"]
  }
}
