package terraformcore

import (
	"context"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// Action is what a plan is to do.
type Action string

// The actions.
const (
	NoOp    Action = "no-op"
	Create  Action = "create"
	Update  Action = "update"
	Replace Action = "replace" // destroy, then create
	Delete  Action = "delete"
)

// Change is a plan for one object.
type Change struct {
	Type          string
	Action        Action
	Before, After tftypes.Value
	// Because lists the attributes that make it a replacement; none where the object is tainted.
	Because []string

	private  []byte
	identity *tfprotov6.ResourceIdentityData
}

// Validate checks a configuration.
func (p *Provider) Validate(ctx context.Context, typeName string, plain map[string]any) *Report {
	r := &Report{}
	if config, ok := p.config(r, p.schemas.ResourceSchemas[typeName], plain); ok {
		p.validate(ctx, r, typeName, config)
	}
	return r
}

func (p *Provider) validate(ctx context.Context, r *Report, typeName string, config tftypes.Value) {
	r.call("ValidateResourceConfig", func() error {
		answer, err := p.server.ValidateResourceConfig(ctx, &tfprotov6.ValidateResourceConfigRequest{
			TypeName: typeName, Config: r.dynamic(config),
			ClientCapabilities: &tfprotov6.ValidateResourceConfigClientCapabilities{WriteOnlyAttributesAllowed: true},
		})
		if err == nil {
			r.add(answer.Diagnostics)
		}
		return err
	})
}

// Plan says what is to be done so that an object (nil where there is none) becomes as configured. The change is nil where
// the report has failed.
func (p *Provider) Plan(ctx context.Context, typeName string, o *Object, plain map[string]any) (*Change, *Report) {
	r := &Report{}
	config, ok := p.config(r, p.schemas.ResourceSchemas[typeName], plain)
	if !ok {
		return nil, r
	}
	return p.plan(ctx, r, typeName, o, config), r
}

func (p *Provider) plan(ctx context.Context, r *Report, typeName string, o *Object, config tftypes.Value) *Change {
	if p.validate(ctx, r, typeName, config); r.Failed() {
		return nil
	}
	none := tftypes.NewValue(config.Type(), nil)
	prior := &Object{Type: typeName, Value: none}
	if o != nil && !o.Tainted {
		prior = o
	}
	change, because := p.ask(ctx, r, prior, config)
	if r.Failed() {
		return nil
	}
	switch {
	case prior.Value.IsNull():
		change.Action = Create
	case change.After.Equal(prior.Value):
		change.Action = NoOp
	case len(because) > 0:
		// What is to be made anew is planned anew, from nothing.
		change, _ = p.ask(ctx, r, &Object{Type: typeName, Value: none, Private: change.private}, config)
		change.Action, change.Because, change.Before = Replace, because, prior.Value
	default:
		change.Action = Update
	}
	if o != nil && o.Tainted {
		change.Action, change.Before = Replace, o.Value
	}
	if r.Failed() {
		return nil
	}
	return change
}

// ask has the provider plan, and gives the attributes whose change it says to replace the object.
func (p *Provider) ask(ctx context.Context, r *Report, prior *Object, config tftypes.Value) (*Change, []string) {
	schema := p.schemas.ResourceSchemas[prior.Type]
	root := blockBody(schema.Block)
	proposed := root.propose(prior.Value, config)
	var answer *tfprotov6.PlanResourceChangeResponse
	change := &Change{Type: prior.Type, Before: prior.Value}
	if !r.call("PlanResourceChange", func() (err error) {
		answer, err = p.server.PlanResourceChange(ctx, &tfprotov6.PlanResourceChangeRequest{
			TypeName: prior.Type, PriorState: r.dynamic(prior.Value), ProposedNewState: r.dynamic(proposed), Config: r.dynamic(config),
			PriorPrivate: prior.Private, PriorIdentity: prior.Identity,
			ClientCapabilities: &tfprotov6.PlanResourceChangeClientCapabilities{},
		})
		return err
	}) {
		return change, nil
	}
	if r.add(answer.Diagnostics); r.Failed() {
		return change, nil
	}
	change.After = r.value("the planned state", schema.ValueType(), answer.PlannedState)
	change.private, change.identity = answer.PlannedPrivate, answer.PlannedIdentity
	r.keep("plan", change.After)
	r.keepPrivate(answer.PlannedPrivate)
	if answer.UnsafeToUseLegacyTypeSystem { //nolint:staticcheck // that nobody uses it is what is checked
		r.fault("the plan asks for the rules of the old SDK")
	}
	r.faults("invalid plan", root.planFaults("", prior.Value, config, change.After))
	return change, replacing(r, prior.Value, change.After, answer.RequiresReplace)
}

// replacing keeps those of the paths whose values differ: Terraform heeds no others.
func replacing(r *Report, before, after tftypes.Value, paths []*tftypes.AttributePath) []string {
	var because []string
	if before.IsNull() {
		return nil
	}
	for _, path := range paths {
		was, _, errBefore := tftypes.WalkAttributePath(before, path)
		is, _, errAfter := tftypes.WalkAttributePath(after, path)
		if errBefore != nil && errAfter != nil {
			r.fault("a replacement is asked for because of %s, which doesn't exist", path)
			continue
		}
		wasValue, hadValue := was.(tftypes.Value)
		isValue, hasValue := is.(tftypes.Value)
		if hadValue != hasValue || !wasValue.Equal(isValue) {
			because = append(because, path.String())
		}
	}
	return because
}

// PlanDestroy plans the end of an object.
func (p *Provider) PlanDestroy(ctx context.Context, o *Object) (*Change, *Report) {
	r := &Report{}
	none := tftypes.NewValue(o.Value.Type(), nil)
	change := &Change{Type: o.Type, Action: Delete, Before: o.Value, After: none, private: o.Private}
	r.call("PlanResourceChange", func() error {
		answer, err := p.server.PlanResourceChange(ctx, &tfprotov6.PlanResourceChangeRequest{
			TypeName: o.Type, PriorState: r.dynamic(o.Value), ProposedNewState: r.dynamic(none), Config: r.dynamic(none),
			PriorPrivate: o.Private, PriorIdentity: o.Identity, ClientCapabilities: &tfprotov6.PlanResourceChangeClientCapabilities{},
		})
		if err != nil {
			return err
		}
		r.add(answer.Diagnostics)
		if planned := r.value("the planned state", o.Value.Type(), answer.PlannedState); !planned.IsNull() {
			r.fault("a destroy is planned to leave %s", shown(planned))
		}
		change.private, change.identity = answer.PlannedPrivate, answer.PlannedIdentity
		return nil
	})
	if r.Failed() {
		return nil, r
	}
	return change, r
}
