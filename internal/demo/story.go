package main

import (
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
	applied  bool // something may be left to destroy
}

func (s *story) tell(ctx context.Context) error {
	for _, step := range []struct {
		title string
		do    func(context.Context) error
	}{
		{"Apply", s.apply},
		{"Plan again", s.planAgain},
		{"Reconnect by data source, from a second configuration", s.reconnect},
		{"Destroy", s.destroy},
	} {
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
		s.line("%-22s %s", name, show(outputs[name].Value))
	}
	return nil
}

func (s *story) planAgain(ctx context.Context) error {
	// Exit code 2 says that there are changes, which is an error here.
	if _, err := s.run(ctx, s.first, "plan", "-detailed-exitcode", "-input=false"); err != nil {
		return err
	}
	s.line("no changes")
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
		s.line("%-22s is the same", name)
	}
	if same == 0 {
		return errors.New("the two configurations share no output")
	}
	return nil
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
	s.line("the services hold nothing")
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
			s.line("%-22s %s in %.0fs  %s", e.Hook.Resource.Addr, done[e.Hook.Action], e.Hook.ElapsedSeconds, e.Hook.ID)
		case "outputs":
			outputs = e.Outputs
		}
	}, args...)
	if err != nil {
		return nil, err
	}
	return outputs, nil
}

func (s *story) line(format string, args ...any) {
	fmt.Fprintf(s.out, "  "+strings.TrimRight(format, " ")+"\n", args...)
}
