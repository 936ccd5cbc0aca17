package terraformcli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Event is a line of the machine-readable output of plan, apply and destroy
// (https://developer.hashicorp.com/terraform/internals/machine-readable-ui).
type Event struct {
	Type       string            `json:"type"`
	Message    string            `json:"@message"`
	Hook       Hook              `json:"hook"`
	Changes    *Changes          `json:"changes"`
	Diagnostic *Diagnostic       `json:"diagnostic"`
	Outputs    map[string]Output `json:"outputs"`
}

// Hook says which object an event is about and what happened to it.
type Hook struct {
	Resource struct {
		Addr string `json:"addr"`
	} `json:"resource"`
	Action         string  `json:"action"` // create, update, delete, read
	ID             string  `json:"id_value"`
	ElapsedSeconds float64 `json:"elapsed_seconds"`
}

// Changes counts what a run did or would do.
type Changes struct {
	Add       int    `json:"add"`
	Change    int    `json:"change"`
	Remove    int    `json:"remove"`
	Operation string `json:"operation"` // plan, apply, destroy
}

// Diagnostic is an error or a warning.
type Diagnostic struct {
	Severity string `json:"severity"`
	Summary  string `json:"summary"`
	Detail   string `json:"detail"`
}

// Output is an output value of the configuration.
type Output struct {
	Sensitive bool            `json:"sensitive"`
	Value     json.RawMessage `json:"value"`
}

// Stream runs a command with -json and hands each event over as it comes. Its error carries the reported diagnostics.
func (c CLI) Stream(ctx context.Context, each func(Event), args ...string) error {
	cmd := c.command(ctx, append(args, "-json"))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("%s: %w", strings.Join(args, " "), err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("%s: %w", strings.Join(args, " "), err)
	}
	failure := &Error{Args: args}
	rest, readErr := readEvents(stdout, func(e Event) {
		if e.Diagnostic != nil && e.Diagnostic.Severity == "error" {
			failure.Diagnostics = append(failure.Diagnostics, *e.Diagnostic)
		}
		each(e)
	})
	if err := errors.Join(readErr, cmd.Wait()); err != nil {
		failure.Err, failure.Exit, failure.Output = err, exitCode(err), rest+stderr.String()
		return failure
	}
	return nil
}

// readEvents gives back the lines that aren't events, such as a usage error.
func readEvents(r io.Reader, each func(Event)) (rest string, err error) {
	var other strings.Builder
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadString('\n')
		var event Event
		switch {
		case strings.TrimSpace(line) == "":
		case json.Unmarshal([]byte(line), &event) == nil && event.Type != "":
			each(event)
		default:
			other.WriteString(line)
		}
		if errors.Is(err, io.EOF) {
			return other.String(), nil
		}
		if err != nil {
			return other.String(), fmt.Errorf("reading the program's output: %w", err)
		}
	}
}
