package terraformcore

import (
	"context"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// CheckData validates the configuration of what is no resource, as CheckEphemeral, CheckAction and CheckList do.
func (p *Provider) CheckData(ctx context.Context, name string, plain map[string]any) *Report {
	return p.check(p.schemas.DataSourceSchemas[name], plain, func(config *tfprotov6.DynamicValue) ([]*tfprotov6.Diagnostic, error) {
		answer, err := p.server.ValidateDataResourceConfig(ctx, &tfprotov6.ValidateDataResourceConfigRequest{TypeName: name, Config: config})
		if err != nil {
			return nil, err
		}
		return answer.Diagnostics, nil
	})
}

// CheckEphemeral is CheckData of an ephemeral resource.
func (p *Provider) CheckEphemeral(ctx context.Context, name string, plain map[string]any) *Report {
	return p.check(p.schemas.EphemeralResourceSchemas[name], plain, func(config *tfprotov6.DynamicValue) ([]*tfprotov6.Diagnostic, error) {
		answer, err := p.server.ValidateEphemeralResourceConfig(ctx, &tfprotov6.ValidateEphemeralResourceConfigRequest{TypeName: name, Config: config})
		if err != nil {
			return nil, err
		}
		return answer.Diagnostics, nil
	})
}

// CheckAction is CheckData of an action.
func (p *Provider) CheckAction(ctx context.Context, name string, plain map[string]any) *Report {
	server, _ := p.server.(tfprotov6.ActionServer)
	return p.check(p.schemas.ActionSchemas[name].Schema, plain, func(config *tfprotov6.DynamicValue) ([]*tfprotov6.Diagnostic, error) {
		answer, err := server.ValidateActionConfig(ctx, &tfprotov6.ValidateActionConfigRequest{ActionType: name, Config: config})
		if err != nil {
			return nil, err
		}
		return answer.Diagnostics, nil
	})
}

// CheckList is CheckData of a list resource.
func (p *Provider) CheckList(ctx context.Context, name string, plain map[string]any) *Report {
	server, _ := p.server.(tfprotov6.ListResourceServer)
	return p.check(p.schemas.ListResourceSchemas[name], plain, func(config *tfprotov6.DynamicValue) ([]*tfprotov6.Diagnostic, error) {
		answer, err := server.ValidateListResourceConfig(ctx, &tfprotov6.ValidateListResourceConfigRequest{TypeName: name, Config: config})
		if err != nil {
			return nil, err
		}
		return answer.Diagnostics, nil
	})
}

func (p *Provider) check(schema *tfprotov6.Schema, plain map[string]any, ask func(*tfprotov6.DynamicValue) ([]*tfprotov6.Diagnostic, error)) *Report {
	r := &Report{}
	config, ok := p.config(r, schema, plain)
	if !ok {
		return r
	}
	r.call("validation", func() error {
		diagnostics, err := ask(r.dynamic(config))
		r.add(diagnostics)
		return err
	})
	return r
}

// ReadData validates a data source's configuration and reads it.
func (p *Provider) ReadData(ctx context.Context, name string, plain map[string]any) (tftypes.Value, *Report) {
	r := p.CheckData(ctx, name, plain)
	schema := p.schemas.DataSourceSchemas[name]
	none := tftypes.NewValue(schema.ValueType(), nil)
	config, ok := p.config(r, schema, plain)
	if !ok || r.Failed() {
		return none, r
	}
	var answer *tfprotov6.ReadDataSourceResponse
	if !r.call("ReadDataSource", func() (err error) {
		answer, err = p.server.ReadDataSource(ctx, &tfprotov6.ReadDataSourceRequest{TypeName: name, Config: r.dynamic(config)})
		return err
	}) {
		return none, r
	}
	if r.add(answer.Diagnostics); r.Failed() {
		return none, r
	}
	read := r.value("what was read", schema.ValueType(), answer.State)
	r.checkResult("what was read", schema, config, read)
	return read, r
}

// Opened is an ephemeral resource that is open.
type Opened struct {
	Value   tftypes.Value
	name    string
	private []byte
}

// Open validates an ephemeral resource's configuration and opens it.
func (p *Provider) Open(ctx context.Context, name string, plain map[string]any) (*Opened, *Report) {
	r := p.CheckEphemeral(ctx, name, plain)
	schema := p.schemas.EphemeralResourceSchemas[name]
	config, ok := p.config(r, schema, plain)
	if !ok || r.Failed() {
		return nil, r
	}
	var answer *tfprotov6.OpenEphemeralResourceResponse
	if !r.call("OpenEphemeralResource", func() (err error) {
		answer, err = p.server.OpenEphemeralResource(ctx, &tfprotov6.OpenEphemeralResourceRequest{
			TypeName: name, Config: r.dynamic(config), ClientCapabilities: &tfprotov6.OpenEphemeralResourceClientCapabilities{},
		})
		return err
	}) {
		return nil, r
	}
	if r.add(answer.Diagnostics); r.Failed() {
		return nil, r
	}
	opened := &Opened{Value: r.value("what was opened", schema.ValueType(), answer.Result), name: name, private: answer.Private}
	r.checkResult("what was opened", schema, config, opened.Value)
	return opened, r
}

// Close closes an ephemeral resource.
func (p *Provider) Close(ctx context.Context, o *Opened) *Report {
	r := &Report{}
	r.call("CloseEphemeralResource", func() error {
		answer, err := p.server.CloseEphemeralResource(ctx, &tfprotov6.CloseEphemeralResourceRequest{TypeName: o.name, Private: o.private})
		if err == nil {
			r.add(answer.Diagnostics)
		}
		return err
	})
	return r
}

// checkResult: what is configured stays, and nothing is left unknown.
func (r *Report) checkResult(what string, schema *tfprotov6.Schema, config, result tftypes.Value) {
	if result.IsNull() || !result.IsFullyKnown() {
		r.fault("%s is %s", what, shown(result))
		return
	}
	for _, a := range schema.Block.Attributes {
		configured := field(config, a.Name, a.ValueType())
		if configured.IsNull() || a.WriteOnly {
			continue
		}
		r.faults(what+" isn't as configured", differences(at(a.Name), configured, field(result, a.Name, a.ValueType())))
	}
}
