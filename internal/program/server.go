package program

import (
	"context"
	"slices"
	"sync/atomic"

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

// NewServer serves a provider as the plugin framework does, but for unchanged objects, and for two faults of the plugin libraries
// with actions.
func NewServer(p provider.Provider) Server { return newServer(p) }

func newServer(p provider.Provider) *server {
	framework, ok := providerserver.NewProtocol6(p)().(Server)
	if !ok {
		panic("the plugin framework serves no actions or no lists")
	}
	return &server{Server: framework, provider: p}
}

type server struct {
	Server
	provider  provider.Provider
	unchanged atomic.Pointer[map[string]*shortcut]
}

// UpgradeResourceState gives an object that is of this version's form back.
func (s *server) UpgradeResourceState(ctx context.Context, req *tfprotov6.UpgradeResourceStateRequest) (*tfprotov6.UpgradeResourceStateResponse, error) {
	if answer := s.upgraded(req); answer != nil {
		return answer, nil
	}
	return released(ctx, req, s.Server.UpgradeResourceState)
}

// ReadResource gives an object back as it is where that is what the service tells.
func (s *server) ReadResource(ctx context.Context, req *tfprotov6.ReadResourceRequest) (*tfprotov6.ReadResourceResponse, error) {
	ctx, answer := s.refreshed(ctx, req)
	if answer != nil {
		return answer, nil
	}
	return released(ctx, req, s.Server.ReadResource)
}

// PlanResourceChange plans an object as it is where nothing is proposed.
func (s *server) PlanResourceChange(ctx context.Context, req *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	if answer := s.planned(ctx, req); answer != nil {
		return answer, nil
	}
	return released(ctx, req, s.Server.PlanResourceChange)
}

// notAllowed is the summary of the framework's complaint about a write-only value for a Terraform that has no such values.
const notAllowed = "WriteOnly Attribute Not Allowed"

// ValidateActionConfig lets write-only values pass. The framework (1.19) lets actions have such attributes and then refuses
// each value, as the request doesn't tell what Terraform can: but one that knows actions (1.14) knows them (1.11).
func (s *server) ValidateActionConfig(ctx context.Context, req *tfprotov6.ValidateActionConfigRequest) (*tfprotov6.ValidateActionConfigResponse, error) {
	answer, err := s.Server.ValidateActionConfig(ctx, req)
	if answer != nil {
		answer.Diagnostics = slices.DeleteFunc(answer.Diagnostics, func(d *tfprotov6.Diagnostic) bool { return d.Summary == notAllowed })
	}
	return answer, err
}

// InvokeAction ends with the action. The libraries end the call with the first event after an interrupt, whatever the
// action still has to clean up: Terraform would then end the program in the midst of it.
func (s *server) InvokeAction(ctx context.Context, req *tfprotov6.InvokeActionRequest) (*tfprotov6.InvokeActionServerStream, error) {
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
