// Package diagnose turns an error of a service into the diagnostic that a user reads: what was asked, what came back,
// and what to do.
package diagnose

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/agentenv/terraform-provider-gpuvm/internal/apiclient"
	"github.com/agentenv/terraform-provider-gpuvm/internal/crash"
	"github.com/agentenv/terraform-provider-gpuvm/internal/poll"
)

// Service holds the names by which a user knows a service's settings, for advice.
type Service struct {
	Name      string // "VM service"
	Address   string // the attribute and the environment variable of its address
	Secret    string // the same of its token or key
	TimeoutAt string // what bounds a wait
}

// The services of the two providers.
var (
	GPUVM = Service{
		Name:    "VM service",
		Address: "base_url (environment variable GPU_VM_URL)",
		Secret:  "api_token (environment variable GPU_VM_TOKEN)",
	}
	OpenSandbox = Service{
		Name:    "OpenSandbox server",
		Address: "domain and protocol (environment variables OPEN_SANDBOX_DOMAIN and OPEN_SANDBOX_PROTOCOL)",
		Secret:  "api_key (environment variable OPEN_SANDBOX_API_KEY)",
	}
)

// Error adds err under a summary that says what failed.
func (s Service) Error(diags *diag.Diagnostics, summary string, err error) {
	diags.AddError(summary, s.Detail(err))
}

// AttributeError adds err under the attribute it belongs to.
func (s Service) AttributeError(diags *diag.Diagnostics, at path.Path, summary string, err error) {
	diags.AddAttributeError(at, summary, s.Detail(err))
}

// Detail is the error's text with advice for its kind.
func (s Service) Detail(err error) string {
	text := sentence(err)
	if advice := s.advice(err); advice != "" {
		text += "\n\nWhat to do: " + advice
	}
	return text
}

func sentence(err error) string {
	if errors.Is(err, context.Canceled) && !strings.Contains(err.Error(), "interrupted") {
		return "Terraform was interrupted, so this was given up.\n\n" + err.Error()
	}
	return err.Error()
}

func (s Service) advice(err error) string {
	var failed *apiclient.Error
	var timedOut *poll.TimeoutError
	switch {
	case errors.Is(err, context.Canceled):
		return "run it again when it is to go on."
	case errors.As(err, &timedOut):
		return "look at what was last seen above; if the machine only needs longer, raise the timeouts block."
	case errors.Is(err, apiclient.ErrGarbled):
		return fmt.Sprintf("check that %s leads to the %s itself, not to a page of something before it. If it does, the answer breaks the service's contract: tell those who run it.", s.Address, s.Name)
	case !errors.As(err, &failed):
		return ""
	case failed.Elsewhere():
		return fmt.Sprintf("set %s to the address the service answers at itself.", s.Address)
	case failed.Status == 401:
		return fmt.Sprintf("check %s: the %s doesn't accept it.", s.Secret, s.Name)
	case failed.Status == 403:
		return fmt.Sprintf("the %s knows who asks and doesn't allow this. Check the rights or the quota behind %s.", s.Name, s.Secret)
	case apiclient.IsGone(err):
		return "plan again: a refresh drops from the state what no longer exists."
	case failed.Status == 429:
		return fmt.Sprintf("the %s limits requests. Apply again later, or with a lower -parallelism.", s.Name)
	case failed.Status == 501:
		return fmt.Sprintf("this %s can't do that, however often it is asked; see which of its runtimes and versions can.", s.Name)
	case failed.Status >= 500:
		return fmt.Sprintf("the %s is in trouble; apply again once it is healthy. Its request id, where there is one above, finds the entry in its log.", s.Name)
	case failed.Status >= 300 && failed.Status < 400:
		return fmt.Sprintf("set %s to the address the service answers at itself.", s.Address)
	case failed.Status >= 400:
		return "correct what the answer names, then apply again."
	default:
		return fmt.Sprintf("check that the %s runs and can be reached from here, and check %s.", s.Name, s.Address)
	}
}

// Panic turns a panic of a verb into an error. It is deferred by every verb, after the verb's own clean-up.
func Panic(diags *diag.Diagnostics) {
	if value := recover(); value != nil {
		diags.AddError("The provider crashed", fmt.Sprintf(
			"This is a fault of the provider: %v\n\nWhat to do: report it with the steps that led here. State and machines are as before this step; a plan shows where they differ.", crash.Recovered(value)))
	}
}
