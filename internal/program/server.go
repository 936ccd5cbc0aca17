package program

import (
	"context"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

// Server is all that a provider serves.
type Server interface {
	tfprotov6.ProviderServer
	tfprotov6.ListResourceServer
	tfprotov6.ActionServer
}

// NewServer serves a provider as the plugin framework does, but for two faults of the plugin libraries with actions.
func NewServer(p provider.Provider) Server {
	framework, ok := providerserver.NewProtocol6(p)().(Server)
	if !ok {
		panic("the plugin framework serves no actions or no lists")
	}
	return server{framework}
}

type server struct{ Server }

// notAllowed is the summary of the framework's complaint about a write-only value for a Terraform that has no such values.
const notAllowed = "WriteOnly Attribute Not Allowed"

// ValidateActionConfig lets write-only values pass. The framework (1.19) lets actions have such attributes and then refuses
// each value, as the request doesn't tell what Terraform can: but one that knows actions (1.14) knows them (1.11).
func (s server) ValidateActionConfig(ctx context.Context, req *tfprotov6.ValidateActionConfigRequest) (*tfprotov6.ValidateActionConfigResponse, error) {
	answer, err := s.Server.ValidateActionConfig(ctx, req)
	if answer != nil {
		answer.Diagnostics = slices.DeleteFunc(answer.Diagnostics, func(d *tfprotov6.Diagnostic) bool { return d.Summary == notAllowed })
	}
	return answer, err
}

// InvokeAction ends with the action. The libraries end the call with the first event after an interrupt, whatever the
// action still has to clean up: Terraform would then end the program in the midst of it.
func (s server) InvokeAction(ctx context.Context, req *tfprotov6.InvokeActionRequest) (*tfprotov6.InvokeActionServerStream, error) {
	stream, err := s.Server.InvokeAction(ctx, req)
	if err != nil || stream == nil {
		return stream, err
	}
	events := stream.Events
	stream.Events = func(push func(tfprotov6.InvokeActionEvent) bool) {
		listening := true
		for event := range events {
			listening = listening && push(event)
		}
	}
	return stream, nil
}
