package opensandboxexec_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/agentenv/terraform-provider-gpuvm/internal/acctest"
	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/faults"
	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/machine"
	"github.com/agentenv/terraform-provider-gpuvm/internal/provider"
)

const action = "opensandbox_exec"

// world is a server with one sandbox, and a provider for it.
func world(t *testing.T) (*acctest.OpenSandbox, *acctest.Protocol, string) {
	t.Helper()
	server := acctest.NewOpenSandbox(t)
	id := server.Make(t, `{"image":{"uri":"busybox"},"entrypoint":["tail","-f","/dev/null"],"resourceLimits":{"cpu":"1","memory":"1Gi"},"env":{"FROM":"sandbox"}}`)
	protocol := acctest.NewProtocol(t, provider.OpenSandbox("test")(), acctest.Values{
		"domain": server.URL, "api_key": server.APIKey, "operations": acctest.Values{"retries": 1, "retry_delay_seconds": 0},
	})
	return server, protocol, id
}

// commands counts the commands that were sent to the sandbox's agent.
func commands(server *acctest.OpenSandbox) int {
	count := 0
	for _, request := range server.Faults().Requests() {
		if request.Method == "POST" && strings.HasSuffix(request.Path, "/command") {
			count++
		}
	}
	return count
}

func TestOutputIsToldAsItComes(t *testing.T) {
	t.Parallel()
	server, protocol, id := world(t)
	// The command goes on only once its first line has been heard.
	progress, diagnostics := protocol.InvokeUnplanned(t.Context(), action, acctest.Values{
		"sandbox_id": id,
		"script":     "printf '\\033[1mfirst\\033[0m\\n'; until test -e /tmp/heard; do sleep 0.01; done; echo; echo last",
	}, func(line string) {
		if line == "first" {
			if err := server.Machine(id).WriteFile("/tmp/heard", machine.File{}); err != nil {
				t.Error(err)
			}
		}
	})
	if len(diagnostics) > 0 {
		t.Fatal(acctest.Text(diagnostics))
	}
	if want := []string{"running the script in " + id, "first", "", "last", "exit code 0"}; !slices.Equal(progress, want) {
		t.Errorf("told %q, want %q", progress, want)
	}
}

func TestProcess(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		config acctest.Values
		want   string
	}{
		"argv is quoted":     {acctest.Values{"argv": []string{"echo", "it's", "$HOME", "a  b", ""}}, "it's $HOME a  b "},
		"environment":        {acctest.Values{"script": "echo $FROM $A $B", "env": map[string]string{"A": "1", "B": "2"}}, "sandbox 1 2"},
		"write-only wins":    {acctest.Values{"script": "test $A = secret && echo yes", "env": map[string]string{"A": "1"}, "env_wo": map[string]string{"A": "secret"}}, "yes"},
		"folder":             {acctest.Values{"argv": []string{"pwd"}, "cwd": "/tmp"}, "/tmp"},
		"named user":         {acctest.Values{"argv": []string{"whoami"}, "user": "ubuntu"}, "ubuntu"},
		"root":               {acctest.Values{"argv": []string{"whoami"}, "user": "root"}, "root"},
		"other exit code":    {acctest.Values{"script": "echo three; exit 3", "expected_exit_codes": []int{3}}, "three"},
		"empty environment":  {acctest.Values{"script": "echo yes", "env": map[string]string{}, "env_wo": map[string]string{}, "user": "", "cwd": ""}, "yes"},
		"nothing but spaces": {acctest.Values{"argv": []string{"echo", "  "}}, "  "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, protocol, id := world(t)
			test.config["sandbox_id"] = id
			progress, diagnostics := protocol.Invoke(t.Context(), action, test.config)
			if len(diagnostics) > 0 || len(progress) != 3 || progress[1] != test.want {
				t.Errorf("%q, want %q; %s", progress, test.want, acctest.Text(diagnostics))
			}
		})
	}
}

func TestAWriteOnlyVariableIsToldNowhere(t *testing.T) {
	t.Parallel()
	_, protocol, id := world(t)
	const secret, second = "correct-horse-battery-staple", "another line of it"
	progress, diagnostics := protocol.Invoke(t.Context(), action, acctest.Values{
		"sandbox_id": id, "script": `echo "token=$TOKEN"; echo "$TOKEN" >&2; exit 1`, "env_wo": map[string]string{"TOKEN": secret + "\n" + second},
	})
	text := strings.Join(progress, "\n") + acctest.Text(diagnostics)
	if strings.Contains(text, secret) || strings.Contains(text, second) || !strings.Contains(text, "token=(redacted)") {
		t.Error(text)
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		config acctest.Values
		before func(*acctest.OpenSandbox, string)
		says   []string
	}{
		"exit code": {acctest.Values{"script": "echo working; echo no space left >&2; exit 7"}, nil,
			[]string{"Script failed (exit 7)", "expected: 0", "working\nno space left", "taints nothing"}},
		"killed in time": {acctest.Values{"script": "echo begun; sleep 600", "timeout_seconds": 1}, nil,
			[]string{"Script failed (exit -1)", "by a signal or because timeout_seconds were over", "begun"}},
		"odd user": {acctest.Values{"argv": []string{"true"}, "user": "-c"}, nil,
			[]string{`user "-c" is neither a uid nor a user name`}},
		"gone": {acctest.Values{"argv": []string{"true"}}, func(server *acctest.OpenSandbox, id string) { server.Kill(id) },
			[]string{"Command was not run to its end in", "404"}},
		"exited": {acctest.Values{"argv": []string{"true"}}, func(server *acctest.OpenSandbox, id string) { server.Exit(id, 3) },
			[]string{"Command was not run to its end in", "Failed"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, protocol, id := world(t)
			if test.before != nil {
				test.before(server, id)
			}
			test.config["sandbox_id"] = id
			_, diagnostics := protocol.InvokeUnplanned(t.Context(), action, test.config, nil)
			for _, want := range test.says {
				if text := acctest.Text(diagnostics); !strings.Contains(text, want) {
					t.Errorf("%q doesn't say %q", text, want)
				}
			}
		})
	}
}

func TestAnOpenOutcomeIsNeverRepeated(t *testing.T) {
	t.Parallel()
	for name, kind := range map[string]faults.Kind{"reset": faults.ResetAfter, "cut": faults.Cut} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, protocol, id := world(t)
			server.Faults().Order(faults.Fault{Method: "POST", Path: "/direct/**", Kind: kind, Times: -1})
			_, diagnostics := protocol.Invoke(t.Context(), action, acctest.Values{"sandbox_id": id, "argv": []string{"echo", "once"}})
			if text := acctest.Text(diagnostics); !strings.Contains(text, "whether it still runs, is unknown") || !strings.Contains(text, "command_retries") {
				t.Error(text)
			}
			if sent := commands(server); sent != 1 {
				t.Errorf("sent %d times", sent)
			}
		})
	}
}

func TestAnInterruptEndsTheCommand(t *testing.T) {
	t.Parallel()
	server, protocol, id := world(t)
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	progress, diagnostics := protocol.InvokeUnplanned(ctx, action, acctest.Values{"sandbox_id": id, "script": "echo begun; sleep 600"}, func(line string) {
		if line == "begun" {
			interrupt()
		}
	})
	text := acctest.Text(diagnostics)
	if !strings.Contains(text, "Terraform was interrupted before the script ended in "+id) || !strings.Contains(text, "was asked to end it") {
		t.Errorf("%q %s", progress, text)
	}
	if !asked(server, "DELETE") {
		t.Error("the agent was not asked to end the command")
	}
}

func TestAnInterruptedCallEndsAfterTheCommand(t *testing.T) {
	t.Parallel()
	server, protocol, id := world(t)
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	stream, err := protocol.InvokeAction(ctx, &tfprotov6.InvokeActionRequest{
		ActionType: action,
		Config:     protocol.Encode(protocol.Schemas.ActionSchemas[action].Schema, acctest.Values{"sandbox_id": id, "script": "echo begun; sleep 600"}),
	})
	if err != nil {
		t.Fatal(err)
	}
	for event := range stream.Events {
		if told, ok := event.Type.(tfprotov6.ProgressInvokeActionEventType); ok && told.Message == "begun" {
			interrupt()
			break // as the plugin library does
		}
	}
	if !asked(server, "DELETE") {
		t.Error("the call ended before the agent was asked to end the command")
	}
}

// asked says whether the sandbox's agent was sent a request about a command.
func asked(server *acctest.OpenSandbox, method string) bool {
	return slices.ContainsFunc(server.Faults().Requests(), func(r faults.Record) bool {
		return r.Method == method && strings.HasSuffix(r.Path, "/command")
	})
}

func TestUnknownValuesPassThePlan(t *testing.T) {
	t.Parallel()
	_, protocol, _ := world(t)
	config := acctest.Values{}
	for _, name := range []string{"sandbox_id", "argv", "script", "expected_exit_codes", "user", "cwd", "env", "env_wo", "timeout_seconds"} {
		config[name] = acctest.Unknown
	}
	if diagnostics := protocol.Plan(t.Context(), action, config); len(diagnostics) > 0 {
		t.Error(acctest.Text(diagnostics))
	}
}

func TestWhatCantBeMeantIsRefused(t *testing.T) {
	t.Parallel()
	_, protocol, id := world(t)
	for says, config := range map[string]acctest.Values{
		"here is neither":                 {},
		"at least 1":                      {"script": "ls", "sandbox_id": ""},
		"neither a uid nor a user name":   {"script": "ls", "user": "a b"},
		"holds an equals sign":            {"script": "ls", "env": map[string]string{"A=B": "x"}},
		"Variable is null":                {"script": "ls", "env_wo": map[string]any{"A": nil}},
		"value must be at least 1":        {"script": "ls", "timeout_seconds": -1},
		"256 is not from -255 to 255":     {"script": "ls", "expected_exit_codes": []int{256}},
		"4294967296\" is neither a uid n": {"script": "ls", "user": "4294967296"},
	} {
		if _, given := config["sandbox_id"]; !given {
			config["sandbox_id"] = id
		}
		if text := acctest.Text(protocol.Plan(t.Context(), action, config)); !strings.Contains(text, says) {
			t.Errorf("%q doesn't say %q", text, says)
		}
	}
}

func TestExampleCanBePlanned(t *testing.T) {
	t.Parallel()
	_, protocol, _ := world(t)
	example, config := acctest.ActionExample(t, "opensandbox/actions/opensandbox_exec/action.tf")
	if diagnostics := protocol.Plan(t.Context(), example, config); example != action || len(diagnostics) > 0 {
		t.Errorf("%s: %s", example, acctest.Text(diagnostics))
	}
}
