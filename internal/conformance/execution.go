package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Names of steps that others refer to.
const (
	stepOutput = "exec: output and exit code 0"
	stepCode   = "exec: another exit code"
	stepArgv   = "exec: arguments, not a shell's line"
)

const execContract = `POST /v1/vms/{id}/exec {"argv": ["command", "argument"]} answers 200 {"exit_code": 0, "stdout": "", "stderr": ""}, once the command has ended, however long that takes.`

// ran is the answer to an exec.
type ran struct {
	*exchange
	code           int
	stdout, stderr string
	wrong          string // why it is none
}

// endlessExec is how much longer than its command an exec may take before the check gives up on it.
const endlessExec = 5 * time.Minute

// exec runs a command in the main machine.
func (r *run) exec(ctx context.Context, argv ...string) ran {
	body, err := json.Marshal(map[string][]string{"argv": argv})
	if err != nil { // words can't fail to be JSON
		panic(err)
	}
	e := ran{exchange: r.do(ctx, request{method: "POST", path: []string{r.main.id, "exec"}, body: body, contentType: jsonType, limit: r.LongCommand + endlessExec})}
	if !e.is(200) {
		e.wrong = "no 200"
		return e
	}
	fields, err := e.object()
	if err != nil {
		e.wrong = err.Error()
		return e
	}
	code, isNumber := fields["exit_code"].(float64)
	stdout, hasStdout := fields["stdout"].(string)
	stderr, hasStderr := fields["stderr"].(string)
	switch {
	case !isNumber || code != float64(int(code)):
		e.wrong = "exit_code is no whole number: " + written(fields, "exit_code")
	case !hasStdout:
		e.wrong = "stdout is no text: " + written(fields, "stdout")
	case !hasStderr:
		e.wrong = "stderr is no text: " + written(fields, "stderr")
	}
	e.code, e.stdout, e.stderr = int(code), stdout, stderr
	return e
}

// want judges all of what a command gave.
func (e ran) want(code int, stdout, stderr string) outcome {
	switch {
	case e.wrong != "":
		return fail(e.exchange, "%s", e.wrong)
	case e.code != code:
		return fail(e.exchange, "the exit code is %d, not %d", e.code, code)
	case e.stdout != stdout:
		return fail(e.exchange, "stdout is %q, not %q", e.stdout, stdout)
	case e.stderr != stderr:
		return fail(e.exchange, "stderr is %q, not %q", e.stderr, stderr)
	}
	return pass(e.exchange)
}

func execution() []step {
	return []step{
		{
			name: stepOutput, contract: execContract, ready: running,
			do: func(ctx context.Context, r *run) outcome {
				return r.exec(ctx, "sh", "-c", `printf 'grün\n \n'; printf 'err\n' >&2`).want(0, "grün\n \n", "err\n")
			},
		},
		{
			name: stepCode, contract: execContract, ready: after(stepOutput),
			do: func(ctx context.Context, r *run) outcome {
				return r.exec(ctx, "sh", "-c", "printf out; exit 7").want(7, "out", "")
			},
		},
		{
			name: stepArgv, contract: execContract, ready: after(stepOutput),
			do: func(ctx context.Context, r *run) outcome {
				return r.exec(ctx, "printf", "%s|", "a b", "$HOME; *", `"`, "", "ü").want(0, `a b|$HOME; *|"||ü|`, "")
			},
		},
		{
			name:     "exec: a script as root",
			contract: "The provider runs scripts as argv [\"sudo\", \"bash\", \"-c\", script]: an image has both.",
			ready:    after(stepOutput),
			do: func(ctx context.Context, r *run) outcome {
				return r.exec(ctx, "sudo", "bash", "-c", "set -eu\nid -u").want(0, "0\n", "")
			},
		},
		{
			name: "exec: a command that takes long", contract: execContract,
			ready: func(r *run) string {
				if r.LongCommand <= 0 {
					return "it was left out"
				}
				return after(stepOutput)(r)
			},
			do: checkLong,
		},
	}
}

func checkLong(ctx context.Context, r *run) outcome {
	seconds := strconv.Itoa(max(1, int(r.LongCommand/time.Second)))
	e := r.exec(ctx, "sh", "-c", "printf begun; sleep "+seconds+"; printf ' ended'")
	if e.err != nil && ctx.Err() == nil {
		return fail(e.exchange, "the answer didn't wait for a command of %s s; it broke off after %s", seconds, e.took.Round(time.Second))
	}
	return e.want(0, "begun ended", "")
}

// Names of steps that others refer to.
const (
	stepPut  = "files: PUT"
	stepSeen = "files: exec sees what was put"
)

const filesContract = "PUT /v1/vms/{id}/files?path=/absolute/path with the file's bytes answers 204; parent folders are made, an older file is replaced."

func (r *run) put(ctx context.Context, path string, data []byte) *exchange {
	return r.do(ctx, request{
		method: "PUT", path: []string{r.main.id, "files"}, query: "path=" + queryEscape(path), body: data, contentType: byteType,
		shown: fmt.Sprintf("(%d bytes)", len(data)),
	})
}

// queryEscape writes every other byte than a plain one as %XX: a plus sign would leave open what is meant by a space.
func queryEscape(text string) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		if c == '/' || c == '-' || c == '.' || c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

func (r *run) folder() string { return "/tmp/conformance-" + r.tag }

// everyByte is a file of all 256 bytes, twice, with an empty line at its end.
func everyByte() []byte {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	return slices.Concat(all, all, []byte("\r\n\n"))
}
