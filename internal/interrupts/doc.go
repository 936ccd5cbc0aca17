// Package interrupts holds the built programs, under the real Terraform, to what is promised of interrupts: at every request
// of a create, an update and a destroy, for each way in which a run can be cut short. It has tests only.
package interrupts
