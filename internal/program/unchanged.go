package program

import (
	"context"
	"encoding/json"
	"iter"
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

// shortcutOf gives what answers for a resource type, or nil.
func (s *server) shortcutOf(typeName string) *shortcut {
	if shortcuts := s.unchanged.Load(); shortcuts != nil {
		return (*shortcuts)[typeName]
	}
	return nil
}

// shortcuts makes what answers for those resource types of a configured provider that know their unchanged objects.
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

// upgraded gives an object that is of this version's form as it stands in the state: Terraform reads that by itself. nil is the
// framework's: an object with an attribute more or fewer, or without a block that may be repeated.
func (s *server) upgraded(req *tfprotov6.UpgradeResourceStateRequest) *tfprotov6.UpgradeResourceStateResponse {
	sc := s.shortcutOf(req.TypeName)
	if sc == nil || req.Version != sc.version || req.RawState == nil {
		return nil
	}
	var stored map[string]any
	if json.Unmarshal(req.RawState.JSON, &stored) != nil || stored == nil || !isOf(sc.wireType, stored) {
		return nil
	}
	return &tfprotov6.UpgradeResourceStateResponse{UpgradedState: &tfprotov6.DynamicValue{JSON: req.RawState.JSON}}
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
	object, ok := sc.stored(ctx, req.CurrentState, req.Private)
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

// isOf says whether a value as JSON has it is exactly of a type.
func isOf(kind tftypes.Type, value any) bool {
	switch kind := kind.(type) {
	case tftypes.Object:
		object, ok := value.(map[string]any)
		if !ok || len(object) != len(kind.AttributeTypes) {
			return value == nil
		}
		for name, of := range kind.AttributeTypes {
			if inner, ok := object[name]; !ok || !isOf(of, inner) {
				return false
			}
		}
		return true
	case tftypes.Map:
		elements, ok := value.(map[string]any)
		return value == nil || ok && allOf(kind.ElementType, maps.Values(elements))
	case tftypes.List:
		return isListOf(kind.ElementType, value)
	case tftypes.Set:
		return isListOf(kind.ElementType, value)
	}
	ok := value == nil
	switch value.(type) {
	case string:
		ok = kind.Is(tftypes.String)
	case float64:
		ok = kind.Is(tftypes.Number)
	case bool:
		ok = kind.Is(tftypes.Bool)
	}
	return ok
}

// isListOf is isOf for lists and sets. One of objects is a block, which is empty where there is none, never null.
func isListOf(kind tftypes.Type, value any) bool {
	elements, ok := value.([]any)
	return ok && allOf(kind, slices.Values(elements)) || value == nil && !kind.Is(tftypes.Object{})
}

func allOf(kind tftypes.Type, values iter.Seq[any]) bool {
	for value := range values {
		if !isOf(kind, value) {
			return false
		}
	}
	return true
}
