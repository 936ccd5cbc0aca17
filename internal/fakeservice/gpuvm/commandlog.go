package gpuvm

import (
	"fmt"
	"strings"
	"sync"
	"time"
)

// What the display shows of commands.
const (
	shownCommands = 20
	shownOutput   = 4 << 10 // bytes of each
)

// tail keeps the end of what is written to it. It is safe for concurrent use.
type tail struct {
	mu   sync.Mutex
	max  int
	data []byte
}

func newTail(limit int) *tail { return &tail{max: limit} }

func (t *tail) Write(data []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data = append(t.data, data...)
	if len(t.data) > 2*t.max { // cut now and then, not at each write
		t.data = append(t.data[:0], t.data[len(t.data)-t.max:]...)
	}
	return len(data), nil
}

// String gives the last bytes, as valid UTF-8.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.ToValidUTF8(string(t.data[max(len(t.data)-t.max, 0):]), "\uFFFD")
}

// commandLog is the last commands of a machine, for its display.
type commandLog struct{ commands []*loggedCommand }

// loggedCommand is one of them. Its text is only a title: arguments and scripts may hold secrets, and the display asks for
// no token.
type loggedCommand struct {
	title   string
	started time.Time
	output  *tail

	mu    sync.Mutex
	ended bool
	code  int
}

func (l *commandLog) start(argv []string, now time.Time) *loggedCommand {
	c := &loggedCommand{title: title(argv), started: now, output: newTail(shownOutput)}
	l.commands = append(l.commands, c)
	if len(l.commands) > shownCommands {
		l.commands[0] = nil
		l.commands = l.commands[1:]
	}
	return c
}

func (c *loggedCommand) end(code int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended, c.code = true, code
}

func (c *loggedCommand) state() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.ended {
		return "running"
	}
	return fmt.Sprintf("exit %d", c.code)
}

// title names a command without its arguments, and a script by its length.
func title(argv []string) string {
	for i, word := range argv {
		if word == "-c" && i > 0 && i+1 < len(argv) {
			lines := strings.Count(strings.TrimRight(argv[i+1], "\n"), "\n") + 1
			return fmt.Sprintf("%s (script, lines: %d)", shorten(strings.Join(argv[:i+1], " ")), lines)
		}
	}
	if len(argv) == 1 {
		return shorten(argv[0])
	}
	return fmt.Sprintf("%s (arguments: %d)", shorten(argv[0]), len(argv)-1)
}

func shorten(text string) string {
	if letters := []rune(text); len(letters) > 60 {
		return string(letters[:60]) + "..."
	}
	return text
}
