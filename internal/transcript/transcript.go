// Package transcript is what a command printed: keeping the end of it, and making it safe to show.
package transcript

import (
	"iter"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// MaxKept is how much of a stream is kept, in bytes: its end.
	MaxKept = 64 << 10
	// maxShown is how much of a command's output a message shows, in bytes: its end.
	maxShown = 4 << 10
	// maxLine is how much of one line is shown while a command runs, in bytes: its start.
	maxLine = 4 << 10
)

// Output is what a command printed to one stream.
type Output struct {
	Text      string // its end, at most MaxKept bytes
	Truncated bool   // something before Text was left out
}

// Keep cuts what was printed down to what is kept of it.
func Keep(printed string) Output {
	text := end(printed, MaxKept)
	return Output{Text: text, Truncated: len(text) < len(printed)}
}

// end is the last bytes of a text, without the rest of a character that the cut goes through.
func end(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	text = text[len(text)-limit:]
	for i := range min(len(text), utf8.UTFMax) {
		if utf8.RuneStart(text[i]) {
			return text[i:]
		}
	}
	return text
}

// Tail is the end of what a command printed, for a message: whole lines where there are some, the errors last.
func Tail(stdout, stderr Output) string {
	text := strings.TrimSpace(strings.TrimSpace(stdout.Text) + "\n" + strings.TrimSpace(stderr.Text))
	cut := len(text) > maxShown
	if text = end(text, maxShown); cut {
		if _, whole, found := strings.Cut(text, "\n"); found {
			text = whole
		}
	}
	var lines []string
	if cut {
		lines = append(lines, "…")
	}
	for line := range Lines(text) {
		lines = append(lines, Clean(line))
	}
	return strings.Join(lines, "\n")
}

// Lines gives each line of a text, without what ends it.
func Lines(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for line := range strings.Lines(text) {
			if !yield(strings.TrimRight(line, "\r\n")) {
				return
			}
		}
	}
}

// escapes are the sequences by which a program moves a terminal's cursor, colours its text or renames its window
// (ECMA-48, sections 5.3, 5.4 and 5.6).
var escapes = regexp.MustCompile("(?:\x1b\\[|\u009b)[0-?]*[ -/]*[@-~]" + // control sequences
	"|(?:\x1b[\\]PX^_]|[\u009d\u0090\u0098\u009e\u009f])[^\x07\x1b\u009c]*(?:\x07|\x1b\\\\|\u009c)?" + // control strings
	"|\x1b[ -/]*[0-~]")

// Clean is one line as it may be shown on a terminal, in a log and in a message of gRPC: without control characters, in
// valid UTF-8, and not without end. Of a line that was written over (a progress bar) the last state stays.
func Clean(line string) string {
	line = escapes.ReplaceAllString(strings.ToValidUTF8(line, "\uFFFD"), "")
	line = strings.TrimRight(line, "\r\n")
	line = line[strings.LastIndexByte(line, '\r')+1:]
	line = strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return r
		case r == '\n' || r == '\v' || r == '\f' || r == '\u2028' || r == '\u2029':
			return ' '
		case unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r):
			return -1
		}
		return r
	}, line)
	if len(line) > maxLine {
		line = strings.ToValidUTF8(line[:maxLine], "") + "…"
	}
	return line
}
