package opensandbox

import (
	"context"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// start runs what a sandbox starts with: the preStart hook, then its entrypoint. Its outcome shows in GET only: create has answered
// Running by then, or does so whatever comes of it.
func (s *Service) start(sb *sandbox) {
	sb.history.note(s.clock.Now(), "starting OpenSandbox Execd daemon at /opt/opensandbox/execd.")
	if hook := sb.request.PreStart; hook != nil {
		if code, ended := s.runToEnd(sb, hook.Command, time.Duration(hook.TimeoutSeconds)*time.Second); ended && code != 0 {
			sb.history.note(s.clock.Now(), "preStart hook failed with exit code "+strconv.Itoa(code))
			s.exits(sb, code, s.options.ExitDelay)
			return
		}
	}
	if sb.request.poolRef() != "" && len(sb.request.Entrypoint) == 0 {
		return
	}
	s.runEntrypoint(sb, sb.request.Entrypoint)
}

// runEntrypoint decides what becomes of an entrypoint. The fake knows few programs, so one that it doesn't know is taken for a
// server that runs for ever, unless its name says that it is missing.
func (s *Service) runEntrypoint(sb *sandbox, argv []string) {
	name := path.Base(argv[0])
	switch {
	case namesNothing(argv[0]):
		sb.history.note(s.clock.Now(), argv[0]+": No such file or directory")
		s.exits(sb, 127, s.options.ExitDelay)
	case name == "sleep" && len(argv) == 2:
		if seconds, err := strconv.ParseFloat(strings.TrimSuffix(argv[1], "s"), 64); err == nil && seconds < 1e9 { // not infinity
			s.exits(sb, 0, time.Duration(seconds*float64(time.Second)))
		}
	case slices.Contains([]string{"true", "false", "echo", "printf", "exit"}, name):
		code, _ := s.runToEnd(sb, argv, time.Minute)
		s.exits(sb, code, s.options.ExitDelay)
	case slices.Contains([]string{"sh", "bash", "dash"}, name) && len(argv) >= 3 && strings.HasPrefix(argv[1], "-") && strings.Contains(argv[1], "c"):
		s.runScript(sb, argv, argv[2])
	}
}

var (
	loops = regexp.MustCompile(`\b(while|until)\b`)
	idles = regexp.MustCompile(`\btail\s+-\w*[fF]|\bsleep\b|\bwait\b|\bread\b`)
)

// runScript runs an entrypoint that is a script, so that what it does to files can be seen. A loop would never end where the clock
// stands still for nobody, so such a script is taken for a server.
func (s *Service) runScript(sb *sandbox, argv []string, script string) {
	if loops.MatchString(script) {
		return
	}
	lasting := idles.MatchString(script)
	done := make(chan struct{})
	s.background.Go(func() {
		defer close(done)
		code, ended := s.runToEnd(sb, argv, 0)
		unknown := code == 127 && !namesNothing(script) // a program that the fake lacks
		if !ended || unknown || (lasting && code == 0) {
			return
		}
		s.exits(sb, code, s.options.ExitDelay)
	})
	if !lasting { // it ends at once: then what GET says after create doesn't depend on who is faster
		<-done
	}
}

// runToEnd runs a command in the sandbox; ended is false when the sandbox or the limit ended it (limit 0 = none).
func (s *Service) runToEnd(sb *sandbox, argv []string, limit time.Duration) (code int, ended bool) {
	ctx := sb.pod.life
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	inside := s.machineOf(sb)
	if inside == nil {
		return -1, false
	}
	out := &lines{each: func(line string) { sb.history.note(s.clock.Now(), strings.TrimSuffix(line, "\n")) }}
	command := sb.command(argv, nil)
	command.Stdout, command.Stderr = out, out
	code, err := inside.Exec(ctx, command)
	out.flush()
	if limit > 0 && sb.pod.life.Err() == nil && err != nil {
		return code, true // the limit is an end of its own
	}
	return code, err == nil
}

// exits lets the container end by itself a while after it has begun.
func (s *Service) exits(sb *sandbox, code int, after time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	to, begun := failed, s.clock.Now()
	if code == 0 {
		to = terminated
	}
	for _, c := range sb.coming {
		if c.to == running && c.at.After(begun) {
			begun = c.at
		}
	}
	sb.schedule(change{at: begun.Add(after), to: to, code: code})
}
