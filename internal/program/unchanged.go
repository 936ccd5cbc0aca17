package program

import (
	"context"
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/agentenv/terraform-provider-gpuvm/internal/crash"
	"github.com/agentenv/terraform-provider-gpuvm/internal/unchanged"
)

// ConfigureProvider also makes ready what answers for unchanged objects.
func (s *server) ConfigureProvider(ctx context.Context, req *tfprotov6.ConfigureProviderRequest) (*tfprotov6.ConfigureProviderResponse, error) {
	answer, err := s.Server.ConfigureProvider(ctx, req)
	if err == nil && !slices.ContainsFunc(answer.Diagnostics, isError) {
		shortcuts := s.shortcuts(ctx)
		s.unchanged.Store(&shortcuts)
	}
	return answer, err
}

func isError(d *tfprotov6.Diagnostic) bool { return d.Severity == tfprotov6.DiagnosticSeverityError }

// shortcutOf gives the resource type that may answer by itself, or nil.
func (s *server) shortcutOf(typeName string) *shortcut {
	if shortcuts := s.unchanged.Load(); shortcuts != nil {
		return (*shortcuts)[typeName]
	}
	return nil
}

// shortcuts gives the resource types of a configured provider that know their unchanged objects.
func (s *server) shortcuts(ctx context.Context) map[string]*shortcut {
	all := map[string]*shortcut{}
	configured, ok := s.provider.(unchanged.Provider)
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
		all[named.TypeName] = newShortcut(ctx, s.Server, named.TypeName, r)
	}
	return all
}

// upgraded answers for an object that is of this version's form; nil is the framework's: an object with an attribute more, or
// without a block that may be repeated.
func (s *server) upgraded(req *tfprotov6.UpgradeResourceStateRequest) *tfprotov6.UpgradeResourceStateResponse {
	sc := s.shortcutOf(req.TypeName)
	if sc == nil || req.Version != sc.version || req.RawState == nil {
		return nil
	}
	value, err := req.RawState.Unmarshal(sc.wireType)
	if err != nil || lacksList(value) {
		return nil
	}
	encoded, err := tfprotov6.NewDynamicValue(sc.wireType, value)
	if err != nil {
		return nil
	}
	return &tfprotov6.UpgradeResourceStateResponse{UpgradedState: &encoded}
}

// refreshed asks the service for an object, and answers where it is as the state has it; else it gives nil, and the context for
// the framework to go on with.
func (s *server) refreshed(ctx context.Context, req *tfprotov6.ReadResourceRequest) (after context.Context, answer *tfprotov6.ReadResourceResponse) {
	after = ctx //nolint:wastedassign // what a panic leaves
	defer frameworkTells(ctx, &answer)
	sc := s.shortcutOf(req.TypeName)
	if sc == nil {
		return ctx, nil
	}
	object, ok := sc.stored(req.CurrentState, req.Private)
	if !ok {
		return ctx, nil
	}
	identity, ok := sc.identify(object.Object, req.CurrentIdentity)
	if !ok {
		return ctx, nil
	}
	after, same := sc.resource.Look(ctx, object)
	if !same {
		return after, nil
	}
	return after, &tfprotov6.ReadResourceResponse{NewState: req.CurrentState, Private: req.Private, NewIdentity: identity}
}

// planned plans an object as it is where nothing is proposed; nil is the framework's.
func (s *server) planned(ctx context.Context, req *tfprotov6.PlanResourceChangeRequest) (answer *tfprotov6.PlanResourceChangeResponse) {
	defer frameworkTells(ctx, &answer)
	sc := s.shortcutOf(req.TypeName)
	if sc == nil || !sc.proposesNothing(ctx, req) {
		return nil
	}
	return &tfprotov6.PlanResourceChangeResponse{PlannedState: req.PriorState, PlannedPrivate: req.PriorPrivate, PlannedIdentity: req.PriorIdentity}
}

// frameworkTells leaves a call in which something panicked to the framework. Nothing may end the program while others make
// machines.
func frameworkTells[Response any](ctx context.Context, answer **Response) {
	if value := recover(); value != nil {
		tflog.Error(ctx, crash.Recovered(value).Error())
		*answer = nil
	}
}

// lacksList says whether a list or set of objects is null, at any depth.
func lacksList(v tftypes.Value) bool {
	kind := v.Type()
	if !kind.Is(tftypes.Object{}) && !ofObjects(kind) {
		return false
	}
	if v.IsNull() {
		return ofObjects(kind)
	}
	var elements []tftypes.Value
	var attributes map[string]tftypes.Value
	if v.As(&elements) != nil && v.As(&attributes) != nil {
		return true
	}
	return slices.ContainsFunc(slices.AppendSeq(elements, maps.Values(attributes)), lacksList)
}

func ofObjects(kind tftypes.Type) bool {
	switch kind := kind.(type) {
	case tftypes.List:
		return kind.ElementType.Is(tftypes.Object{})
	case tftypes.Set:
		return kind.ElementType.Is(tftypes.Object{})
	}
	return false
}
