package execution

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/types"

	api "github.com/agentenv/terraform-provider-gpuvm/internal/apiclient/opensandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/labels"
	lifecycle "github.com/agentenv/terraform-provider-gpuvm/internal/lifecycle/opensandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/transcript"
)

// Process is what a command in a sandbox runs as and with.
type Process struct {
	User  types.String `tfsdk:"user"`
	Cwd   types.String `tfsdk:"cwd"`
	Env   types.Map    `tfsdk:"env"`
	EnvWO types.Map    `tfsdk:"env_wo"`
}

// InSandbox runs the job in a sandbox and waits for its end. process comes from the configuration, since no plan holds its
// write-only part. killAfter, unless 0, has the sandbox's agent kill the command. hear, unless nil, is told each line as it
// comes. Nothing that is told or kept holds a secret that the provider knows, or a write-only variable.
func (j Job) InSandbox(ctx context.Context, service *lifecycle.Lifecycle, process Process, killAfter time.Duration, hear func(line string)) (Ended, error) {
	ctx, cancel := context.WithTimeout(ctx, j.Limit)
	defer cancel()
	env, _ := labels.FromMap(process.Env)
	secret, _ := labels.FromMap(process.EnvWO)
	redact := newRedactor(service.API.Redact, secret)
	line := j.Script.ValueString()
	if !j.IsScript() {
		line = lifecycle.CommandLine(j.Words())
	}
	result, err := service.Exec(ctx, j.In, lifecycle.Command{
		Line:    line,
		User:    process.User.ValueString(),
		Cwd:     process.Cwd.ValueString(),
		Env:     labels.Merge(env, secret),
		Timeout: killAfter,
		Listen: func(_ api.Stream, line string) {
			if hear != nil {
				hear(redact.text(line))
			}
		},
	})
	ended := Ended{ExitCode: result.ExitCode, Reason: redact.text(reason(result)), Stdout: redact.output(result.Stdout), Stderr: redact.output(result.Stderr)}
	if err != nil {
		return ended, redact.error(j.unanswered(ctx, err, ended, surroundings{
			abandoned: "The sandbox's agent was asked to end it, where it had begun.",
			repeated:  "It is sent again only as often as command_retries in the provider's operations block says (0 unless set), because that could run it twice.",
		}))
	}
	return ended, j.judge(j.In, ended)
}

// reason says why a command has no exit code of its own.
func reason(result api.Result) string {
	switch {
	case result.Failure != "":
		return "The sandbox's agent gives no exit code; it says: " + result.Failure + "."
	case result.ExitCode < 0:
		return "It was killed, by a signal or because timeout_seconds were over."
	}
	return ""
}

// output keeps what was printed, without secrets.
func (r redactor) output(captured api.Captured) transcript.Output {
	text := captured.Text
	if captured.Truncated {
		text = r.whole(text)
	}
	kept := transcript.Keep(r.text(text))
	return transcript.Output{Text: kept.Text, Truncated: kept.Truncated || captured.Truncated}
}
