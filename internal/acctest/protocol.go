package acctest

import (
	"context"
	"reflect"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentenv/terraform-provider-gpuvm/internal/program"
)

// Values are some attributes and blocks of an object, as Go has them; all others are null. Unknown stands for what isn't
// known yet.
type Values map[string]any

// Unknown is a value that isn't known yet.
const Unknown = tftypes.UnknownValue

// Protocol is a configured provider at the level of the plugin protocol: for what only a newer Terraform than the one at
// hand asks for, and for what no Terraform shows.
type Protocol struct {
	program.Server
	Schemas *tfprotov6.GetProviderSchemaResponse
	t       *testing.T
}

// NewProtocol serves a provider under the given configuration.
func NewProtocol(t *testing.T, p provider.Provider, config Values) *Protocol {
	t.Helper()
	server := program.NewDoubtingServer(p)
	schemas, err := server.GetProviderSchema(t.Context(), &tfprotov6.GetProviderSchemaRequest{})
	if err != nil {
		t.Fatal(err)
	}
	protocol := &Protocol{Server: server, Schemas: schemas, t: t}
	answer, err := server.ConfigureProvider(t.Context(), &tfprotov6.ConfigureProviderRequest{
		TerraformVersion: "1.14.0",
		Config:           protocol.Encode(schemas.Provider, config),
	})
	if err != nil || len(answer.Diagnostics) > 0 {
		t.Fatalf("configuring the provider: %v %s", err, Text(answer.Diagnostics))
	}
	return protocol
}

// Encode makes an object of a schema.
func (p *Protocol) Encode(schema *tfprotov6.Schema, set Values) *tfprotov6.DynamicValue {
	p.t.Helper()
	kind := schema.ValueType()
	encoded, err := tfprotov6.NewDynamicValue(kind, encode(kind, map[string]any(set)))
	if err != nil {
		p.t.Fatal(err)
	}
	return &encoded
}

// encode gives a Go value the type that a schema wants: nil is null, and an object's missing attributes are.
func encode(kind tftypes.Type, value any) tftypes.Value {
	if ready, ok := value.(tftypes.Value); ok {
		return ready
	}
	of := reflect.ValueOf(value)
	if value == nil || value == Unknown {
		return tftypes.NewValue(kind, value)
	}
	switch kind := kind.(type) {
	case tftypes.Object:
		fields := map[string]tftypes.Value{}
		for name, fieldKind := range kind.AttributeTypes {
			var field any
			if at := of.MapIndex(reflect.ValueOf(name)); at.IsValid() {
				field = at.Interface()
			}
			fields[name] = encode(fieldKind, emptyBlocks(fieldKind, field))
		}
		return tftypes.NewValue(kind, fields)
	case tftypes.Map:
		elements := map[string]tftypes.Value{}
		for _, key := range of.MapKeys() {
			elements[key.String()] = encode(kind.ElementType, of.MapIndex(key).Interface())
		}
		return tftypes.NewValue(kind, elements)
	case tftypes.List:
		return tftypes.NewValue(kind, encodeAll(kind.ElementType, of))
	case tftypes.Set:
		return tftypes.NewValue(kind, encodeAll(kind.ElementType, of))
	}
	return tftypes.NewValue(kind, value)
}

// emptyBlocks makes an absent repeated block an empty list, as Terraform does. A list of objects is one in these schemas.
func emptyBlocks(kind tftypes.Type, field any) any {
	if list, ok := kind.(tftypes.List); ok && field == nil && list.ElementType.Is(tftypes.Object{}) {
		return []any{}
	}
	return field
}

func encodeAll(kind tftypes.Type, of reflect.Value) []tftypes.Value {
	elements := make([]tftypes.Value, of.Len())
	for i := range elements {
		elements[i] = encode(kind, of.Index(i).Interface())
	}
	return elements
}

// Invoke runs an action as Terraform does: validated, planned, and only then invoked. It gives what the action told on its
// way and all diagnostics.
func (p *Protocol) Invoke(ctx context.Context, action string, config Values) (progress []string, diagnostics []*tfprotov6.Diagnostic) {
	p.t.Helper()
	if diagnostics = p.Plan(ctx, action, config); failed(diagnostics) {
		return nil, diagnostics
	}
	return p.InvokeUnplanned(ctx, action, config, nil)
}

// Plan validates and plans an action.
func (p *Protocol) Plan(ctx context.Context, action string, config Values) []*tfprotov6.Diagnostic {
	p.t.Helper()
	encoded := p.actionConfig(action, config)
	valid, err := p.ValidateActionConfig(ctx, &tfprotov6.ValidateActionConfigRequest{ActionType: action, Config: encoded})
	if err != nil {
		p.t.Fatal(err)
	}
	if failed(valid.Diagnostics) {
		return valid.Diagnostics
	}
	planned, err := p.PlanAction(ctx, &tfprotov6.PlanActionRequest{ActionType: action, Config: encoded})
	if err != nil {
		p.t.Fatal(err)
	}
	return append(valid.Diagnostics, planned.Diagnostics...)
}

// InvokeUnplanned invokes an action whose configuration no validation has seen, as happens with values that become known
// only at apply. hear, unless nil, hears each progress message as it comes.
func (p *Protocol) InvokeUnplanned(ctx context.Context, action string, config Values, hear func(string)) (progress []string, diagnostics []*tfprotov6.Diagnostic) {
	p.t.Helper()
	stream, err := p.InvokeAction(ctx, &tfprotov6.InvokeActionRequest{ActionType: action, Config: p.actionConfig(action, config)})
	if err != nil {
		p.t.Fatal(err)
	}
	for event := range stream.Events {
		switch event := event.Type.(type) {
		case tfprotov6.ProgressInvokeActionEventType:
			progress = append(progress, event.Message)
			if hear != nil {
				hear(event.Message)
			}
		case tfprotov6.CompletedInvokeActionEventType:
			diagnostics = event.Diagnostics
		}
	}
	return progress, diagnostics
}

func (p *Protocol) actionConfig(action string, config Values) *tfprotov6.DynamicValue {
	p.t.Helper()
	schema, ok := p.Schemas.ActionSchemas[action]
	if !ok {
		p.t.Fatalf("no action %s is served", action)
	}
	return p.Encode(schema.Schema, config)
}

func failed(diagnostics []*tfprotov6.Diagnostic) bool {
	for _, d := range diagnostics {
		if d.Severity == tfprotov6.DiagnosticSeverityError {
			return true
		}
	}
	return false
}

// Text is what a user reads of diagnostics.
func Text(diagnostics []*tfprotov6.Diagnostic) string {
	text := ""
	for _, d := range diagnostics {
		text += d.Severity.String() + ": " + d.Summary + "\n" + d.Detail + "\n"
	}
	return text
}
