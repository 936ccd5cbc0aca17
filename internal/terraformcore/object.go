package terraformcore

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// Object is a resource's object as a state holds it.
type Object struct {
	Type     string
	Value    tftypes.Value
	Private  []byte
	Identity *tfprotov6.ResourceIdentityData
	Tainted  bool
}

// Attribute is the plain value of one of its attributes.
func (o *Object) Attribute(name string) any { return Plain(fields(o.Value)[name]) }

// ID is its attribute id.
func (o *Object) ID() string {
	id, _ := o.Attribute("id").(string)
	return id
}

// Equal reports whether two states hold the same.
func (o *Object) Equal(other *Object) bool {
	return o.Value.Equal(other.Value) && o.Tainted == other.Tainted && bytes.Equal(o.Private, other.Private)
}

// Load reads an object from a state file, as each command begins.
func (p *Provider) Load(ctx context.Context, o *Object) (*Object, *Report) {
	r := &Report{}
	schema := p.schemas.ResourceSchemas[o.Type]
	stored, err := json.Marshal(Plain(o.Value))
	if err != nil {
		r.fault("the state can't be written: %v", err)
		return o, r
	}
	var answer *tfprotov6.UpgradeResourceStateResponse
	if !r.call("UpgradeResourceState", func() (err error) {
		answer, err = p.server.UpgradeResourceState(ctx, &tfprotov6.UpgradeResourceStateRequest{
			TypeName: o.Type, Version: schema.Version, RawState: &tfprotov6.RawState{JSON: stored},
		})
		return err
	}) {
		return o, r
	}
	if r.add(answer.Diagnostics); r.Failed() {
		return o, r
	}
	loaded := *o
	loaded.Value = r.value("the upgraded state", schema.ValueType(), answer.UpgradedState)
	if !loaded.Value.Equal(o.Value) {
		r.faults("a state read back isn't the one that was written", differences("", o.Value, loaded.Value))
	}
	return &loaded, r
}

// Refresh reads an object anew. It is nil when the provider says that it is gone.
func (p *Provider) Refresh(ctx context.Context, o *Object) (*Object, *Report) {
	r := &Report{}
	schema := p.schemas.ResourceSchemas[o.Type]
	var answer *tfprotov6.ReadResourceResponse
	if !r.call("ReadResource", func() (err error) {
		answer, err = p.server.ReadResource(ctx, &tfprotov6.ReadResourceRequest{
			TypeName: o.Type, CurrentState: r.dynamic(o.Value), Private: o.Private, CurrentIdentity: o.Identity,
			ClientCapabilities: &tfprotov6.ReadResourceClientCapabilities{},
		})
		return err
	}) {
		return o, r
	}
	if r.add(answer.Diagnostics); r.Failed() {
		return o, r
	}
	fresh := *o
	fresh.Value = r.value("the state that was read", schema.ValueType(), answer.NewState)
	fresh.Private, fresh.Identity = answer.Private, answer.NewIdentity
	if fresh.Value.IsNull() {
		return nil, r
	}
	p.checkStored(r, "after a refresh", &fresh)
	r.faults("identity changed by a refresh", p.identityChanges(r, o, &fresh))
	return &fresh, r
}

// Import takes over what stands under an id, up to the state that it is imported as.
func (p *Provider) Import(ctx context.Context, typeName, id string) (*Object, *Report) {
	r := &Report{}
	schema := p.schemas.ResourceSchemas[typeName]
	var answer *tfprotov6.ImportResourceStateResponse
	if !r.call("ImportResourceState", func() (err error) {
		answer, err = p.server.ImportResourceState(ctx, &tfprotov6.ImportResourceStateRequest{
			TypeName: typeName, ID: id, ClientCapabilities: &tfprotov6.ImportResourceStateClientCapabilities{},
		})
		return err
	}) {
		return nil, r
	}
	if r.add(answer.Diagnostics); r.Failed() {
		return nil, r
	}
	if len(answer.ImportedResources) != 1 || answer.ImportedResources[0].TypeName != typeName {
		r.fault("an import gave %d objects", len(answer.ImportedResources))
		return nil, r
	}
	found := answer.ImportedResources[0]
	imported := &Object{
		Type: typeName, Value: r.value("the imported state", schema.ValueType(), found.State), Private: found.Private, Identity: found.Identity,
	}
	if imported.Value.IsNull() || !imported.Value.IsFullyKnown() {
		r.fault("an import gave %s", shown(imported.Value))
		return nil, r
	}
	fresh, read := p.Refresh(ctx, imported)
	r.join(read)
	if fresh == nil && !r.Failed() {
		r.Diagnostics = append(r.Diagnostics, Diagnostic{
			Error: true, Terraforms: true, Summary: "Cannot import non-existent remote object", Detail: "The provider knows of no " + id + ".",
		})
	}
	if r.Failed() {
		return nil, r
	}
	return fresh, r
}

// checkStored sees that an object can stand in a state.
func (p *Provider) checkStored(r *Report, when string, o *Object) {
	r.keep("state", o.Value)
	r.keepPrivate(o.Private)
	if !o.Value.IsFullyKnown() {
		r.fault("unknown values %s: %s", when, shown(o.Value))
	}
	r.faults("a write-only value "+when, blockBody(p.schemas.ResourceSchemas[o.Type].Block).writeOnly("", o.Value))
	if p.schemas.Identities[o.Type] != nil && !p.identity(r, o).IsFullyKnown() {
		r.fault("no identity %s", when)
	}
}

// identity is the object's identity; unknown where it has none.
func (p *Provider) identity(r *Report, o *Object) tftypes.Value {
	schema := p.schemas.Identities[o.Type]
	if schema == nil {
		return tftypes.NewValue(tftypes.DynamicPseudoType, nil)
	}
	if o.Identity == nil || o.Identity.IdentityData == nil {
		return tftypes.NewValue(schema.ValueType(), tftypes.UnknownValue)
	}
	identity := r.value("the identity", schema.ValueType(), o.Identity.IdentityData)
	if identity.IsNull() || identity.IsFullyNull() {
		return tftypes.NewValue(schema.ValueType(), tftypes.UnknownValue)
	}
	return identity
}

// identityChanges: an object is the same for as long as it stands.
func (p *Provider) identityChanges(r *Report, before, after *Object) []string {
	was, is := p.identity(r, before), p.identity(r, after)
	if !was.IsKnown() || !is.IsKnown() {
		return nil
	}
	return differences("", was, is)
}

// writeOnly lists the write-only attributes that hold a value.
func (b body) writeOnly(path at, v tftypes.Value) []string {
	var found []string
	for _, a := range b.attributes {
		value := field(v, a.Name, a.ValueType())
		switch {
		case value.IsNull():
		case a.WriteOnly:
			found = append(found, string(path.name(a.Name)))
		case a.NestedType != nil:
			for _, one := range members(objectNesting(a.NestedType), value) {
				found = append(found, objectBody(a.NestedType).writeOnly(path.name(a.Name), one)...)
			}
		}
	}
	for _, n := range b.blocks {
		for _, one := range members(blockNesting(n), field(v, n.TypeName, n.ValueType())) {
			found = append(found, blockBody(n.Block).writeOnly(path.name(n.TypeName), one)...)
		}
	}
	return found
}

// join takes over what another step has come to.
func (r *Report) join(other *Report) {
	r.Diagnostics = append(r.Diagnostics, other.Diagnostics...)
	r.Faults = append(r.Faults, other.Faults...)
	r.Kept = append(r.Kept, other.Kept...)
}
