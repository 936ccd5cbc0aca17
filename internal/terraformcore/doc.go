// Package terraformcore plays Terraform's part of the plugin protocol for one object at a time: it validates, refreshes,
// plans, applies, imports and destroys as Terraform's core does, and holds the provider to what core demands of it. It is
// for tests that need thousands of runs, where a Terraform program takes a second each.
//
// What core demands is taken from the protocol's description of the resource instance change lifecycle
// (https://github.com/hashicorp/terraform/blob/main/docs/resource-instance-change-lifecycle.md), and where that is silent,
// from what the programs were seen to do.
package terraformcore
