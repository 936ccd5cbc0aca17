package terraformcore

import "context"

// Outcome is what a command came to.
type Outcome struct {
	*Report
	Object *Object // what the state holds then; nil is nothing
	Change *Change // what was planned; nil where it came not that far
}

// Up is "terraform apply" of one object (nil where the state has none): refresh, plan with the configuration as known then,
// apply with it as known later. What the state holds is the outcome's object, whatever failed.
func (p *Provider) Up(ctx context.Context, typeName string, o *Object, atPlan, atApply map[string]any) Outcome {
	out := p.Preview(ctx, typeName, o, atPlan)
	if out.Failed() {
		return out
	}
	after, applied := p.Apply(ctx, out.Object, out.Change, atApply)
	out.join(applied)
	out.Object = after
	return out
}

// Preview is "terraform plan", but what the refresh found is kept: refresh and plan.
func (p *Provider) Preview(ctx context.Context, typeName string, o *Object, config map[string]any) Outcome {
	out := p.Reread(ctx, o)
	if out.Failed() {
		return out
	}
	change, planned := p.Plan(ctx, typeName, out.Object, config)
	out.join(planned)
	out.Change = change
	return out
}

// Reread is "terraform apply -refresh-only".
func (p *Provider) Reread(ctx context.Context, o *Object) Outcome {
	out := Outcome{Report: &Report{}, Object: o}
	if o == nil {
		return out
	}
	loaded, r := p.Load(ctx, o)
	if out.join(r); out.Failed() {
		return out
	}
	fresh, r := p.Refresh(ctx, loaded)
	if out.join(r); !out.Failed() {
		out.Object = fresh
	}
	return out
}

// Down is "terraform destroy".
func (p *Provider) Down(ctx context.Context, o *Object) Outcome {
	out := p.Reread(ctx, o)
	if out.Failed() || out.Object == nil {
		return out
	}
	change, r := p.PlanDestroy(ctx, out.Object)
	if out.join(r); out.Failed() {
		return out
	}
	after, r := p.Apply(ctx, out.Object, change, nil)
	out.join(r)
	out.Object, out.Change = after, change
	return out
}
