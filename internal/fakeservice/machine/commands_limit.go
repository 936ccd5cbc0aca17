package machine

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/clock"
)

// limited is a context that ends at a time of the machine's clock. Whoever waits on it looks at Err, not at Done: nothing
// tells when a clock that a test holds has come so far.
type limited struct {
	context.Context
	clock clock.Clock
	until time.Time
}

type limitKey struct{}

func (l limited) Err() error {
	if err := l.Context.Err(); err != nil {
		return err
	}
	if !l.clock.Now().Before(l.until) {
		return context.DeadlineExceeded
	}
	return nil
}

func (l limited) Value(key any) any {
	if key == (limitKey{}) {
		return l.until
	}
	return l.Context.Value(key)
}

// runTimeout is timeout [-s signal] [-k time] time command; 124 when the time ran out.
func runTimeout(ctx context.Context, c *call) int {
	_, argv := c.options("sk")
	if len(argv) < 2 {
		return c.fail(125, "missing operand")
	}
	limit, err := seconds(argv[0])
	if err != nil {
		return c.fail(125, "invalid time interval '%s'", argv[0])
	}
	until := c.shell.machine.clock.Now().Add(limit)
	if earlier, nested := ctx.Value(limitKey{}).(time.Time); nested && earlier.Before(until) {
		until = earlier
	}
	within := limited{ctx, c.shell.machine.clock, until}
	//nolint:contextcheck // it is ctx, with another end
	code := c.runAs(within, c.shell.user, argv[1:], c.exported(), c.streams)
	if within.Err() != nil {
		return 124
	}
	return code
}

// seconds reads a time as sleep and timeout take it: 1, 0.5, 2s, 3m, 1h, 1d.
func seconds(text string) (time.Duration, error) {
	if text != "" && strings.ContainsRune("0123456789.", rune(text[len(text)-1])) {
		text += "s"
	}
	if days, isDays := strings.CutSuffix(text, "d"); isDays {
		d, err := time.ParseDuration(days + "h")
		return d * 24, err
	}
	return time.ParseDuration(text)
}

// runXargs is xargs [-n count] [-I name] command: words of the standard input as arguments.
func runXargs(ctx context.Context, c *call) int {
	flags, argv := c.options("nI")
	if len(argv) == 0 {
		argv = []string{"echo"}
	}
	var groups [][]string
	read, err := io.ReadAll(io.LimitReader(c.in, maxLine))
	if err != nil {
		return c.fail(1, "%v", err)
	}
	switch {
	case has(flags, "I"):
		for line := range bytes.Lines(read) {
			word := strings.TrimSpace(string(line))
			filled := make([]string, len(argv))
			for i, arg := range argv {
				filled[i] = strings.ReplaceAll(arg, flags["I"], word)
			}
			groups = append(groups, filled)
		}
	default:
		words := strings.Fields(string(read))
		if bytes.ContainsRune(read, 0) {
			words = strings.Split(strings.TrimSuffix(string(read), "\x00"), "\x00")
		}
		size := max(len(words), 1)
		if n := number(flags["n"]); n > 0 {
			size = n
		}
		for chunk := range slices.Chunk(words, size) {
			groups = append(groups, append(slices.Clone(argv), chunk...))
		}
	}
	code := 0
	for _, group := range groups {
		if c.runAs(ctx, c.shell.user, group, c.exported(), streams{strings.NewReader(""), c.out, c.err}) != 0 {
			code = 123
		}
	}
	return code
}
