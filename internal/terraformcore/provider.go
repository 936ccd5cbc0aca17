package terraformcore

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// terraformVersion is what the provider is told to work for.
const terraformVersion = "1.11.4"

// Provider is a provider as one Terraform command has it: started, configured, used and stopped.
type Provider struct {
	server  tfprotov6.ProviderServer
	schemas *Schemas
}

// Schemas is all that a provider serves. They don't change while it runs, so one reading can serve many.
type Schemas struct {
	*tfprotov6.GetProviderSchemaResponse
	Identities map[string]*tfprotov6.ResourceIdentitySchema
}

// SchemasOf asks a provider for its schemas.
func SchemasOf(ctx context.Context, server tfprotov6.ProviderServer) (*Schemas, error) {
	served, err := server.GetProviderSchema(ctx, &tfprotov6.GetProviderSchemaRequest{})
	if err != nil {
		return nil, fmt.Errorf("asking for the schemas: %w", err)
	}
	identities, err := server.GetResourceIdentitySchemas(ctx, &tfprotov6.GetResourceIdentitySchemasRequest{})
	if err != nil {
		return nil, fmt.Errorf("asking for the identities: %w", err)
	}
	report := &Report{}
	report.add(served.Diagnostics)
	report.add(identities.Diagnostics)
	if report.Failed() {
		return nil, errors.New(report.String())
	}
	return &Schemas{served, identities.IdentitySchemas}, nil
}

// Start takes a provider into use. schemas are its own, from SchemasOf.
func Start(server tfprotov6.ProviderServer, schemas *Schemas) *Provider {
	return &Provider{server: server, schemas: schemas}
}

// Configure hands over the provider block.
func (p *Provider) Configure(ctx context.Context, settings map[string]any) *Report {
	r := &Report{}
	config, ok := p.config(r, p.schemas.Provider, settings)
	if !ok {
		return r
	}
	var checked *tfprotov6.ValidateProviderConfigResponse
	if !r.call("ValidateProviderConfig", func() (err error) {
		checked, err = p.server.ValidateProviderConfig(ctx, &tfprotov6.ValidateProviderConfigRequest{Config: r.dynamic(config)})
		return err
	}) {
		return r
	}
	if r.add(checked.Diagnostics); r.Failed() {
		return r
	}
	r.call("ConfigureProvider", func() error {
		answer, err := p.server.ConfigureProvider(ctx, &tfprotov6.ConfigureProviderRequest{TerraformVersion: terraformVersion, Config: r.dynamic(config)})
		if err == nil {
			r.add(answer.Diagnostics)
		}
		return err
	})
	return r
}

// Interrupt is Ctrl-C: what is under way is told to stop.
func (p *Provider) Interrupt(ctx context.Context) error {
	_, err := p.server.StopProvider(ctx, &tfprotov6.StopProviderRequest{})
	return err
}

// config makes a configuration of a schema from plain values.
func (p *Provider) config(r *Report, schema *tfprotov6.Schema, plain map[string]any) (tftypes.Value, bool) {
	value, err := blockBody(schema.Block).config(schema.ValueType(), plain)
	if err != nil {
		r.fault("the test's own: %v", err)
		return tftypes.Value{}, false
	}
	return value, true
}

// dynamic encodes a value for the wire.
func (r *Report) dynamic(v tftypes.Value) *tfprotov6.DynamicValue {
	encoded, err := tfprotov6.NewDynamicValue(v.Type(), v)
	if err != nil {
		r.fault("a value can't be encoded: %v", err)
		return nil
	}
	return &encoded
}

// value decodes what came over the wire; nothing stands for null.
func (r *Report) value(what string, t tftypes.Type, encoded *tfprotov6.DynamicValue) tftypes.Value {
	if encoded == nil {
		return tftypes.NewValue(t, nil)
	}
	value, err := encoded.Unmarshal(t)
	if err != nil {
		r.fault("%s doesn't fit the schema: %v", what, err)
		return tftypes.NewValue(t, nil)
	}
	return value
}
