// Package crash keeps of a panic what its report needs: what it was, and where.
package crash

import (
	"fmt"
	"path"
	"runtime"
	"strings"
)

// Error is a panic that became an error.
type Error struct {
	Value any
	Where string // the calls that led there, the innermost first: "model.go:41 < resource.go:88"
}

// Recovered makes an error of what recover gave. It is called by the deferred function itself, while the stack stands.
func Recovered(value any) *Error { return &Error{Value: value, Where: trace()} }

func (e *Error) Error() string { return fmt.Sprintf("the provider crashed: %v (%s)", e.Value, e.Where) }

// depth is how many calls are told: the place and how it was come to.
const depth = 6

// trace names the calls of this module below the panic. It has no arguments of calls in it, which might be secrets.
func trace() string {
	var all [64]uintptr
	frames := runtime.CallersFrames(all[:runtime.Callers(1, all[:])])
	var calls []string
	panicked := false
	for {
		frame, more := frames.Next()
		ours := strings.Contains(frame.Function, "/terraform-provider-gpuvm/")
		switch {
		case frame.Function == "runtime.gopanic":
			panicked, calls = true, nil
		case panicked && ours && len(calls) < depth:
			calls = append(calls, fmt.Sprintf("%s:%d", path.Base(frame.File), frame.Line))
		}
		if !more {
			return strings.Join(calls, " < ")
		}
	}
}
