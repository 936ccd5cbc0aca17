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

// shortcut answers for the unchanged objects of a resource type.
type shortcut struct {
	resource     unchanged.Resource
	version      int64 // of the schema
	wireType     tftypes.Object
	identityType tftypes.Object
	attrTypes    map[string]attr.Type
	// defaults are those of the attributes at the top; ok is false where they can't be told.
	defaults func() (defaults map[string]tftypes.Value, ok bool)
	// nestedDefaults are the attributes and blocks that may hold a default inside.
	nestedDefaults []string
}

// newShortcut learns what has to be known of a resource type. framework serves it.
func newShortcut(ctx context.Context, framework tfprotov6.ProviderServer, typeName string, r unchanged.Resource) *shortcut {
	var described resource.SchemaResponse
	r.Schema(ctx, resource.SchemaRequest{}, &described)
	var identified resource.IdentitySchemaResponse
	r.IdentitySchema(ctx, resource.IdentitySchemaRequest{}, &identified)
	sc := &shortcut{resource: r, version: described.Schema.Version}
	kind := described.Schema.Type()
	sc.wireType, _ = kind.TerraformType(ctx).(tftypes.Object)
	sc.identityType, _ = identified.IdentitySchema.Type().TerraformType(ctx).(tftypes.Object)
	if object, ok := kind.(attr.TypeWithAttributeTypes); ok {
		sc.attrTypes = object.AttributeTypes()
	}
	var defaulted []string
	for name, attribute := range described.Schema.Attributes {
		if attribute.IsOptional() && attribute.IsComputed() {
			defaulted = append(defaulted, name)
		}
		if mayDefaultInside(attribute) {
			sc.nestedDefaults = append(sc.nestedDefaults, name)
		}
	}
	for name, block := range described.Schema.Blocks {
		if mayDefaultInside(block) {
			sc.nestedDefaults = append(sc.nestedDefaults, name)
		}
	}
	sc.defaults = sync.OnceValues(func() (map[string]tftypes.Value, bool) { return sc.ask(framework, typeName, defaulted) }) //nolint:contextcheck // it outlives the call that configures
	return sc
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
func (sc *shortcut) ask(framework tfprotov6.ProviderServer, typeName string, names []string) (map[string]tftypes.Value, bool) {
	values := map[string]tftypes.Value{}
	for name, kind := range sc.wireType.AttributeTypes {
		values[name] = tftypes.NewValue(kind, nil)
	}
	nothing, err := tfprotov6.NewDynamicValue(sc.wireType, tftypes.NewValue(sc.wireType, nil))
	empty, emptyErr := tfprotov6.NewDynamicValue(sc.wireType, tftypes.NewValue(sc.wireType, values))
	if err != nil || emptyErr != nil {
		return nil, false
	}
	answer, err := framework.PlanResourceChange(context.Background(), &tfprotov6.PlanResourceChangeRequest{
		TypeName: typeName, PriorState: &nothing, ProposedNewState: &empty, Config: &empty,
	})
	if err != nil || slices.ContainsFunc(answer.Diagnostics, isError) {
		return nil, false
	}
	planned, ok := sc.read(answer.PlannedState)
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
func (sc *shortcut) read(encoded *tfprotov6.DynamicValue) (fields.Object, bool) {
	if encoded == nil {
		return fields.Object{}, false
	}
	value, err := encoded.Unmarshal(sc.wireType)
	if err != nil {
		return fields.Object{}, false
	}
	return fields.Of(value, sc.attrTypes)
}

// stored is read for an object of the state, and the notes on it. One that an import has left is still to be adopted, so it is
// never unchanged.
func (sc *shortcut) stored(ctx context.Context, encoded *tfprotov6.DynamicValue, notes []byte) (unchanged.Object, bool) {
	object, ok := sc.read(encoded)
	stored, err := private.Parse(notes)
	return unchanged.Object{Object: object, Notes: stored}, ok && err == nil && !private.IsImported(ctx, stored)
}

// identify makes an object's identity of its attributes. Before Terraform 1.12 none is known, and a state of then has none yet;
// one that is known has to be that.
func (sc *shortcut) identify(object fields.Object, known *tfprotov6.ResourceIdentityData) (*tfprotov6.ResourceIdentityData, bool) {
	values := map[string]tftypes.Value{}
	for name := range sc.identityType.AttributeTypes {
		values[name] = object.Values[name]
	}
	identity := tftypes.NewValue(sc.identityType, values)
	if known != nil && known.IdentityData != nil {
		is, err := known.IdentityData.Unmarshal(sc.identityType)
		return known, err == nil && is.Equal(identity)
	}
	encoded, err := tfprotov6.NewDynamicValue(sc.identityType, identity)
	return &tfprotov6.ResourceIdentityData{IdentityData: &encoded}, err == nil
}

// proposesNothing says whether the framework would plan what stands: nothing is proposed, no default fills what isn't configured
// with something else, and the resource has nothing to do by itself.
func (sc *shortcut) proposesNothing(ctx context.Context, req *tfprotov6.PlanResourceChangeRequest) bool {
	if req.PriorState == nil || req.ProposedNewState == nil ||
		len(req.PriorState.MsgPack) == 0 || !bytes.Equal(req.PriorState.MsgPack, req.ProposedNewState.MsgPack) {
		return false
	}
	object, ok := sc.stored(ctx, req.PriorState, req.PriorPrivate)
	config, configOK := sc.read(req.Config)
	defaults, defaultsOK := sc.defaults()
	if !ok || !configOK || !defaultsOK {
		return false
	}
	for name, value := range defaults {
		if config.Values[name].IsNull() && !value.Equal(object.Values[name]) {
			return false
		}
	}
	for _, name := range sc.nestedDefaults {
		if !isAbsent(config.Values[name]) {
			return false
		}
	}
	return sc.resource.Settled(ctx, object)
}

// isAbsent says whether an attribute or block isn't configured.
func isAbsent(v tftypes.Value) bool {
	var elements []tftypes.Value
	return v.IsNull() || v.IsKnown() && v.As(&elements) == nil && len(elements) == 0
}
