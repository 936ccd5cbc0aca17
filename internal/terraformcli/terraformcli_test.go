package terraformcli

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"
)

func TestEventsAndOtherLinesAreToldApart(t *testing.T) {
	t.Parallel()
	const output = `{"@level":"info","@message":"Terraform 1.11.4","type":"version"}
{"@message":"client: Creation complete","type":"apply_complete","hook":{"resource":{"addr":"gpuvm_instance.client"},"action":"create","id_value":"vm-1","elapsed_seconds":2}}
{"type":"change_summary","changes":{"add":1,"change":0,"remove":2,"operation":"apply"}}

panic: not JSON
{"type":"outputs","outputs":{"vm_id":{"sensitive":false,"value":"vm-1"}}}`
	var events []Event
	rest, err := readEvents(strings.NewReader(output), func(e Event) { events = append(events, e) })
	if err != nil || strings.TrimSpace(rest) != "panic: not JSON" {
		t.Errorf("other lines %q, error %v", rest, err)
	}
	if len(events) != 4 {
		t.Fatalf("%d events", len(events))
	}
	if hook := events[1].Hook; hook.Resource.Addr != "gpuvm_instance.client" || hook.ID != "vm-1" || hook.ElapsedSeconds != 2 {
		t.Errorf("hook: %+v", hook)
	}
	if changes := events[2].Changes; changes.Add != 1 || changes.Remove != 2 || changes.Operation != "apply" {
		t.Errorf("changes: %+v", changes)
	}
	if got := string(events[3].Outputs["vm_id"].Value); got != `"vm-1"` {
		t.Errorf("output: %s", got)
	}
}

func TestEnvironmentLeavesOutWhatLeadsElsewhere(t *testing.T) {
	t.Setenv("TF_CLI_ARGS", "-destroy")
	env := Environment("/tmp/cli.tfrc", "GPU_VM_URL=http://127.0.0.1:1")
	for _, setting := range env {
		if strings.HasPrefix(setting, "TF_CLI_ARGS=") {
			t.Errorf("%s is passed on", setting)
		}
	}
	for _, want := range []string{"TF_CLI_CONFIG_FILE=/tmp/cli.tfrc", "GPU_VM_URL=http://127.0.0.1:1"} {
		if !strings.Contains(strings.Join(env, "\n"), want) {
			t.Errorf("%s is missing", want)
		}
	}
}

// TestMain lets the test program stand in for Terraform: started again with STAND_IN set, it behaves as that says.
func TestMain(m *testing.M) {
	switch os.Getenv("STAND_IN") {
	case "fails":
		os.Stdout.WriteString(`{"type":"diagnostic","diagnostic":{"severity":"error","summary":"Instance did not boot","detail":"no GPU left"}}` + "\n")
		os.Exit(1)
	case "changes":
		os.Exit(2)
	}
	os.Exit(m.Run())
}

func standIn(t *testing.T, behaviour string) CLI {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return CLI{Path: self, Dir: t.TempDir(), Env: append(os.Environ(), "STAND_IN="+behaviour)}
}

func TestFailureCarriesDiagnosticsAndExitCode(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()

	err := standIn(t, "fails").Stream(ctx, func(Event) {}, "apply")
	var failure *Error
	if !errors.As(err, &failure) || failure.Exit != 1 {
		t.Fatalf("got %v", err)
	}
	for _, want := range []string{"apply", "Instance did not boot", "no GPU left"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q doesn't say %q", err, want)
		}
	}

	if _, err := standIn(t, "changes").Text(ctx, "plan"); !errors.As(err, &failure) || failure.Exit != 2 {
		t.Errorf("got %v", err)
	}
}
