package execution

import (
	"context"

	lifecycle "github.com/agentenv/terraform-provider-gpuvm/internal/lifecycle/gpuvm"
	"github.com/agentenv/terraform-provider-gpuvm/internal/transcript"
)

// InVM runs the job in a GPU VM and waits for its end. It is sent once: an open outcome is an error and never a second
// run. What it printed comes without the secrets that the provider knows.
func (j Job) InVM(ctx context.Context, service *lifecycle.Lifecycle) (Ended, error) {
	ctx, cancel := context.WithTimeout(ctx, j.Limit)
	defer cancel()
	argv := j.Words()
	if j.IsScript() {
		argv = lifecycle.ScriptCommand(j.Script.ValueString())
	}
	result, err := service.Exec(ctx, j.In, argv)
	if err != nil {
		return Ended{}, j.unanswered(ctx, err, Ended{}, surroundings{
			abandoned: "The VM service has no request that ends a command, so it may run on there.",
			repeated:  "It was not sent a second time, because that could run it twice.",
		})
	}
	ended := Ended{
		ExitCode: result.ExitCode,
		Stdout:   transcript.Keep(service.API.Redact(result.Stdout)),
		Stderr:   transcript.Keep(service.API.Redact(result.Stderr)),
	}
	return ended, j.judge(j.In, ended)
}
