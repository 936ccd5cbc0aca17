package opensandbox

import (
	"bytes"
	"strings"
	"sync"
	"time"
)

const (
	historyLines  = 500      // of the log that is kept
	shownOutput   = 16 << 10 // bytes of the last command's output
	longestLine   = 4 << 10  // bytes of a line of the log
	longestFrames = 1 << 20  // bytes of a line of a command's output, after which it is sent unfinished
)

// history is what a sandbox's log and screen show. It is bounded, and has a lock of its own since commands write to it.
type history struct {
	mu      sync.Mutex
	log     []logLine
	command string
	output  []byte
	code    string
}

type logLine struct {
	at   time.Time
	text string
}

func (h *history) note(at time.Time, text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.log) == historyLines {
		h.log = append(h.log[:0], h.log[historyLines/5:]...)
	}
	h.log = append(h.log, logLine{at, text[:min(len(text), longestLine)]})
}

// lastLines gives the log's last lines that are not older than since.
func (h *history) lastLines(count int, since time.Time) []logLine {
	h.mu.Lock()
	defer h.mu.Unlock()
	first := max(0, len(h.log)-count)
	for first < len(h.log) && h.log[first].at.Before(since) {
		first++
	}
	return append([]logLine(nil), h.log[first:]...)
}

// begin notes a command for the screen.
func (h *history) begin(command string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.command, h.output, h.code = command, nil, ""
}

// Write adds to the output of the last command.
func (h *history) Write(data []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.output = append(h.output, data...)
	if len(h.output) > shownOutput {
		h.output = append([]byte(nil), h.output[len(h.output)-shownOutput/2:]...)
	}
	return len(data), nil
}

func (h *history) finish(code string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.code = code
}

func (h *history) last() (command, output, code string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.command, strings.ToValidUTF8(string(h.output), "\uFFFD"), h.code
}

// lines cuts a stream as execd does: a line ends with \n or \r, its end is left out, a blank line is "\n", and the \n of a \r\n pair
// adds nothing.
type lines struct {
	mu          sync.Mutex
	each        func(line string)
	rest        []byte
	afterReturn bool
}

func (l *lines) Write(data []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	size := len(data)
	for len(data) > 0 {
		end := bytes.IndexAny(data, "\r\n")
		if end < 0 {
			l.rest, l.afterReturn = append(l.rest, data...), false
			if len(l.rest) > longestFrames {
				l.send()
			}
			break
		}
		l.rest = append(l.rest, data[:end]...)
		blank := len(l.rest) == 0
		pair := blank && end == 0 && data[end] == '\n' && l.afterReturn
		switch {
		case !blank:
			l.send()
		case !pair:
			l.each("\n")
		}
		l.afterReturn = data[end] == '\r'
		data = data[end+1:]
	}
	return size, nil
}

// flush sends a last line that has no end.
func (l *lines) flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.rest) > 0 {
		l.send()
	}
}

func (l *lines) send() {
	l.each(strings.ToValidUTF8(string(l.rest), "\uFFFD"))
	l.rest = l.rest[:0]
}
