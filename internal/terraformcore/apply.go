package terraformcore

import (
	"context"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// Apply carries out a change of an object (nil where there is none) under the configuration as it is known by now, and
// gives what the state holds then; nil is nothing.
func (p *Provider) Apply(ctx context.Context, o *Object, change *Change, plain map[string]any) (*Object, *Report) {
	r := &Report{}
	if change.Action == NoOp {
		return o, r
	}
	if change.Action == Delete {
		return p.destroy(ctx, r, o, change), r
	}
	config, ok := p.config(r, p.schemas.ResourceSchemas[change.Type], plain)
	if !ok {
		return o, r
	}
	if change.Action == Replace {
		if o = p.destroy(ctx, r, o, change); r.Failed() {
			return o, r
		}
	}
	// Terraform plans again, in case something has become known since.
	latest := p.plan(ctx, r, change.Type, o, config)
	if r.Failed() {
		return o, r
	}
	r.faults("inconsistent final plan", differences("", change.After, latest.After))
	switch {
	case latest.Action == NoOp && change.Action == Update:
		return o, r
	case latest.Action != change.Action && (change.Action != Replace || latest.Action != Create):
		r.fault("inconsistent final plan: %s, planned as %s", latest.Action, change.Action)
		return o, r
	}
	return p.apply(ctx, r, o, latest, config), r
}

// destroy gives what is left: nil, or the object where that failed.
func (p *Provider) destroy(ctx context.Context, r *Report, o *Object, change *Change) *Object {
	if o == nil {
		return nil
	}
	none := tftypes.NewValue(o.Value.Type(), nil)
	return p.apply(ctx, r, o, &Change{Type: o.Type, Action: Delete, Before: o.Value, After: none, private: change.private, identity: o.Identity}, none)
}

func (p *Provider) apply(ctx context.Context, r *Report, o *Object, change *Change, config tftypes.Value) *Object {
	t := change.After.Type()
	before := tftypes.NewValue(t, nil)
	if o != nil {
		before = o.Value
	}
	var answer *tfprotov6.ApplyResourceChangeResponse
	if !r.call("ApplyResourceChange", func() (err error) {
		answer, err = p.server.ApplyResourceChange(ctx, &tfprotov6.ApplyResourceChangeRequest{
			TypeName: change.Type, PriorState: r.dynamic(before), PlannedState: r.dynamic(change.After), Config: r.dynamic(config),
			PlannedPrivate: change.private, PlannedIdentity: change.identity,
		})
		return err
	}) {
		return o
	}
	r.add(answer.Diagnostics)
	after := r.value("the new state", t, answer.NewState)
	failed := len(r.Errors()) > 0
	switch {
	case after.IsNull() && failed && o != nil:
		return o // Terraform keeps what it had where an error leaves nothing
	case after.IsNull():
		if !failed && change.Action != Delete {
			r.fault("nothing is left after %s", change.Action)
		}
		return nil
	case change.Action == Delete && !failed:
		r.fault("an object is left after a destroy")
	}
	changed := &Object{Type: change.Type, Value: after, Private: answer.Private, Identity: answer.NewIdentity}
	p.checkStored(r, "after an apply", changed)
	switch {
	case !failed:
		r.faults("inconsistent result", differences("", change.After, after))
	case o == nil:
		changed.Tainted = true
	default:
		changed.Tainted = o.Tainted
	}
	if o != nil {
		r.faults("identity changed by an apply", p.identityChanges(r, o, changed))
	}
	return changed
}
