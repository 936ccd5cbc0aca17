package program

import (
	"context"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/agentenv/terraform-provider-gpuvm/internal/unchanged"
)

// serving is a provider that tells what it configures its resources with.
type serving interface{ ResourceData() any }

// ConfigureProvider also makes ready what answers for unchanged objects.
func (s *server) ConfigureProvider(ctx context.Context, req *tfprotov6.ConfigureProviderRequest) (*tfprotov6.ConfigureProviderResponse, error) {
	answer, err := s.Server.ConfigureProvider(ctx, req)
	if err == nil && !slices.ContainsFunc(answer.Diagnostics, isError) {
		fleets := s.fleets(ctx)
		s.unchanged.Store(&fleets)
	}
	return answer, err
}

func isError(d *tfprotov6.Diagnostic) bool { return d.Severity == tfprotov6.DiagnosticSeverityError }

// fleetOf gives the resource type that may answer by itself, or nil.
func (s *server) fleetOf(typeName string) *fleet {
	if fleets := s.unchanged.Load(); fleets != nil {
		return (*fleets)[typeName]
	}
	return nil
}

// fleets gives the resource types of a configured provider that know their unchanged objects.
func (s *server) fleets(ctx context.Context) map[string]*fleet {
	all := map[string]*fleet{}
	configured, ok := s.provider.(serving)
	if !ok {
		return all
	}
	var of provider.MetadataResponse
	s.provider.Metadata(ctx, provider.MetadataRequest{}, &of)
	for _, construct := range s.provider.Resources(ctx) {
		r, ok := construct().(unchanged.Resource)
		if !ok {
			continue
		}
		r.Configure(ctx, resource.ConfigureRequest{ProviderData: configured.ResourceData()}, &resource.ConfigureResponse{})
		var named resource.MetadataResponse
		r.Metadata(ctx, resource.MetadataRequest{ProviderTypeName: of.TypeName}, &named)
		all[named.TypeName] = newFleet(ctx, s.Server, named.TypeName, r)
	}
	return all
}

// upgraded answers for an object that is of this version's form; nil is the framework's: an object with more attributes or fewer.
func (s *server) upgraded(req *tfprotov6.UpgradeResourceStateRequest) *tfprotov6.UpgradeResourceStateResponse {
	f := s.fleetOf(req.TypeName)
	if f == nil || req.Version != f.version || req.RawState == nil {
		return nil
	}
	value, err := req.RawState.Unmarshal(f.wire)
	if err != nil {
		return nil
	}
	encoded, err := tfprotov6.NewDynamicValue(f.wire, value)
	if err != nil {
		return nil
	}
	return &tfprotov6.UpgradeResourceStateResponse{UpgradedState: &encoded}
}

// refreshed asks the service for an object, and answers where it is as the state has it; else it gives nil, and the context for
// the framework to go on with.
func (s *server) refreshed(ctx context.Context, req *tfprotov6.ReadResourceRequest) (after context.Context, answer *tfprotov6.ReadResourceResponse) {
	after = ctx
	defer frameworkTells(&answer)
	f := s.fleetOf(req.TypeName)
	if f == nil {
		return ctx, nil
	}
	object, ok := f.stored(req.CurrentState, req.Private)
	if !ok {
		return ctx, nil
	}
	identity := req.CurrentIdentity
	if identity == nil { // before Terraform 1.12 there is none, and a state of then has none yet
		if identity, ok = f.identify(object.Object); !ok {
			return ctx, nil
		}
	}
	after, same := f.resource.Look(ctx, object)
	if !same {
		return after, nil
	}
	return after, &tfprotov6.ReadResourceResponse{NewState: req.CurrentState, Private: req.Private, NewIdentity: identity}
}

// planned plans an object as it is where nothing is proposed; nil is the framework's.
func (s *server) planned(ctx context.Context, req *tfprotov6.PlanResourceChangeRequest) (answer *tfprotov6.PlanResourceChangeResponse) {
	defer frameworkTells(&answer)
	f := s.fleetOf(req.TypeName)
	if f == nil || !f.proposesNothing(ctx, req) {
		return nil
	}
	return &tfprotov6.PlanResourceChangeResponse{PlannedState: req.PriorState, PlannedPrivate: req.PriorPrivate, PlannedIdentity: req.PriorIdentity}
}

// frameworkTells leaves a call in which something panicked to the framework: the verb panics there too, and tells of it. Nothing
// may end the program while others make machines.
func frameworkTells[Response any](answer **Response) {
	if recover() != nil {
		*answer = nil
	}
}
