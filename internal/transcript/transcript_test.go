package transcript

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestKeepHoldsTheEnd(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		printed   string
		wantLen   int
		truncated bool
	}{
		"nothing":                    {"", 0, false},
		"short":                      {"hello\n", 6, false},
		"exactly as much":            {strings.Repeat("x", MaxKept), MaxKept, false},
		"one byte more":              {strings.Repeat("x", MaxKept+1), MaxKept, true},
		"a character across the cut": {strings.Repeat("é", MaxKept/2) + "x", MaxKept - 1, true},
		"an emoji across the cut":    {strings.Repeat("🙂", MaxKept/4) + "x", MaxKept - 3, true},
	} {
		kept := Keep(test.printed)
		if len(kept.Text) != test.wantLen || kept.Truncated != test.truncated {
			t.Errorf("%s: kept %d bytes, truncated %t; want %d, %t", name, len(kept.Text), kept.Truncated, test.wantLen, test.truncated)
		}
		if !strings.HasSuffix(test.printed, kept.Text) || !utf8.ValidString(kept.Text) {
			t.Errorf("%s: what is kept is not the end in valid UTF-8", name)
		}
	}
}

func TestTailIsShortCleanAndEndsInTheErrors(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a line of output that fills the message\n", 1000)
	for name, test := range map[string]struct{ stdout, stderr, want string }{
		"nothing":        {"", "\n", ""},
		"stdout only":    {"done\n", "", "done"},
		"both":           {"step 1\nstep 2\n", "no space left\n", "step 1\nstep 2\nno space left"},
		"colours":        {"", "\x1b[31mfailed\x1b[0m\r\n", "failed"},
		"blank between":  {"a\n\nb\n", "", "a\n\nb"},
		"carriage only":  {"10%\r50%\r100%\n", "", "100%"},
		"one long line":  {strings.Repeat("y", maxShown+100), "", "…\n" + strings.Repeat("y", maxShown)},
		"multi-byte cut": {strings.Repeat("é", maxShown), "", "…\n" + strings.Repeat("é", maxShown/2)},
	} {
		if got := Tail(Output{Text: test.stdout}, Output{Text: test.stderr}); got != test.want {
			t.Errorf("%s: got %.200q, want %.200q", name, got, test.want)
		}
	}
	got := Tail(Keep(long), Output{Text: "the reason"})
	if !strings.HasPrefix(got, "…\na line of output") || !strings.HasSuffix(got, "\nthe reason") || len(got) > maxShown+10 {
		t.Errorf("a long output: %d bytes, %.80q ... %q", len(got), got, got[len(got)-40:])
	}
}

func TestCleanLeavesNothingThatMovesATerminal(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"plain text":                         "plain text",
		"col1\tcol2":                         "col1\tcol2",
		"\x1b[1;31mred\x1b[0m":               "red",
		"\x1b]0;title\x07after":              "after",
		"\x1b]8;;http://x\x1b\\link\x1b]8;;": "link",
		"\x1b(Bcharset":                      "charset",
		"\u009b2Jcleared":                    "cleared",
		"bell\a back\b null\x00":             "bell back null",
		"10%\r 50%\r100%":                    "100%",
		"dos line\r":                         "dos line",
		"\xff\xfebytes":                      "\uFFFDbytes",
		"evil\u202Etxt.exe":                  "eviltxt.exe",
		"two\u2028lines\vand\fmore":          "two lines and more",
		"\x1b":                               "",
		"\x1b[":                              "",
		"Grüße, 世界 🙂":                        "Grüße, 世界 🙂",
	} {
		if got := Clean(line); got != want {
			t.Errorf("Clean(%q) = %q, want %q", line, got, want)
		}
	}
	if got := Clean(strings.Repeat("é", maxLine)); len(got) > maxLine+len("…") || !utf8.ValidString(got) || !strings.HasSuffix(got, "é…") {
		t.Errorf("a long line: %d bytes, ends %q", len(got), got[len(got)-6:])
	}
}

func TestLines(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"":            nil,
		"\n":          {""},
		"a":           {"a"},
		"a\nb\n":      {"a", "b"},
		"a\r\n\r\nb":  {"a", "", "b"},
		"1%\r2%\nend": {"1%\r2%", "end"},
	} {
		if got := slices.Collect(Lines(text)); !slices.Equal(got, want) {
			t.Errorf("Lines(%q) = %q, want %q", text, got, want)
		}
	}
	for range Lines("a\nb") {
		break // whoever has seen enough may stop
	}
}

func FuzzClean(f *testing.F) {
	f.Add("\x1b[31mred\x1b[0m\r\n")
	f.Add("\x1b]0;title\x07\xff")
	f.Fuzz(func(t *testing.T, line string) {
		got := Clean(line)
		if !utf8.ValidString(got) || strings.ContainsAny(got, "\x1b\r\n\x00\x07\x7f\u009b") || len(got) > maxLine+len("…") {
			t.Errorf("Clean(%q) = %q", line, got)
		}
	})
}
