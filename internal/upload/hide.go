package upload

import "strings"

const (
	// hiddenRun is how many bytes in a row of an uploaded file make a quotation.
	hiddenRun = 8
	// shortest content that is looked for: to blank out each "1" or "on" would ruin a message and hide nothing.
	shortest = 4
)

// Hide gives the error of an upload without what it quotes of the content: some services repeat in an error what came,
// in whole or in part.
func Hide(err error, data []byte) error { return &hidden{text: hide(err.Error(), data), err: err} }

type hidden struct {
	text string
	err  error
}

func (h *hidden) Error() string { return h.text }

func (h *hidden) Unwrap() error { return h.err }

func hide(text string, data []byte) string {
	run := min(hiddenRun, len(data))
	if run < shortest {
		return text
	}
	// The text is short and the content may be long: each run of the text is looked up while the content goes by once.
	at := map[string][]int{}
	for i := range len(text) - run + 1 {
		at[text[i:i+run]] = append(at[text[i:i+run]], i)
	}
	quoted := make([]bool, len(text))
	for i := range len(data) - run + 1 {
		for _, start := range at[string(data[i:i+run])] {
			for j := start; j < start+run; j++ {
				quoted[j] = true
			}
		}
	}
	var shown strings.Builder
	for i := range len(text) {
		switch {
		case !quoted[i]:
			shown.WriteByte(text[i])
		case i == 0 || !quoted[i-1]:
			shown.WriteString("(redacted)")
		}
	}
	return strings.ToValidUTF8(shown.String(), "")
}
