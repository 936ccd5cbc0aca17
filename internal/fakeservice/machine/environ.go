package machine

import (
	"maps"

	"mvdan.cc/sh/v3/expand"
)

// environ is a command's environment.
type environ struct {
	vars map[string]string
	// resetting is true while the interpreter starts. It would make named pipes for "<(...)" on the host, in $TMPDIR: it is
	// told a place where none can be made. Scripts see the real value.
	resetting *bool
}

func newEnviron(layers ...map[string]string) environ {
	e := environ{vars: map[string]string{}, resetting: new(bool)}
	for _, layer := range layers {
		maps.Copy(e.vars, layer)
	}
	return e
}

func (e environ) hideTemporary(reset func()) {
	*e.resetting = true
	reset()
	*e.resetting = false
}

// Get and Each make it an expand.Environ.
func (e environ) Get(name string) expand.Variable {
	if *e.resetting && name == "TMPDIR" {
		return expand.Variable{Set: true, Kind: expand.String, Str: "/dev/null/none"}
	}
	value, set := e.vars[name]
	if !set {
		return expand.Variable{}
	}
	return expand.Variable{Set: true, Exported: true, Kind: expand.String, Str: value}
}

// Each tells every variable.
func (e environ) Each(tell func(name string, v expand.Variable) bool) {
	for name, value := range e.vars {
		if !tell(name, expand.Variable{Set: true, Exported: true, Kind: expand.String, Str: value}) {
			return
		}
	}
}
