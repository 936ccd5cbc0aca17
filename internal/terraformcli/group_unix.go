//go:build unix

package terraformcli

import (
	"os/exec"
	"syscall"
)

// InOwnGroup starts a program in a process group of its own: a Ctrl-C at the terminal then reaches only the program
// that runs it, which decides what ends in which order.
func InOwnGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
