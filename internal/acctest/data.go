package acctest

import (
	"context"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// ReadData validates a data source's configuration and reads it, as Terraform does.
func (p *Protocol) ReadData(ctx context.Context, kind string, config Values) (map[string]tftypes.Value, []*tfprotov6.Diagnostic) {
	p.t.Helper()
	schema, ok := p.Schemas.DataSourceSchemas[kind]
	if !ok {
		p.t.Fatalf("no data source %s is served", kind)
	}
	encoded := p.Encode(schema, config)
	valid, err := p.ValidateDataResourceConfig(ctx, &tfprotov6.ValidateDataResourceConfigRequest{TypeName: kind, Config: encoded})
	if err != nil {
		p.t.Fatal(err)
	}
	if failed(valid.Diagnostics) {
		return nil, valid.Diagnostics
	}
	answer, err := p.ReadDataSource(ctx, &tfprotov6.ReadDataSourceRequest{TypeName: kind, Config: encoded})
	if err != nil {
		p.t.Fatal(err)
	}
	return p.attributes(schema, answer.State), answer.Diagnostics
}
