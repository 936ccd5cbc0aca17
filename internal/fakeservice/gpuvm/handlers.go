package gpuvm

import (
	"context"
	"io"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/machine"
)

func (s *Service) getVM(w http.ResponseWriter, r *http.Request, id string) {
	if wait, asked := preferredWait(r.Header); asked && s.options.LongPoll {
		s.hold(r.Context(), id, wait)
		w.Header().Set("Preference-Applied", "wait")
	}
	s.mu.Lock()
	now := s.clock.Now()
	v := s.find(id, now)
	if v == nil || now.Before(v.created.Add(s.options.AppearDelay)) {
		s.mu.Unlock()
		s.fail(w, r, http.StatusNotFound, "no such vm")
		return
	}
	a := s.answer(v)
	s.mu.Unlock()
	reply(w, http.StatusOK, a)
}

// preferredWait reads "Prefer: wait=10" as RFC 7240 has it: a list, in one header or several, names in any case.
func preferredWait(h http.Header) (time.Duration, bool) {
	for _, line := range h.Values("Prefer") {
		for preference := range strings.SplitSeq(line, ",") {
			preference, _, _ = strings.Cut(preference, ";")
			name, value, _ := strings.Cut(preference, "=")
			if !strings.EqualFold(strings.TrimSpace(name), "wait") {
				continue
			}
			seconds, err := strconv.Atoi(strings.Trim(strings.TrimSpace(value), `"`))
			if err != nil || seconds < 0 {
				return 0, false
			}
			return min(time.Duration(seconds)*time.Second, longestWait), true
		}
	}
	return 0, false
}

// hold waits until a booting machine's status changes, at most so long, or until ctx ends.
func (s *Service) hold(ctx context.Context, id string, wait time.Duration) {
	s.mu.Lock()
	now := s.clock.Now()
	v := s.find(id, now)
	if v == nil || v.status != Booting {
		s.mu.Unlock()
		return
	}
	if wait = min(wait, v.end().Sub(now)); !v.never {
		wait = min(wait, v.boots.Sub(now))
	}
	changed := v.awaited()
	s.mu.Unlock()

	held, end := context.WithCancel(ctx)
	defer end()
	defer context.AfterFunc(changed, end)() //nolint:contextcheck // the machine's change, not the request's end
	_ = s.clock.Sleep(held, wait)           // however it ended, the machine is looked at anew
}

func (s *Service) deleteVM(w http.ResponseWriter, r *http.Request, id string) {
	s.mu.Lock()
	now := s.clock.Now()
	v := s.find(id, now)
	if v != nil {
		s.retire(v, now)
	}
	s.mu.Unlock()
	if v == nil {
		s.fail(w, r, http.StatusNotFound, "no such vm")
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (s *Service) putFile(w http.ResponseWriter, r *http.Request, id string) {
	at := r.URL.Query().Get("path")
	switch {
	case at == "":
		s.fail(w, r, http.StatusBadRequest, "the query needs path=")
		return
	case !path.IsAbs(at) || strings.ContainsRune(at, 0):
		s.fail(w, r, http.StatusBadRequest, "path must be absolute")
		return
	}
	var inside *machine.Machine
	if !s.withRunning(w, r, id, func(v *vm) { inside = v.inside }) {
		return
	}
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxFile))
	if err != nil {
		s.failRead(w, r, err)
		return
	}
	if err := inside.WriteFile(at, machine.File{Data: data}); err != nil {
		s.fail(w, r, http.StatusBadRequest, "%v", err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

type execAnswer struct {
	ExitCode int    `json:"exit_code"`
	Stdout   string `json:"stdout"`
	Stderr   string `json:"stderr"`
}

func (s *Service) postExec(w http.ResponseWriter, r *http.Request, id string) {
	body, ok := s.readJSON(w, r, maxExecBody)
	if !ok {
		return
	}
	var argv []string
	fields, err := decodeObject(body)
	if err == nil {
		err = decodeFields(fields, map[string]any{"argv": &argv})
	}
	if err != nil {
		s.fail(w, r, http.StatusBadRequest, "%v", err)
		return
	}
	if len(argv) == 0 || argv[0] == "" {
		s.fail(w, r, http.StatusBadRequest, "argv must name a command")
		return
	}
	var inside *machine.Machine
	var logged *loggedCommand
	start := func(v *vm) { inside, logged = v.inside, v.log.start(argv, s.clock.Now()) }
	if !s.withRunning(w, r, id, start) {
		return
	}
	stdout, stderr := newTail(maxOutput), newTail(maxOutput)
	code, err := inside.Exec(r.Context(), machine.Command{
		Argv: argv, User: "ubuntu",
		Stdout: io.MultiWriter(stdout, logged.output), Stderr: io.MultiWriter(stderr, logged.output),
	})
	logged.end(code)
	if r.Context().Err() != nil { // the client has gone, or the server stops: no answer is true
		panic(http.ErrAbortHandler)
	}
	if err != nil { // the machine was deleted meanwhile
		s.fail(w, r, http.StatusNotFound, "no such vm")
		return
	}
	reply(w, http.StatusOK, execAnswer{code, stdout.String(), stderr.String()})
}
