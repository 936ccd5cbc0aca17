package opensandbox

import "unicode/utf8"

// MaxCaptured bounds how much of each stream of a command is kept, in bytes: its end.
const MaxCaptured = 64 << 10

// Captured is what a command printed to one stream. execd tells lines without saying whether the last one ended, so each
// ends in a line feed here.
type Captured struct {
	Text      string // its end, at most MaxCaptured bytes, in valid UTF-8
	Truncated bool   // something before it, or within it, was left out
}

// tail keeps the end of what is added to it.
type tail struct {
	buf  []byte
	lost bool
}

func (t *tail) add(line string) {
	if over := len(line) + 1 - MaxCaptured; over > 0 {
		line, t.buf, t.lost = line[over:], t.buf[:0], true
	}
	t.buf = append(append(t.buf, line...), '\n')
	// Moving the end to the front only now and then keeps a long output linear.
	if len(t.buf) > 2*MaxCaptured {
		t.cut()
	}
}

func (t *tail) cut() {
	if over := len(t.buf) - MaxCaptured; over > 0 {
		t.buf, t.lost = append(t.buf[:0], t.buf[over:]...), true
	}
}

func (t *tail) captured() Captured {
	t.cut()
	text := t.buf
	// The cut may have hit the middle of a character.
	for len(text) > 0 && t.lost && !utf8.RuneStart(text[0]) {
		text = text[1:]
	}
	return Captured{Text: string(text), Truncated: t.lost}
}
