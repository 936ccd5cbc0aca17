package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentenv/terraform-provider-gpuvm/internal/terraformcli"
)

// done is what a person calls an action that has ended.
var done = map[string]string{"create": "created", "update": "updated", "delete": "destroyed", "read": "read"}

// story is the demo's steps, in the order in which they are told.
type story struct {
	out      io.Writer
	services *services
	first    terraformcli.CLI
	outputs  map[string]terraformcli.Output
	applied  bool      // something may be left to destroy
	hold     io.Reader // where the person's Enter comes from, nil to go on at once
}

func (s *story) tell(ctx context.Context) error {
	for _, step := range []struct {
		title string
		do    func(context.Context) error
	}{
		{"Apply", s.apply},
		{"Plan again", s.planAgain},
		{"Reconnect by data source, from a second configuration", s.reconnect},
		{"Look around", s.lookAround},
		{"Destroy", s.destroy},
	} {
		if step.title == "Look around" && s.hold == nil {
			continue
		}
		fmt.Fprintf(s.out, "\n%s\n", step.title)
		if err := step.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", strings.ToLower(step.title), err)
		}
	}
	return nil
}

func (s *story) apply(ctx context.Context) error {
	s.applied = true
	outputs, err := s.run(ctx, s.first, "apply", "-auto-approve", "-input=false")
	if err != nil {
		return err
	}
	s.outputs = outputs
	for _, name := range slices.Sorted(maps.Keys(outputs)) {
		s.line(name, "%s", show(outputs[name].Value))
	}
	return nil
}

func (s *story) planAgain(ctx context.Context) error {
	// Exit code 2 says that there are changes, which is an error here.
	if _, err := s.run(ctx, s.first, "plan", "-detailed-exitcode", "-input=false"); err != nil {
		return err
	}
	fmt.Fprintln(s.out, "  no changes")
	return nil
}

// reconnect hands the first configuration's outputs to the second as variables, and expects each output that both
// have to be the same.
func (s *story) reconnect(ctx context.Context) error {
	second := s.first
	second.Dir = filepath.Join(s.first.Dir, "reconnect")
	second.Env = slices.Clone(s.first.Env)
	for name, output := range s.outputs {
		var text string
		if json.Unmarshal(output.Value, &text) == nil {
			second.Env = append(second.Env, "TF_VAR_"+name+"="+text)
		}
	}
	outputs, err := s.run(ctx, second, "apply", "-auto-approve", "-input=false")
	if err != nil {
		return err
	}
	same := 0
	for _, name := range slices.Sorted(maps.Keys(outputs)) {
		first, both := s.outputs[name]
		if !both {
			continue
		}
		if !bytes.Equal(compact(first.Value), compact(outputs[name].Value)) {
			return fmt.Errorf("%s is %s, where the first configuration has %s", name, show(outputs[name].Value), show(first.Value))
		}
		same++
		s.line(name, "is the same")
	}
	if same == 0 {
		return errors.New("the two configurations share no output")
	}
	return nil
}

// lookAround leaves everything as it is until the person presses Enter, or Ctrl-C.
func (s *story) lookAround(ctx context.Context) error {
	fmt.Fprintln(s.out, "  The addresses above can be opened in a browser. Enter goes on.")
	entered := make(chan struct{})
	go func() {
		defer close(entered)
		_, _ = bufio.NewReader(s.hold).ReadString('\n') // an input that ends goes on, too
	}()
	select {
	case <-entered:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (s *story) destroy(ctx context.Context) error {
	if _, err := s.run(ctx, s.first, "destroy", "-auto-approve", "-input=false"); err != nil {
		return err
	}
	s.applied = false
	left, err := s.services.leftovers(ctx)
	if err != nil {
		return err
	}
	if left != "" {
		return fmt.Errorf("the services still hold %s", left)
	}
	fmt.Fprintln(s.out, "  the services hold nothing")
	return nil
}

// cleanUp destroys what a failed or interrupted demo left, in a context of its own.
func (s *story) cleanUp(ctx context.Context) error {
	if !s.applied {
		return nil
	}
	fmt.Fprintf(s.out, "\nCleaning up\n")
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUpLimit)
	defer cancel()
	return s.destroy(ctx)
}

// run prints a line for each object that a command finishes, and gives the outputs.
func (s *story) run(ctx context.Context, cli terraformcli.CLI, args ...string) (map[string]terraformcli.Output, error) {
	var outputs map[string]terraformcli.Output
	err := cli.Stream(ctx, func(e terraformcli.Event) {
		switch e.Type {
		case "apply_complete":
			s.line(e.Hook.Resource.Addr, "%s in %.0fs  %s", done[e.Hook.Action], e.Hook.ElapsedSeconds, e.Hook.ID)
		case "outputs":
			outputs = e.Outputs
		}
	}, args...)
	if err != nil {
		return nil, err
	}
	return outputs, nil
}

// line prints a name and what there is to say of it.
func (s *story) line(name, format string, args ...any) {
	text := fmt.Sprintf("  %-31s "+format, append([]any{name}, args...)...)
	fmt.Fprintln(s.out, strings.TrimRight(text, " "))
}
