package execution

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentenv/terraform-provider-gpuvm/internal/apiclient"
	"github.com/agentenv/terraform-provider-gpuvm/internal/apiclient/opensandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/diagnose"
	"github.com/agentenv/terraform-provider-gpuvm/internal/transcript"
)

func job(command Command) Job {
	return Job{Command: command, In: "vm-1", Limit: time.Hour, LimitedBy: "timeouts.create"}
}

var (
	aScript = Command{Argv: types.ListNull(types.StringType), Script: types.StringValue("make")}
	aWord   = Command{Argv: words("make"), Script: types.StringNull()}
)

func TestReport(t *testing.T) {
	t.Parallel()
	printed := func(stdout, stderr string) Ended {
		return Ended{ExitCode: 2, Stdout: transcript.Keep(stdout), Stderr: transcript.Keep(stderr)}
	}
	for name, test := range map[string]struct {
		job     Job
		err     error
		at      string
		summary string
		says    []string
		not     string
	}{
		"script": {
			job(aScript), aScript.judge("vm-1", printed("compiling\n", "\x1b[31mno such target\x1b[0m\n")), "script", "Script failed (exit 2)",
			[]string{"In vm-1 the script ended with exit code 2; expected: 0.", "Its output ends:\ncompiling\nno such target", "the next apply runs it again"}, "\x1b",
		},
		"command that printed nothing": {
			job(aWord), aWord.judge("vm-1", printed("", "")), "argv", "Command failed (exit 2)",
			[]string{"the command ended with exit code 2", "It printed nothing."}, "Its output ends",
		},
		"no code of its own": {
			job(aWord), aWord.judge("sb-1", Ended{ExitCode: 125, Reason: "The agent says: no such\ndirectory."}), "argv", "Command failed (exit 125)",
			[]string{"expected: 0. The agent says: no such directory."}, "",
		},
		"refused": {
			job(aWord), &apiclient.Error{Method: "POST", Path: "/v1/vms/vm-1/exec", Status: 409, Text: "the vm is booting", RetryAfter: -1}, "argv", "Command was not run to its end in vm-1",
			[]string{"POST /v1/vms/vm-1/exec: HTTP 409: the vm is booting", "What to do: correct what the answer names"}, "unknown",
		},
	} {
		var diags diag.Diagnostics
		test.job.Report(&diags, diagnose.GPUVM, test.err, ResourceFailed)
		got, ok := diags[0].(diag.DiagnosticWithPath)
		if !ok || !got.Path().Equal(path.Root(test.at)) || got.Summary() != test.summary {
			t.Errorf("%s: %v", name, diags)
		}
		for _, want := range test.says {
			if !strings.Contains(got.Detail(), want) {
				t.Errorf("%s: %q doesn't say %q", name, got.Detail(), want)
			}
		}
		if test.not != "" && strings.Contains(got.Detail(), test.not) {
			t.Errorf("%s: %q says %q", name, got.Detail(), test.not)
		}
	}
}

func TestUnansweredSaysWhetherItMayHaveRun(t *testing.T) {
	t.Parallel()
	late, endLate := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer endLate()
	interrupted, interrupt := context.WithCancel(t.Context())
	interrupt()
	noAnswer := &apiclient.Error{Method: "POST", Path: "/v1/vms/vm-1/exec", RetryAfter: -1, Err: errors.New("connection reset by peer")}
	where := surroundings{abandoned: "It may run on.", repeated: "It was not sent again."}
	soFar := Ended{Stdout: transcript.Keep("half way\n")}
	for name, test := range map[string]struct {
		ctx  context.Context
		err  error
		is   error
		says string
	}{
		"lost":        {t.Context(), noAnswer, noAnswer, "whether it still runs, is unknown. It was not sent again.\n\nIts output ends:\nhalf way"},
		"gateway":     {t.Context(), &apiclient.Error{Method: "POST", Status: 504, RetryAfter: -1}, nil, "is unknown"},
		"cut":         {t.Context(), &opensandbox.InterruptedError{ID: "c-1", Err: io.ErrUnexpectedEOF}, io.ErrUnexpectedEOF, "is unknown"},
		"too late":    {late, noAnswer, context.DeadlineExceeded, "did not end within 1h0m0s, which timeouts.create allows. It may run on."},
		"interrupted": {interrupted, noAnswer, context.Canceled, "Terraform was interrupted before the script ended in vm-1. It may run on."},
	} {
		err := job(aScript).unanswered(test.ctx, test.err, soFar, where)
		if !strings.Contains(err.Error(), test.says) || test.is != nil && !errors.Is(err, test.is) {
			t.Errorf("%s: %v", name, err)
		}
	}
	refused := &apiclient.Error{Method: "POST", Status: 404, RetryAfter: -1}
	if err := job(aScript).unanswered(t.Context(), refused, Ended{}, where); !errors.Is(err, refused) || strings.Contains(err.Error(), "unknown") {
		t.Errorf("a refusal: %v", err)
	}
}

func TestNoAdviceToLookAtTheConnectionAfterATimeout(t *testing.T) {
	t.Parallel()
	late, end := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer end()
	err := job(aScript).unanswered(late, &apiclient.Error{Method: "POST", Path: "/exec", RetryAfter: -1, Err: context.DeadlineExceeded}, Ended{}, surroundings{})
	if detail := diagnose.GPUVM.Detail(err); strings.Contains(detail, "can be reached") {
		t.Error(detail)
	}
}
