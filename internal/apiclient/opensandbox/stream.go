package opensandbox

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
)

// maxEvent bounds one event in memory. An event is one line of a command's output, so a longer one is a line that the
// capture couldn't hold anyway: it is dropped, and the output counts as truncated.
const maxEvent = 4 << 20

// event is one of execd's.
type event struct {
	Type  string `json:"type"`
	Text  string `json:"text"`
	Error *struct {
		Name  string `json:"ename"`
		Value string `json:"evalue"`
	} `json:"error"`
	// An agent that fails before the first event may put its error body into a stream that already began.
	Code    string `json:"code"`
	Message string `json:"message"`
}

// follow reads a command's events until one tells its end.
func follow(r io.Reader, listen func(Stream, string)) (Result, error) {
	run := run{listen: listen}
	frames := frames{r: bufio.NewReader(r)}
	for {
		frame, err := frames.next()
		if errors.Is(err, errFrameTooLong) {
			run.stdout.lost, run.stderr.lost = true, true
			continue
		}
		if err != nil {
			return run.result(), err
		}
		var e event
		if json.Unmarshal(frame, &e) != nil {
			// One garbled event loses a line of output; how the command ended is told by the last.
			run.stdout.lost, run.stderr.lost = true, true
			continue
		}
		if run.take(e) {
			return run.result(), nil
		}
	}
}

// run gathers what a command's events tell.
type run struct {
	id             string
	code           int
	failure        string
	stdout, stderr tail
	listen         func(Stream, string)
}

// take notes one event and says whether it was the last.
func (r *run) take(e event) (ended bool) {
	switch {
	case e.Type == "init":
		r.id = e.Text
	case e.Type == string(Stdout):
		r.line(Stdout, &r.stdout, e.Text)
	case e.Type == string(Stderr):
		r.line(Stderr, &r.stderr, e.Text)
	case e.Type == "execution_complete":
		return true
	case e.Type == "error":
		r.fail(e)
		return true
	case e.Type == "" && e.Code != "":
		r.code, r.failure = CodeUnknown, e.Code+": "+e.Message
		return true
	}
	return false // ping, status and whatever newer agents send
}

// line takes one line of output, whose terminator the agent strips; it sends a blank one as a lone line feed.
func (r *run) line(stream Stream, to *tail, text string) {
	text = strings.TrimSuffix(text, "\n")
	to.add(text)
	if r.listen != nil {
		r.listen(stream, text)
	}
}

// fail reads the end of a command that didn't succeed. There is no field for the exit code: it is the error's value, and
// any value that is no number says why there is none.
func (r *run) fail(e event) {
	if e.Error == nil {
		r.code, r.failure = CodeUnknown, "the agent reports an error and says nothing about it"
		return
	}
	code, err := strconv.Atoi(strings.TrimSpace(e.Error.Value))
	if err != nil {
		r.code, r.failure = CodeUnknown, strings.Trim(e.Error.Name+": "+e.Error.Value, ": ")
		return
	}
	r.code = code
}

func (r *run) result() Result {
	return Result{ID: r.id, ExitCode: r.code, Failure: r.failure, Stdout: r.stdout.captured(), Stderr: r.stderr.captured()}
}

// frames cuts an event stream into the data of its events. execd sends each as bare JSON on a line of its own, and not as
// the standard has it (WHATWG HTML, section 9.2.6: "data:" lines up to a blank one); both are read.
type frames struct {
	r    *bufio.Reader
	data []byte // of the event whose "data:" lines are being read
	open bool
}

var errFrameTooLong = errors.New("an event is longer than 4 MiB")

// next gives the data of the next event, or io.ErrUnexpectedEOF where the stream ends: it never ends by itself before the
// event that tells the command's end.
func (f *frames) next() ([]byte, error) {
	for {
		line, err := readLine(f.r)
		switch {
		case err != nil && f.open && errors.Is(err, io.EOF):
			return f.flush(), nil
		case errors.Is(err, io.EOF):
			return nil, io.ErrUnexpectedEOF
		case err != nil:
			return nil, err
		case len(line) == 0 && f.open:
			return f.flush(), nil
		case len(line) > 0 && line[0] == '{':
			return line, nil
		}
		value, isData := bytes.CutPrefix(line, []byte("data:"))
		if !isData {
			continue // blank, a comment, or another field
		}
		if len(f.data)+len(value) > maxEvent {
			f.flush()
			return nil, errFrameTooLong
		}
		if f.open {
			f.data = append(f.data, '\n')
		}
		f.data, f.open = append(f.data, bytes.TrimPrefix(value, []byte(" "))...), true
	}
}

func (f *frames) flush() []byte {
	data := f.data
	f.data, f.open = nil, false
	return data
}

// readLine reads up to a line feed, which it leaves out with a carriage return before it. A line over maxEvent is read past
// and reported.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	tooLong := false
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > maxEvent {
			tooLong, line = true, nil
		} else if !tooLong {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case tooLong && (err == nil || errors.Is(err, io.EOF)):
			return nil, errFrameTooLong
		case errors.Is(err, io.EOF) && len(line) > 0:
			return bytes.TrimSuffix(line, []byte("\r")), nil
		case err != nil:
			return nil, err
		}
		return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r")), nil
	}
}
