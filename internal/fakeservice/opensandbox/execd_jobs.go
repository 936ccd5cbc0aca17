package opensandbox

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"
)

const (
	keptJobs  = 64        // commands of one pod whose state execd still tells
	keptBytes = 256 << 10 // of the output of a command in the background
)

// commands are those that execd remembers; it forgets them when its pod goes.
type commands struct {
	mu   sync.Mutex
	jobs []*job
}

// job is one command.
type job struct {
	id         string
	command    string
	background bool
	started    time.Time

	mu       sync.Mutex
	cancel   context.CancelCauseFunc
	output   []byte
	dropped  int64 // bytes of the output that are no longer kept
	finished time.Time
	code     int
	message  string
}

func (c *commands) begin(id string, request commandRequest, now time.Time) *job {
	c.mu.Lock()
	defer c.mu.Unlock()
	j := &job{id: id, command: request.Command, background: request.Background, started: now}
	if len(c.jobs) == keptJobs {
		c.jobs = append(c.jobs[:0], c.jobs[1:]...)
	}
	c.jobs = append(c.jobs, j)
	return j
}

func (c *commands) find(id string) *job {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, j := range c.jobs {
		if j.id == id {
			return j
		}
	}
	return nil
}

func (j *job) onInterrupt(cancel context.CancelCauseFunc) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.cancel = cancel
}

func (j *job) finish(now time.Time, code int, message string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.finished, j.code, j.message, j.cancel = now, code, message, nil
}

// Write keeps the output of a command in the background.
func (j *job) Write(data []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.output = append(j.output, data...)
	if over := len(j.output) - keptBytes; over > 0 {
		j.output = append([]byte(nil), j.output[over:]...)
		j.dropped += int64(over)
	}
	return len(data), nil
}

// outlet is one of a command's two streams: its lines become events, its bytes the screen's text.
type outlet struct {
	io.Writer
	cut *lines
}

func (o outlet) flush() {
	if o.cut != nil {
		o.cut.flush()
	}
}

func (j *job) outputs(stream *frames, screen io.Writer) (out, errs outlet) {
	if stream == nil {
		both := io.MultiWriter(j, screen)
		return outlet{Writer: both}, outlet{Writer: both}
	}
	lines := func(kind string) outlet {
		cut := &lines{each: func(line string) { stream.send(event{Type: kind, Text: line}) }}
		return outlet{io.MultiWriter(cut, screen), cut}
	}
	return lines("stdout"), lines("stderr")
}

var errInterrupted = errors.New("signal: terminated")

// interrupt ends a running command.
func (c *commands) interrupt(w http.ResponseWriter, r *http.Request) {
	id := r.URL.Query().Get("id")
	if id == "" {
		execdError(w, http.StatusBadRequest, "MISSING_QUERY", "missing query parameter 'id'")
		return
	}
	message := "no such session"
	if j := c.find(id); j != nil {
		j.mu.Lock()
		cancel := j.cancel
		j.mu.Unlock()
		if cancel != nil {
			cancel(errInterrupted)
			w.WriteHeader(http.StatusOK)
			return
		}
		message = "command session " + id + " is not running"
	}
	execdError(w, http.StatusInternalServerError, "RUNTIME_ERROR", "error interruptting code context. "+message)
}

func (c *commands) status(w http.ResponseWriter, id string) {
	j := c.find(id)
	if j == nil {
		execdError(w, http.StatusNotFound, "INVALID_REQUEST_BODY", "command not found: "+id)
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	answer := struct {
		ID         string     `json:"id"`
		Content    string     `json:"content,omitempty"`
		Running    bool       `json:"running"`
		ExitCode   *int       `json:"exit_code,omitempty"`
		Error      string     `json:"error,omitempty"`
		StartedAt  time.Time  `json:"started_at"`
		FinishedAt *time.Time `json:"finished_at,omitempty"`
	}{ID: id, Content: j.command, Running: j.finished.IsZero(), Error: j.message, StartedAt: j.started}
	if !answer.Running {
		answer.ExitCode, answer.FinishedAt = &j.code, &j.finished
	}
	execdJSON(w, http.StatusOK, answer)
}

func (c *commands) logs(w http.ResponseWriter, r *http.Request, id string) {
	j := c.find(id)
	switch {
	case j == nil:
		execdError(w, http.StatusBadRequest, "INVALID_REQUEST_BODY", "command not found: "+id)
		return
	case !j.background:
		execdError(w, http.StatusBadRequest, "INVALID_REQUEST_BODY", "command "+id+" is not running in background")
		return
	}
	cursor, _ := strconv.ParseInt(r.URL.Query().Get("cursor"), 10, 64) // what is no number counts as the beginning
	j.mu.Lock()
	defer j.mu.Unlock()
	from := min(max(cursor-j.dropped, 0), int64(len(j.output)))
	w.Header().Set("EXECD-COMMANDS-TAIL-CURSOR", strconv.FormatInt(j.dropped+int64(len(j.output)), 10))
	writeText(w, http.StatusOK, string(j.output[from:]))
}
