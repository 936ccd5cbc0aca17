package program

import (
	"os"
	"runtime/debug"
)

const (
	// garbagePercent lets five times the few megabytes that are in use pile up before they are collected: a call makes much
	// garbage and keeps nothing, and collecting it more often took a fifth of a plan's time.
	garbagePercent = 400
	// memoryLimit is from where on collecting goes before speed, in bytes.
	memoryLimit = 96 << 20
)

// tuneGarbage sets how garbage is collected, where the environment doesn't.
func tuneGarbage() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbagePercent)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit)
	}
}
