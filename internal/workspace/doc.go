// Package workspace runs Terraform on a configuration with the built providers, for tests that act in the middle of a run: they
// see when it says something, find its processes, and wait until all of them are gone.
package workspace
