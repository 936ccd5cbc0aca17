package acctest

import (
	"context"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// Object is a managed resource as Terraform keeps it between two steps. The zero value is one that doesn't exist.
type Object struct {
	State   *tfprotov6.DynamicValue
	Private []byte
	// Attributes are the state's, by name.
	Attributes map[string]tftypes.Value
}

// Change is a planned change of a managed resource.
type Change struct {
	kind        string
	prior       *tfprotov6.DynamicValue
	planned     *tfprotov6.DynamicValue
	config      *tfprotov6.DynamicValue
	private     []byte
	Attributes  map[string]tftypes.Value // as planned
	Replace     []string                 // the attributes that ask for a replacement, sorted
	Diagnostics []*tfprotov6.Diagnostic
}

// PlanChange validates a configuration and plans the change to it, as Terraform does. A nil config plans a destruction.
func (p *Protocol) PlanChange(ctx context.Context, kind string, prior Object, config Values) Change {
	p.t.Helper()
	schema := p.resource(kind)
	change := Change{kind: kind, prior: prior.State, config: p.null(schema), private: prior.Private}
	if change.prior == nil {
		change.prior = p.null(schema)
	}
	proposed := p.null(schema)
	if config != nil {
		change.config, proposed = p.Encode(schema, config), p.proposed(schema, prior, config)
		valid, err := p.ValidateResourceConfig(ctx, &tfprotov6.ValidateResourceConfigRequest{
			TypeName: kind, Config: change.config,
			ClientCapabilities: &tfprotov6.ValidateResourceConfigClientCapabilities{WriteOnlyAttributesAllowed: true},
		})
		if err != nil {
			p.t.Fatal(err)
		}
		if change.Diagnostics = valid.Diagnostics; failed(valid.Diagnostics) {
			return change
		}
	}
	answer, err := p.PlanResourceChange(ctx, &tfprotov6.PlanResourceChangeRequest{
		TypeName: kind, PriorState: change.prior, ProposedNewState: proposed, Config: change.config, PriorPrivate: prior.Private,
	})
	if err != nil {
		p.t.Fatal(err)
	}
	change.Diagnostics = append(change.Diagnostics, answer.Diagnostics...)
	if failed(answer.Diagnostics) {
		return change
	}
	change.planned, change.private, change.Attributes = answer.PlannedState, answer.PlannedPrivate, p.attributes(schema, answer.PlannedState)
	for _, at := range answer.RequiresReplace {
		change.Replace = append(change.Replace, strings.TrimSuffix(strings.TrimPrefix(at.String(), `AttributeName("`), `")`))
	}
	slices.Sort(change.Replace)
	return change
}

// Apply makes the planned change.
func (p *Protocol) Apply(ctx context.Context, change Change) (Object, []*tfprotov6.Diagnostic) {
	p.t.Helper()
	answer, err := p.ApplyResourceChange(ctx, &tfprotov6.ApplyResourceChangeRequest{
		TypeName: change.kind, PriorState: change.prior, PlannedState: change.planned, Config: change.config, PlannedPrivate: change.private,
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return p.object(change.kind, answer.NewState, answer.Private), answer.Diagnostics
}

// Refresh reads the object.
func (p *Protocol) Refresh(ctx context.Context, kind string, prior Object) (Object, []*tfprotov6.Diagnostic) {
	p.t.Helper()
	answer, err := p.ReadResource(ctx, &tfprotov6.ReadResourceRequest{TypeName: kind, CurrentState: prior.State, Private: prior.Private})
	if err != nil {
		p.t.Fatal(err)
	}
	return p.object(kind, answer.NewState, answer.Private), answer.Diagnostics
}

// Import imports an object by id and reads it.
func (p *Protocol) Import(ctx context.Context, kind, id string) (Object, []*tfprotov6.Diagnostic) {
	p.t.Helper()
	answer, err := p.ImportResourceState(ctx, &tfprotov6.ImportResourceStateRequest{TypeName: kind, ID: id})
	if err != nil {
		p.t.Fatal(err)
	}
	if failed(answer.Diagnostics) || len(answer.ImportedResources) == 0 {
		return Object{}, answer.Diagnostics
	}
	imported := answer.ImportedResources[0]
	return p.Refresh(ctx, kind, Object{State: imported.State, Private: imported.Private})
}

// Exists says whether there is an object.
func (o Object) Exists() bool { return o.Attributes != nil }

func (p *Protocol) resource(kind string) *tfprotov6.Schema {
	p.t.Helper()
	schema, ok := p.Schemas.ResourceSchemas[kind]
	if !ok {
		p.t.Fatalf("no resource %s is served", kind)
	}
	return schema
}

func (p *Protocol) object(kind string, state *tfprotov6.DynamicValue, private []byte) Object {
	p.t.Helper()
	return Object{State: state, Private: private, Attributes: p.attributes(p.resource(kind), state)}
}

// attributes are those of an object; nil where there is none.
func (p *Protocol) attributes(schema *tfprotov6.Schema, of *tfprotov6.DynamicValue) map[string]tftypes.Value {
	p.t.Helper()
	if of == nil {
		return nil
	}
	object, err := of.Unmarshal(schema.ValueType())
	if err != nil {
		p.t.Fatal(err)
	}
	var attributes map[string]tftypes.Value
	if object.IsNull() {
		return nil
	}
	if err := object.As(&attributes); err != nil {
		p.t.Fatal(err)
	}
	return attributes
}

func (p *Protocol) null(schema *tfprotov6.Schema) *tfprotov6.DynamicValue {
	p.t.Helper()
	null, err := tfprotov6.NewDynamicValue(schema.ValueType(), tftypes.NewValue(schema.ValueType(), nil))
	if err != nil {
		p.t.Fatal(err)
	}
	return &null
}

// proposed is what Terraform proposes: the configuration, with what the state has for computed attributes that it leaves
// out, and without what is write-only.
func (p *Protocol) proposed(schema *tfprotov6.Schema, prior Object, config Values) *tfprotov6.DynamicValue {
	p.t.Helper()
	proposed := Values{}
	for name, value := range config {
		proposed[name] = value
	}
	for _, attribute := range schema.Block.Attributes {
		switch {
		case attribute.WriteOnly:
			delete(proposed, attribute.Name)
		case attribute.Computed && config[attribute.Name] == nil && prior.Exists():
			proposed[attribute.Name] = prior.Attributes[attribute.Name]
		}
	}
	return p.Encode(schema, proposed)
}
