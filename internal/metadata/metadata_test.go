package metadata

import (
	"strings"
	"testing"
)

func TestNormalize(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"red":                                   "red",
		"red team!":                             "red_team",
		"a//b":                                  "a_b",
		"a/_/b":                                 "a___b",
		"_.-x-._":                               "x",
		"":                                      "metadata",
		"...":                                   "metadata",
		"äöü":                                   "metadata",
		"Grüße":                                 "Gr_e",
		"a.b_c-d":                               "a.b_c-d",
		"line\nbreak":                           "line_break",
		strings.Repeat("x", 70):                 strings.Repeat("x", 63),
		strings.Repeat("x", 62) + ".y":          strings.Repeat("x", 62),
		" " + strings.Repeat("x", 63) + " ":     strings.Repeat("x", 63),
		strings.Repeat("x", 60) + "...." + "yz": strings.Repeat("x", 60),
	} {
		if got := Normalize(value); got != want {
			t.Errorf("%q becomes %q, want %q", value, got, want)
		}
		if again := Normalize(Normalize(value)); again != want {
			t.Errorf("%q becomes %q when it is normalized twice", value, again)
		}
	}
}

func TestCheckKey(t *testing.T) {
	t.Parallel()
	for key, valid := range map[string]bool{
		"team": true, "a": true, "A.b_c-d": true, "example.com/team": true, "a/b": true, strings.Repeat("x", 63): true,
		strings.Repeat("a", 253) + "/x": true,
		"":                              false, "/x": false, "x/": false, "-x": false, "x-": false, "x y": false, "a/b/c": false, "ä": false,
		strings.Repeat("x", 64): false, strings.Repeat("a", 254) + "/x": false, "Example.com/x": false, "a..b/x": false, "-a/x": false,
		"opensandbox.io/x": false, "agentenv.dev/create-id": false, "agentenv.dev/other": true, "opensandbox.io.example/x": true,
	} {
		if err := CheckKey(key); (err == nil) != valid {
			t.Errorf("%q: %v", key, err)
		}
	}
}

func TestVisibleLeavesOutTheMark(t *testing.T) {
	t.Parallel()
	live := map[string]string{"a": "b", "agentenv.dev/create-id": "x"}
	if shown := Visible(live); len(shown) != 1 || shown["a"] != "b" || len(live) != 2 {
		t.Errorf("%v of %v", shown, live)
	}
}
