package opensandbox

import (
	"slices"
	"strings"
)

// chatter begins what a sandbox's agent notes of each request and each line that a command prints: dozens of lines for one probe,
// in the same log as the entrypoint's own.
var chatter = []string{"Requested: ", "Proxy: ", "received command: ", "StreamEvent.", "CommandExecError: error running commands: exit status"}

// withoutChatter leaves of a sandbox's log what says something about the sandbox.
func withoutChatter(log string) string {
	var kept strings.Builder
	for line := range strings.Lines(log) {
		if !isChatter(line) {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

func isChatter(line string) bool {
	if !strings.HasPrefix(line, `{"level":"`) {
		return false
	}
	_, message, _ := strings.Cut(line, `"msg":"`)
	return slices.ContainsFunc(chatter, func(beginning string) bool { return strings.HasPrefix(message, beginning) })
}
