package opensandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path"
	"strconv"
	"strings"
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
	watchEvery     = 100 * time.Millisecond
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
		problem = s.workingDirectory(sb, request.Cwd)
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
	if message := request.neverStarts(sb); message != "" {
		job.finish(s.clock.Now(), 255, message)
		stream.send(event{Type: "error", Error: &commandError{"CommandExecError", message, []string{message}}})
		return
	}
	if request.Background {
		s.background.Go(func() { s.runJob(in.life, sb, job, request, nil) })
		stream.send(event{Type: "execution_complete"})
		return
	}
	unwatch := every(watchEvery, func() { s.bringUpToDate(sb.id) })
	defer unwatch()
	started := s.clock.Now()
	//nolint:contextcheck // a client that has gone doesn't end a command
	code, message := s.runJob(in.life, sb, job, request, stream)
	if in.stopped() {
		hangUp() // the container is gone in the middle of the stream
	}
	if code == 0 {
		stream.send(event{Type: "execution_complete", ExecutionTime: s.clock.Now().Sub(started).Milliseconds()})
	} else {
		stream.send(event{Type: "error", Error: &commandError{"CommandExecError", strconv.Itoa(code), []string{message}}})
	}
	ctx, stop := merge(r.Context(), in.life)
	defer stop()
	_ = s.clock.Sleep(ctx, s.options.StreamLinger)
}

// maxArgument is what Linux takes as one argument or one variable of a new process, in bytes with the NUL at its end
// (MAX_ARG_STRLEN). A command is one argument of the shell's.
const maxArgument = 128 << 10

// neverStarts is what execd says of a command whose shell can't be started, or "".
func (c commandRequest) neverStarts(sb *sandbox) string {
	if sb.noShell {
		return `exec: "sh": executable file not found in $PATH`
	}
	message := ""
	for name, value := range c.Envs {
		switch {
		case strings.Contains(name+value, "\x00"):
			return "exec: environment variable contains NUL"
		case len(name)+len("=")+len(value) >= maxArgument:
			message = "fork/exec /usr/bin/bash: argument list too long"
		}
	}
	switch {
	case strings.Contains(c.Command, "\x00"):
		return "fork/exec /usr/bin/bash: invalid argument"
	case len(c.Command) >= maxArgument:
		return "fork/exec /usr/bin/bash: argument list too long"
	}
	return message
}

// keepAlive sends a first ping at once and one every three seconds.
func keepAlive(stream *frames) (stop func()) {
	ping := func() { stream.send(event{Type: "ping", Text: "pong"}) }
	ping()
	return every(pingEvery, ping)
}

// bringUpToDate lets the sandbox end when its time has come, with all that runs in it. Otherwise only a request would see to that.
func (s *Service) bringUpToDate(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.find(id)
}

// every does something again and again, by real time, since a test's clock may stand still.
func every(period time.Duration, do func()) (stop func()) {
	ticker := time.NewTicker(period)
	done := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-ticker.C:
				do()
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

// runJob runs a command to its end and gives its code, and what execd's runtime says of another than 0. stream is nil for one in
// the background.
func (s *Service) runJob(ctx context.Context, sb *sandbox, job *job, request commandRequest, stream *frames) (code int, message string) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	job.onInterrupt(cancel)
	limit := time.Duration(request.Timeout) * time.Millisecond
	if limit > 0 { // bounded by real time, since a test's clock may stand still
		var release func()
		ctx, release = context.WithTimeout(ctx, limit)
		defer release()
	}
	inside := s.machineOf(sb)
	if inside == nil {
		return -1, errKilled
	}
	sb.history.begin(request.Command)
	out, errs := job.outputs(stream, sb.history)
	command := request.inside(sb)
	command.Stdout, command.Stderr = out, errs
	started := s.clock.Now()
	code, err := inside.Exec(ctx, command)
	out.flush()
	errs.flush()
	switch {
	case errors.Is(err, errInterrupted):
		code, message = -1, errInterrupted.Error()
	case err != nil || (limit > 0 && s.clock.Now().Sub(started) > limit):
		code, message = -1, errKilled
	case code != 0:
		message = "exit status " + strconv.Itoa(code)
	}
	sb.history.finish(strconv.Itoa(code))
	job.finish(s.clock.Now(), code, message)
	return code, message
}

// errKilled is how a command ends at its timeout, or with its machine.
const errKilled = "signal: killed"

// inside is the command as the sandbox's machine takes it. execd changes nothing of its own environment for another user.
func (c commandRequest) inside(sb *sandbox) machine.Command {
	command := sb.command([]string{"bash", "-c", c.Command}, c.Envs)
	command.Dir = "/"
	if c.Cwd != "" {
		dir, err := sb.expandPath(c.Cwd, c.Envs)
		if err == nil {
			command.Dir = path.Clean("/" + dir)
		}
	}
	if c.UID != nil && *c.UID != 0 {
		command.User = strconv.FormatUint(uint64(*c.UID), 10)
		command.Env = merged(map[string]string{"HOME": "/root"}, command.Env)
	}
	return command
}
