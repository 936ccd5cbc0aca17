package opensandboxexec_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentenv/terraform-provider-gpuvm/internal/acctest"
	"github.com/agentenv/terraform-provider-gpuvm/internal/provider"
)

const kind = "opensandbox_exec"

// world is a server with one sandbox, and a provider for it at the level of the protocol.
func world(t *testing.T) (*acctest.OpenSandbox, *acctest.Protocol, string) {
	t.Helper()
	server := acctest.NewOpenSandbox(t)
	id := server.Make(t, `{"image":{"uri":"busybox"},"entrypoint":["tail","-f","/dev/null"],"resourceLimits":{"cpu":"1","memory":"1Gi"}}`)
	return server, acctest.NewProtocol(t, provider.OpenSandbox("test")(), acctest.Values{
		"domain": server.URL, "api_key": server.APIKey, "operations": acctest.Values{"retries": 0, "retry_delay_seconds": 0},
	}), id
}

func with(id string, config acctest.Values) acctest.Values {
	config["sandbox_id"] = id
	return config
}

func TestBadInputIsRefusedBeforeAnythingIsSent(t *testing.T) {
	t.Parallel()
	server, protocol, id := world(t)
	argv := []string{"ls"}
	for says, config := range map[string]acctest.Values{
		"here is neither":                    {},
		"here are both":                      {"argv": argv, "script": "ls"},
		"neither a uid nor a user name":      {"argv": argv, "user": "a b"},
		"\"4294967296\" is neither a uid":    {"argv": argv, "user": "4294967296"},
		"holds an equals sign":               {"argv": argv, "env": map[string]string{"A=B": "x"}},
		"is empty, or holds":                 {"argv": argv, "env": map[string]string{"": "x"}},
		"Variable is null":                   {"argv": argv, "env_wo": map[string]any{"A": nil}},
		"at least 1":                         {"argv": argv, "timeout_seconds": 0},
		"0.5 is not a whole number":          {"argv": argv, "timeout_seconds": 0.5},
		"must be more than 0":                {"argv": argv, "timeouts": acctest.Values{"create": "0s"}},
		"-300 is not from -255 to 255":       {"argv": argv, "expected_exit_codes": []int{-300}},
		"no command could ever succeed":      {"argv": argv, "expected_exit_codes": []int{}},
		"names the program to run":           {"argv": []string{"", "x"}},
		"Give it a text, which may be empty": {"argv": []any{"ls", nil}},
	} {
		change := protocol.PlanChange(t.Context(), kind, acctest.Object{}, with(id, config))
		if text := acctest.Text(change.Diagnostics); !strings.Contains(text, says) {
			t.Errorf("%q doesn't say %q", text, says)
		}
	}
	if sent := server.Faults().Total(); sent > 1 { // the one that made the sandbox
		t.Errorf("%d requests were sent", sent)
	}
}

func TestWhatReplaces(t *testing.T) {
	t.Parallel()
	_, protocol, id := world(t)
	base := func(more acctest.Values) acctest.Values {
		more["script"] = "true"
		return with(id, more)
	}
	made, diagnostics := protocol.Apply(t.Context(), protocol.PlanChange(t.Context(), kind, acctest.Object{}, base(acctest.Values{})))
	if len(diagnostics) > 0 {
		t.Fatal(acctest.Text(diagnostics))
	}
	for title, test := range map[string]struct {
		config acctest.Values
		want   []string
	}{
		"nothing":       {base(acctest.Values{}), nil},
		"sandbox":       {acctest.Values{"script": "true", "sandbox_id": "sb-2"}, []string{"sandbox_id"}},
		"script":        {with(id, acctest.Values{"script": "false"}), []string{"script"}},
		"argv":          {with(id, acctest.Values{"argv": []string{"true"}}), []string{"argv", "script"}},
		"triggers":      {base(acctest.Values{"triggers": map[string]string{"a": "b"}}), []string{"triggers"}},
		"user":          {base(acctest.Values{"user": "root"}), []string{"user"}},
		"cwd":           {base(acctest.Values{"cwd": "/tmp"}), []string{"cwd"}},
		"env":           {base(acctest.Values{"env": map[string]string{"A": "b"}}), []string{"env"}},
		"unknown env":   {base(acctest.Values{"env": acctest.Unknown}), []string{"env"}},
		"env_wo":        {base(acctest.Values{"env_wo": map[string]string{"A": "b"}}), nil},
		"time":          {base(acctest.Values{"timeout_seconds": 5}), nil},
		"codes":         {base(acctest.Values{"expected_exit_codes": []int{0, 1}}), nil},
		"empty strings": {base(acctest.Values{"user": "", "cwd": "", "env": map[string]string{}, "triggers": map[string]string{}}), nil},
	} {
		change := protocol.PlanChange(t.Context(), kind, made, test.config)
		if len(change.Diagnostics) > 0 || !slices.Equal(change.Replace, test.want) {
			t.Errorf("%s: %q replaces, want %q; %s", title, change.Replace, test.want, acctest.Text(change.Diagnostics))
		}
	}
}

func TestExitCodes(t *testing.T) {
	t.Parallel()
	for title, test := range map[string]struct {
		config acctest.Values
		code   int64
		says   string // of the error; "" where it is expected
	}{
		"three":           {acctest.Values{"script": "exit 3", "expected_exit_codes": []int{3}}, 3, ""},
		"killed in time":  {acctest.Values{"script": "sleep 600", "timeout_seconds": 1, "expected_exit_codes": []int{-1}}, -1, ""},
		"not in time":     {acctest.Values{"script": "sleep 600", "timeout_seconds": 1}, 0, "Script failed (exit -1)"},
		"no such program": {acctest.Values{"argv": []string{"no-such-program"}, "expected_exit_codes": []int{127}}, 127, ""},
		"never started":   {acctest.Values{"argv": []string{"true"}, "cwd": "/no/such/folder"}, 0, "Command"},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			_, protocol, id := world(t)
			made, diagnostics := protocol.Apply(t.Context(), protocol.PlanChange(t.Context(), kind, acctest.Object{}, with(id, test.config)))
			if test.says != "" {
				if text := acctest.Text(diagnostics); !strings.Contains(text, test.says) || made.Exists() {
					t.Errorf("%q doesn't say %q, or something is kept", text, test.says)
				}
				return
			}
			if got := made.Attributes["exit_code"]; len(diagnostics) > 0 || !got.Equal(tftypes.NewValue(tftypes.Number, test.code)) {
				t.Errorf("exit code %s, want %d; %s", got, test.code, acctest.Text(diagnostics))
			}
		})
	}
}
