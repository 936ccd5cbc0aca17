package program

import (
	"bytes"
	"context"
	"slices"
	"sync"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentenv/terraform-provider-gpuvm/internal/fields"
	"github.com/agentenv/terraform-provider-gpuvm/internal/private"
	"github.com/agentenv/terraform-provider-gpuvm/internal/unchanged"
)

// fleet is a resource type whose unchanged objects are answered for without the framework.
type fleet struct {
	resource unchanged.Resource
	kinds    map[string]attr.Type
	wire     tftypes.Object
	version  int64
	identity tftypes.Object
	// defaults are those of the attributes at the top; ok is false where they can't be told.
	defaults func() (defaults map[string]tftypes.Value, ok bool)
	// deeper are the attributes and blocks that may hold a default inside.
	deeper []string
}

// newFleet learns what has to be known of a resource type. framework serves it.
func newFleet(ctx context.Context, framework tfprotov6.ProviderServer, typeName string, r unchanged.Resource) *fleet {
	var described resource.SchemaResponse
	r.Schema(ctx, resource.SchemaRequest{}, &described)
	var identified resource.IdentitySchemaResponse
	r.IdentitySchema(ctx, resource.IdentitySchemaRequest{}, &identified)
	f := &fleet{resource: r, version: described.Schema.Version}
	f.wire, _ = described.Schema.Type().TerraformType(ctx).(tftypes.Object)
	f.identity, _ = identified.IdentitySchema.Type().TerraformType(ctx).(tftypes.Object)
	if object, ok := described.Schema.Type().(attr.TypeWithAttributeTypes); ok {
		f.kinds = object.AttributeTypes()
	}
	var defaulted []string
	for name, attribute := range described.Schema.Attributes {
		if attribute.IsOptional() && attribute.IsComputed() {
			defaulted = append(defaulted, name)
		}
		if mayDefaultInside(attribute) {
			f.deeper = append(f.deeper, name)
		}
	}
	for name, block := range described.Schema.Blocks {
		if mayDefaultInside(block) {
			f.deeper = append(f.deeper, name)
		}
	}
	f.defaults = sync.OnceValues(func() (map[string]tftypes.Value, bool) { return f.ask(framework, typeName, defaulted) }) //nolint:contextcheck // it outlives the call that configures
	return f
}

// mayDefaultInside says whether an attribute or a block holds an attribute that may have a default.
func mayDefaultInside(described any) bool {
	var inside []any
	switch d := described.(type) {
	case schema.NestedAttribute:
		for _, attribute := range d.GetNestedObject().GetAttributes() {
			inside = append(inside, attribute)
		}
	case schema.Block:
		for _, attribute := range d.GetNestedObject().GetAttributes() {
			inside = append(inside, attribute)
		}
		for _, block := range d.GetNestedObject().GetBlocks() {
			inside = append(inside, block)
		}
	}
	return slices.ContainsFunc(inside, func(inner any) bool {
		attribute, ok := inner.(interface {
			IsOptional() bool
			IsComputed() bool
		})
		return ok && attribute.IsOptional() && attribute.IsComputed() || mayDefaultInside(inner)
	})
}

// ask asks the framework for the defaults of the named attributes: what it plans for them where nothing is configured.
func (f *fleet) ask(framework tfprotov6.ProviderServer, typeName string, names []string) (map[string]tftypes.Value, bool) {
	values := map[string]tftypes.Value{}
	for name, kind := range f.wire.AttributeTypes {
		values[name] = tftypes.NewValue(kind, nil)
	}
	nothing, err := tfprotov6.NewDynamicValue(f.wire, tftypes.NewValue(f.wire, nil))
	empty, emptyErr := tfprotov6.NewDynamicValue(f.wire, tftypes.NewValue(f.wire, values))
	if err != nil || emptyErr != nil {
		return nil, false
	}
	answer, err := framework.PlanResourceChange(context.Background(), &tfprotov6.PlanResourceChangeRequest{
		TypeName: typeName, PriorState: &nothing, ProposedNewState: &empty, Config: &empty,
	})
	if err != nil {
		return nil, false
	}
	planned, ok := f.read(answer.PlannedState)
	if !ok {
		return nil, false
	}
	defaults := map[string]tftypes.Value{}
	for _, name := range names {
		if planned.Values[name].IsKnown() {
			defaults[name] = planned.Values[name]
		}
	}
	return defaults, true
}

// read takes an object apart that came over the wire.
func (f *fleet) read(encoded *tfprotov6.DynamicValue) (fields.Object, bool) {
	if encoded == nil {
		return fields.Object{}, false
	}
	value, err := encoded.Unmarshal(f.wire)
	if err != nil {
		return fields.Object{}, false
	}
	return fields.Of(value, f.kinds)
}

// stored is read for an object of the state, and the notes on it.
func (f *fleet) stored(encoded *tfprotov6.DynamicValue, notes []byte) (unchanged.Object, bool) {
	object, ok := f.read(encoded)
	stored, err := private.Parse(notes)
	return unchanged.Object{Object: object, Notes: stored}, ok && err == nil
}

// identify makes an object's identity of its attributes.
func (f *fleet) identify(object fields.Object) (*tfprotov6.ResourceIdentityData, bool) {
	values := map[string]tftypes.Value{}
	for name := range f.identity.AttributeTypes {
		values[name] = object.Values[name]
	}
	encoded, err := tfprotov6.NewDynamicValue(f.identity, tftypes.NewValue(f.identity, values))
	return &tfprotov6.ResourceIdentityData{IdentityData: &encoded}, err == nil
}

// proposesNothing says whether the framework would plan what stands: nothing is proposed, no default fills what isn't configured
// with something else, and the resource has nothing to do by itself.
func (f *fleet) proposesNothing(ctx context.Context, req *tfprotov6.PlanResourceChangeRequest) bool {
	if req.PriorState == nil || req.ProposedNewState == nil ||
		len(req.PriorState.MsgPack) == 0 || !bytes.Equal(req.PriorState.MsgPack, req.ProposedNewState.MsgPack) {
		return false
	}
	object, ok := f.stored(req.PriorState, req.PriorPrivate)
	config, configOK := f.read(req.Config)
	defaults, defaultsOK := f.defaults()
	if !ok || !configOK || !defaultsOK {
		return false
	}
	for name, value := range defaults {
		if config.Values[name].IsNull() && !value.Equal(object.Values[name]) {
			return false
		}
	}
	for _, name := range f.deeper {
		if !isAbsent(config.Values[name]) {
			return false
		}
	}
	return f.resource.Settled(ctx, object)
}

// isAbsent says whether an attribute or block isn't configured.
func isAbsent(v tftypes.Value) bool {
	var elements []tftypes.Value
	return v.IsNull() || v.IsKnown() && v.As(&elements) == nil && len(elements) == 0
}
