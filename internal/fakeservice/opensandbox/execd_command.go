package opensandbox

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/machine"
)

// commandRequest is the body of POST /command.
type commandRequest struct {
	Command    string            `json:"command"`
	Cwd        string            `json:"cwd"`
	Background bool              `json:"background"`
	Timeout    int64             `json:"timeout"` // milliseconds; 0 = none
	UID        *uint32           `json:"uid"`
	GID        *uint32           `json:"gid"`
	Envs       map[string]string `json:"envs"`
}

func (c commandRequest) problem() string {
	switch {
	case c.Command == "":
		return "Key: 'RunCommandRequest.Command' Error:Field validation for 'Command' failed on the 'required' tag"
	case c.Timeout < 0:
		return "Key: 'RunCommandRequest.TimeoutMs' Error:Field validation for 'TimeoutMs' failed on the 'gte' tag"
	case c.GID != nil && c.UID == nil:
		return "uid is required when gid is provided"
	}
	return ""
}

// event is one frame of a command's stream: bare JSON and a blank line, although the content type says event stream.
type event struct {
	Type          string        `json:"type,omitempty"`
	Text          string        `json:"text,omitempty"`
	ExecutionTime int64         `json:"execution_time,omitempty"` // milliseconds; left out when zero
	Timestamp     int64         `json:"timestamp,omitempty"`
	Error         *commandError `json:"error,omitempty"`
}

type commandError struct {
	Name      string   `json:"ename"`
	Value     string   `json:"evalue"`
	Traceback []string `json:"traceback"`
}

// frames writes events, each flushed at once, from the command's two streams and the ping.
type frames struct {
	mu      sync.Mutex
	w       http.ResponseWriter
	clock   interface{ Now() time.Time }
	started bool
}

func (f *frames) send(e event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.started {
		f.started = true
		header := f.w.Header()
		header.Set("Content-Type", "text/event-stream")
		header.Set("Cache-Control", "no-cache")
		header.Set("X-Accel-Buffering", "no")
		f.w.WriteHeader(http.StatusOK)
	}
	e.Timestamp = f.clock.Now().UnixMilli()
	text, err := json.Marshal(e)
	if err != nil { // strings and numbers only
		panic(err)
	}
	_, _ = f.w.Write(append(text, '\n', '\n')) // a client that has gone ends the command by its context
	_ = http.NewResponseController(f.w).Flush()
}

const (
	pingEvery      = 3 * time.Second
	largestCommand = 8 << 20 // bytes of a request
)

// runCommand runs a command and streams what it does. There is no exit code in the stream: execution_complete means 0, and error
// carries the code as text, -1 for a command that a signal or its timeout ended, and words for one that never started.
func (s *Service) runCommand(w http.ResponseWriter, r *http.Request, sb *sandbox, in *pod) {
	var request commandRequest
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, largestCommand)).Decode(&request); err != nil {
		execdError(w, http.StatusBadRequest, "INVALID_REQUEST_BODY", fmt.Sprintf("error parsing request, MAYBE invalid body format. %v", err))
		return
	}
	problem := request.problem()
	if problem == "" {
		problem = s.workingDirectory(r.Context(), sb, request.Cwd)
	}
	if problem != "" {
		execdError(w, http.StatusBadRequest, "INVALID_REQUEST_BODY", "invalid request, validation error "+problem)
		return
	}
	job := in.commands.begin(s.ids.hex32(), request, s.clock.Now())
	stream := &frames{w: w, clock: s.clock}
	stream.send(event{Type: "init", Text: job.id})
	stopPing := keepAlive(stream)
	defer stopPing()
	if sb.noShell {
		const message = `exec: "sh": executable file not found in $PATH`
		job.finish(s.clock.Now(), 255, message)
		stream.send(event{Type: "error", Error: &commandError{"CommandExecError", message, []string{message}}})
		return
	}
	if request.Background {
		s.background.Go(func() { s.runJob(in.life, sb, job, request, nil) })
		stream.send(event{Type: "execution_complete"})
		return
	}
	ctx, stop := merge(r.Context(), in.life)
	defer stop()
	started := s.clock.Now()
	code := s.runJob(ctx, sb, job, request, stream)
	if in.stopped() || r.Context().Err() != nil {
		hangUp() // the container is gone in the middle of the stream
	}
	if code == 0 {
		stream.send(event{Type: "execution_complete", ExecutionTime: s.clock.Now().Sub(started).Milliseconds()})
	} else {
		text := strconv.Itoa(code)
		stream.send(event{Type: "error", Error: &commandError{"CommandExecError", text, []string{"exit status " + text}}})
	}
	_ = s.clock.Sleep(ctx, s.options.StreamLinger)
}

// keepAlive sends a first ping at once and one every three seconds.
func keepAlive(stream *frames) (stop func()) {
	stream.send(event{Type: "ping", Text: "pong"})
	ticker := time.NewTicker(pingEvery)
	done := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-ticker.C:
				stream.send(event{Type: "ping", Text: "pong"})
			case <-done:
				return
			}
		}
	}()
	return func() {
		ticker.Stop()
		close(done)
		<-ended
	}
}

// merge gives a context that ends with either; the request's values stay.
func merge(ctx, other context.Context) (context.Context, func()) {
	merged, cancel := context.WithCancelCause(ctx)
	release := context.AfterFunc(other, func() { cancel(context.Cause(other)) })
	return merged, func() {
		release()
		cancel(nil)
	}
}

// workingDirectory says what is wrong with a command's directory, or "".
func (s *Service) workingDirectory(ctx context.Context, sb *sandbox, dir string) string {
	if dir == "" {
		return ""
	}
	inside := s.machineOf(sb)
	if inside == nil {
		return ""
	}
	code, err := inside.Exec(ctx, machine.Command{Argv: []string{"test", "-d", dir}})
	if err != nil || code == 0 {
		return ""
	}
	return "working directory does not exist: " + dir
}

// runJob runs a command to its end and gives its code. stream is nil for one in the background.
func (s *Service) runJob(ctx context.Context, sb *sandbox, job *job, request commandRequest, stream *frames) int {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	job.onInterrupt(cancel)
	limit := time.Duration(request.Timeout) * time.Millisecond
	if limit > 0 { // bounded by real time, since a test's clock may stand still
		var release func()
		ctx, release = context.WithTimeout(ctx, limit)
		defer release()
	}
	inside := s.machineOf(sb)
	if inside == nil {
		return -1
	}
	command := sb.command([]string{"bash", "-c", request.Command}, request.Envs)
	command.Dir = request.Cwd
	if request.UID != nil && *request.UID != 0 {
		command.User = strconv.FormatUint(uint64(*request.UID), 10)
	}
	sb.history.begin(request.Command)
	out, errs := job.outputs(stream, sb.history)
	command.Stdout, command.Stderr = out, errs
	started := s.clock.Now()
	code, err := inside.Exec(ctx, command)
	out.flush()
	errs.flush()
	if err != nil || (limit > 0 && s.clock.Now().Sub(started) > limit) {
		code = -1
	}
	sb.history.finish(strconv.Itoa(code))
	message := ""
	if code != 0 {
		message = "exit status " + strconv.Itoa(code)
	}
	job.finish(s.clock.Now(), code, message)
	return code
}
