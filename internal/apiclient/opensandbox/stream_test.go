package opensandbox

import (
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestFollow(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", MaxCaptured)
	for name, test := range map[string]struct {
		stream string
		want   Result
		cut    bool
	}{
		"bare JSON":                {stream: `{"type":"init","text":"c"}` + "\n\n" + `{"type":"execution_complete"}` + "\n\n", want: Result{ID: "c"}},
		"no blank line at the end": {stream: `{"type":"init","text":"c"}` + "\n" + `{"type":"execution_complete"}`, want: Result{ID: "c"}},
		"data frames":              {stream: "data: {\"type\":\"init\",\"text\":\"c\"}\n\ndata:{\"type\":\"execution_complete\"}\n\n", want: Result{ID: "c"}},
		"data over two lines":      {stream: "data: {\"type\":\"init\",\ndata: \"text\":\"c\"}\n\ndata: {\"type\":\"execution_complete\"}", want: Result{ID: "c"}},
		"other fields":             {stream: ": comment\nevent: x\nid: 1\nretry: 3\ndata: {\"type\":\"execution_complete\"}\n\n", want: Result{}},
		"carriage returns":         {stream: "data: {\"type\":\"stdout\",\"text\":\"a\"}\r\n\r\n{\"type\":\"execution_complete\"}\r\n", want: Result{Stdout: Captured{Text: "a\n"}}},
		"unknown events":           {stream: `{"type":"status","text":"x"}` + "\n" + `{"type":"new"}` + "\n" + `{"type":"execution_complete"}`, want: Result{}},
		"exit code":                {stream: `{"type":"error","error":{"ename":"CommandExecError","evalue":"127"}}`, want: Result{ExitCode: 127}},
		"signal":                   {stream: `{"type":"error","error":{"ename":"CommandExecError","evalue":"-1"}}`, want: Result{ExitCode: -1}},
		"never started":            {stream: `{"type":"error","error":{"ename":"CommandExecError","evalue":"fork/exec: no such file"}}`, want: Result{ExitCode: 125, Failure: "CommandExecError: fork/exec: no such file"}},
		"error without words":      {stream: `{"type":"error"}`, want: Result{ExitCode: 125, Failure: "the agent reports an error and says nothing about it"}},
		"error body in the stream": {stream: `{"code":"RUNTIME_ERROR","message":"no shell"}`, want: Result{ExitCode: 125, Failure: "RUNTIME_ERROR: no shell"}},
		"cut":                      {stream: `{"type":"init","text":"c"}` + "\n\n" + `{"type":"stdo`, want: Result{ID: "c", Stdout: Captured{Truncated: true}, Stderr: Captured{Truncated: true}}, cut: true},
		"empty":                    {cut: true},
		"garbage in between":       {stream: "{oops}\n" + `{"type":"execution_complete"}`, want: Result{Stdout: Captured{Truncated: true}, Stderr: Captured{Truncated: true}}},
		"long output": {stream: `{"type":"stdout","text":"first"}` + "\n" + `{"type":"stdout","text":"` + long[:MaxCaptured-1] + `"}` + "\n" + `{"type":"execution_complete"}`,
			want: Result{Stdout: Captured{Text: long[:MaxCaptured-1] + "\n", Truncated: true}}},
		"long line": {stream: `{"type":"stdout","text":"y` + long + `"}` + "\n" + `{"type":"execution_complete"}`,
			want: Result{Stdout: Captured{Text: long[:MaxCaptured-1] + "\n", Truncated: true}}},
		"an event over the limit": {stream: `{"type":"stdout","text":"` + strings.Repeat("z", maxEvent) + `"}` + "\n" + `{"type":"execution_complete"}`,
			want: Result{Stdout: Captured{Truncated: true}, Stderr: Captured{Truncated: true}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := follow(strings.NewReader(test.stream), nil)
			if got != test.want {
				t.Errorf("%.200v, want %.200v", got, test.want)
			}
			if (err != nil) != test.cut || test.cut && !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestCaptureKeepsWholeCharacters(t *testing.T) {
	t.Parallel()
	var kept tail
	kept.add(strings.Repeat("é", MaxCaptured))
	got := kept.captured()
	if !got.Truncated || !utf8.ValidString(got.Text) || len(got.Text) < MaxCaptured-2 {
		t.Errorf("%d bytes, valid %t, truncated %t", len(got.Text), utf8.ValidString(got.Text), got.Truncated)
	}
}

func FuzzFollow(f *testing.F) {
	f.Add([]byte(`{"type":"init","text":"c"}` + "\n\n" + `{"type":"stdout","text":"\n"}` + "\n\n" + `{"type":"execution_complete"}` + "\n\n"))
	f.Add([]byte("data: {\"type\":\"error\",\"error\":{\"evalue\":\"1\"}}\r\n\r\n"))
	f.Add([]byte(strings.Repeat("data:\n", 2) + "\n{"))
	f.Add([]byte("\xff\xfe{\"type\":1}\n"))
	f.Fuzz(func(t *testing.T, stream []byte) {
		lines := 0
		result, err := follow(strings.NewReader(string(stream)), func(Stream, string) { lines++ })
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("error %v", err)
		}
		for _, captured := range []Captured{result.Stdout, result.Stderr} {
			if len(captured.Text) > MaxCaptured || !utf8.ValidString(captured.Text) {
				t.Errorf("%d bytes, valid %t", len(captured.Text), utf8.ValidString(captured.Text))
			}
			if captured.Text == "" && !captured.Truncated && lines > 0 && result.Stdout.Text+result.Stderr.Text == "" {
				t.Errorf("%d lines left no trace", lines)
			}
		}
	})
}
