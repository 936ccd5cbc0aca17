package gpuvmexec_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/agentenv/terraform-provider-gpuvm/internal/acctest"
	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/faults"
	"github.com/agentenv/terraform-provider-gpuvm/internal/provider"
)

const action = "gpuvm_exec"

// world is a service with one machine, and a provider for it.
func world(t *testing.T) (*acctest.GPUVM, *acctest.Protocol, string) {
	t.Helper()
	service := acctest.NewGPUVM(t)
	id := service.Make(t, `{"image":"client","cpu":1,"memory_mb":1024,"disk_gb":10,"ttl_seconds":600,"ports":[],"labels":{},"priority":null}`)
	return service, acctest.NewProtocol(t, provider.GPUVM("test")(), acctest.Values{"base_url": service.URL, "api_token": service.Token, "max_retries": 1}), id
}

func execs(service *acctest.GPUVM) int {
	count := 0
	for _, request := range service.Faults().Requests() {
		if strings.HasSuffix(request.Path, "/exec") {
			count++
		}
	}
	return count
}

func TestOutputIsToldLineByLine(t *testing.T) {
	t.Parallel()
	_, protocol, id := world(t)
	progress, diagnostics := protocol.Invoke(t.Context(), action, acctest.Values{
		"instance_id": id,
		"script":      "echo first; echo; printf '\\033[31mred\\033[0m\\n'; echo trouble >&2",
	})
	if len(diagnostics) > 0 {
		t.Fatal(acctest.Text(diagnostics))
	}
	want := []string{"running the script in " + id, "first", "", "red", "trouble", "exit code 0"}
	if !slices.Equal(progress, want) {
		t.Errorf("told %q, want %q", progress, want)
	}
}

func TestArgvAndExpectedExitCodes(t *testing.T) {
	t.Parallel()
	service, protocol, id := world(t)
	progress, diagnostics := protocol.Invoke(t.Context(), action, acctest.Values{
		"instance_id": id, "argv": []string{"sh", "-c", "exit 3"}, "expected_exit_codes": []int{0, 3}, "timeout_seconds": 60,
	})
	if len(diagnostics) > 0 || progress[len(progress)-1] != "exit code 3" {
		t.Errorf("%q %s", progress, acctest.Text(diagnostics))
	}
	for _, request := range service.Faults().Requests() {
		if strings.HasSuffix(request.Path, "/exec") && string(request.Body) != `{"argv":["sh","-c","exit 3"]}` {
			t.Errorf("sent %s", request.Body)
		}
	}
}

func TestAFailureFailsTheRunAndShowsTheEndOfTheOutput(t *testing.T) {
	t.Parallel()
	_, protocol, id := world(t)
	progress, diagnostics := protocol.Invoke(t.Context(), action, acctest.Values{
		"instance_id": id, "script": "echo working; echo no space left >&2; exit 7",
	})
	text := acctest.Text(diagnostics)
	for _, want := range []string{"ERROR: Script failed (exit 7)", "working\nno space left", "expected: 0", "taints nothing"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q doesn't say %q", text, want)
		}
	}
	if want := []string{"running the script in " + id, "working", "no space left"}; !slices.Equal(progress, want) {
		t.Errorf("told %q, want %q", progress, want)
	}
	if at := diagnostics[0].Attribute; at == nil || at.String() != `AttributeName("script")` {
		t.Errorf("under %v", at)
	}
}

func TestWhatCantBeMeantIsRefusedBeforeAnythingIsSent(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		config acctest.Values
		says   string
	}{
		"no instance":      {acctest.Values{"script": "ls", "instance_id": ""}, "at least 1"},
		"no command":       {acctest.Values{}, "here is neither"},
		"two commands":     {acctest.Values{"script": "ls", "argv": []string{"ls"}}, "here are both"},
		"empty script":     {acctest.Values{"script": ""}, "Script is empty"},
		"empty argv":       {acctest.Values{"argv": []string{}}, "here is no element"},
		"no code":          {acctest.Values{"script": "ls", "expected_exit_codes": []int{}}, "no command could ever succeed"},
		"code out of 255":  {acctest.Values{"script": "ls", "expected_exit_codes": []int{256}}, "256 is not from -255 to 255"},
		"fraction":         {acctest.Values{"script": "ls", "expected_exit_codes": []float64{0.5}}, "not a whole number"},
		"no time":          {acctest.Values{"script": "ls", "timeout_seconds": 0}, "at least 1"},
		"half a second":    {acctest.Values{"script": "ls", "timeout_seconds": 0.5}, "not a whole number"},
		"null in the argv": {acctest.Values{"argv": []any{"ls", nil}}, "Argument is null"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service, protocol, id := world(t)
			if _, given := test.config["instance_id"]; !given {
				test.config["instance_id"] = id
			}
			diagnostics := protocol.Plan(t.Context(), action, test.config)
			if text := acctest.Text(diagnostics); !strings.Contains(text, test.says) {
				t.Errorf("%q doesn't say %q", text, test.says)
			}
			if sent := service.Faults().Total(); sent > 1 { // the one that made the machine
				t.Errorf("%d requests were sent", sent)
			}
		})
	}
}

func TestUnknownValuesPassThePlanAndAreJudgedAtApply(t *testing.T) {
	t.Parallel()
	service, protocol, id := world(t)
	diagnostics := protocol.Plan(t.Context(), action, acctest.Values{
		"instance_id": acctest.Unknown, "script": acctest.Unknown, "argv": acctest.Unknown, "expected_exit_codes": acctest.Unknown, "timeout_seconds": acctest.Unknown,
	})
	if len(diagnostics) > 0 {
		t.Errorf("the plan: %s", acctest.Text(diagnostics))
	}
	for name, config := range map[string]acctest.Values{
		"here is neither":    {"instance_id": id},
		"Script is empty":    {"instance_id": id, "script": ""},
		"ever succeed":       {"instance_id": id, "script": "ls", "expected_exit_codes": []int{}},
		"has to be 1":        {"instance_id": id, "script": "ls", "timeout_seconds": 0},
		"not run to its end": {"instance_id": "..", "script": "ls"},
	} {
		if _, diagnostics := protocol.InvokeUnplanned(t.Context(), action, config, nil); !strings.Contains(acctest.Text(diagnostics), name) {
			t.Errorf("%s: %s", name, acctest.Text(diagnostics))
		}
	}
	if sent := execs(service); sent != 0 {
		t.Errorf("%d commands were sent", sent)
	}
}

func TestAnOpenOutcomeIsNeverRepeated(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]faults.Fault{
		"reset":   {Path: "/v1/vms/*/exec", Kind: faults.ResetAfter, Times: -1},
		"cut":     {Path: "/v1/vms/*/exec", Kind: faults.Cut, Times: -1},
		"garbage": {Path: "/v1/vms/*/exec", Kind: faults.Garbage, Times: -1},
		"gateway": {Path: "/v1/vms/*/exec", Kind: faults.StatusAfter, Status: 504, Times: -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service, protocol, id := world(t)
			service.Faults().Order(fault)
			_, diagnostics := protocol.Invoke(t.Context(), action, acctest.Values{"instance_id": id, "script": "echo once >> /tmp/runs"})
			if text := acctest.Text(diagnostics); !strings.Contains(text, "whether it still runs, is unknown") {
				t.Error(text)
			}
			if sent := execs(service); sent != 1 {
				t.Errorf("sent %d times", sent)
			}
		})
	}
}

func TestABusyServiceIsAskedAgain(t *testing.T) {
	t.Parallel()
	service, protocol, id := world(t)
	service.Faults().Order(faults.Fault{Path: "/v1/vms/*/exec", Kind: faults.Status, Status: 429, RetryAfter: "0"})
	if _, diagnostics := protocol.Invoke(t.Context(), action, acctest.Values{"instance_id": id, "script": "true"}); len(diagnostics) > 0 {
		t.Error(acctest.Text(diagnostics))
	}
	if sent := execs(service); sent != 2 {
		t.Errorf("sent %d times, want 2", sent)
	}
}

func TestAMachineThatIsGoneIsNamed(t *testing.T) {
	t.Parallel()
	service, protocol, id := world(t)
	service.Delete(id)
	_, diagnostics := protocol.Invoke(t.Context(), action, acctest.Values{"instance_id": id, "argv": []string{"true"}})
	if text := acctest.Text(diagnostics); !strings.Contains(text, "Command was not run to its end in "+id) || !strings.Contains(text, "HTTP 404: no such vm") {
		t.Error(text)
	}
}

func TestTheLimitIsKept(t *testing.T) {
	t.Parallel()
	_, protocol, id := world(t)
	_, diagnostics := protocol.Invoke(t.Context(), action, acctest.Values{"instance_id": id, "script": "sleep 600", "timeout_seconds": 1})
	text := acctest.Text(diagnostics)
	for _, want := range []string{"did not end within 1s, which timeout_seconds allows", "no request that ends a command"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q doesn't say %q", text, want)
		}
	}
}

func TestAnInterruptEndsIt(t *testing.T) {
	t.Parallel()
	service, protocol, id := world(t)
	ctx, interrupt := context.WithCancel(t.Context())
	remove := service.Faults().OnRequest(func(r faults.Record) {
		if strings.HasSuffix(r.Path, "/exec") {
			interrupt()
		}
	})
	defer remove()
	_, diagnostics := protocol.Invoke(ctx, action, acctest.Values{"instance_id": id, "script": "sleep 600"})
	if text := acctest.Text(diagnostics); !strings.Contains(text, "Terraform was interrupted before the script ended in "+id) {
		t.Error(text)
	}
}

func TestTheTokenIsToldNowhere(t *testing.T) {
	t.Parallel()
	service, protocol, id := world(t)
	progress, diagnostics := protocol.Invoke(t.Context(), action, acctest.Values{"instance_id": id, "script": "echo " + service.Token + "; exit 1"})
	if text := strings.Join(progress, "\n") + acctest.Text(diagnostics); strings.Contains(text, service.Token) || !strings.Contains(text, "(redacted)") {
		t.Error(text)
	}
}

func TestExampleCanBePlanned(t *testing.T) {
	t.Parallel()
	_, protocol, _ := world(t)
	example, config := acctest.ActionExample(t, "gpuvm/actions/gpuvm_exec/action.tf")
	if diagnostics := protocol.Plan(t.Context(), example, config); example != action || len(diagnostics) > 0 {
		t.Errorf("%s: %s", example, acctest.Text(diagnostics))
	}
}
