// Package providerschema asks a provider in process for its schemas and gives them the form that
// `terraform providers schema -json` prints.
//
// The documentation generator reads that form. Taking it from a Terraform program would lose types
// without a word: a program older than 1.14 leaves out actions and list resources.
package providerschema

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	tfjson "github.com/hashicorp/terraform-json"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

// formatVersion is the version of the JSON form that is written here.
const formatVersion = "1.0"

// Of gives everything that a provider serves: its own block, resources with their identities, data
// sources, ephemeral resources, actions and list resources.
func Of(ctx context.Context, p provider.Provider) (*tfjson.ProviderSchema, error) {
	server := providerserver.NewProtocol6(p)()
	served, err := server.GetProviderSchema(ctx, &tfprotov6.GetProviderSchemaRequest{})
	if err != nil {
		return nil, fmt.Errorf("asking the provider for its schemas: %w", err)
	}
	if err := diagnosticsError(served.Diagnostics); err != nil {
		return nil, fmt.Errorf("asking the provider for its schemas: %w", err)
	}
	identities, err := server.GetResourceIdentitySchemas(ctx, &tfprotov6.GetResourceIdentitySchemasRequest{})
	if err != nil {
		return nil, fmt.Errorf("asking the provider for its identities: %w", err)
	}
	if err := diagnosticsError(identities.Diagnostics); err != nil {
		return nil, fmt.Errorf("asking the provider for its identities: %w", err)
	}
	return convert(served, identities)
}

// JSON encodes one provider's schemas under the name by which a reader will look for them.
func JSON(name string, schema *tfjson.ProviderSchema) ([]byte, error) {
	encoded, err := json.MarshalIndent(tfjson.ProviderSchemas{
		FormatVersion: formatVersion,
		Schemas:       map[string]*tfjson.ProviderSchema{name: schema},
	}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encoding the schemas of %s: %w", name, err)
	}
	return append(encoded, '\n'), nil
}

func convert(served *tfprotov6.GetProviderSchemaResponse, identities *tfprotov6.GetResourceIdentitySchemasResponse) (*tfjson.ProviderSchema, error) {
	config, err := schemaOf(served.Provider)
	if err != nil {
		return nil, fmt.Errorf("provider block: %w", err)
	}
	out := &tfjson.ProviderSchema{ConfigSchema: config}
	for _, kind := range []struct {
		name string
		from map[string]*tfprotov6.Schema
		to   *map[string]*tfjson.Schema
	}{
		{"resource", served.ResourceSchemas, &out.ResourceSchemas},
		{"data source", served.DataSourceSchemas, &out.DataSourceSchemas},
		{"ephemeral resource", served.EphemeralResourceSchemas, &out.EphemeralResourceSchemas},
		{"list resource", served.ListResourceSchemas, &out.ListResourceSchemas},
	} {
		if *kind.to, err = each(kind.from, schemaOf); err != nil {
			return nil, fmt.Errorf("%s %w", kind.name, err)
		}
	}
	if out.ActionSchemas, err = each(served.ActionSchemas, actionOf); err != nil {
		return nil, fmt.Errorf("action %w", err)
	}
	if out.ResourceIdentitySchemas, err = each(identities.IdentitySchemas, identityOf); err != nil {
		return nil, fmt.Errorf("identity %w", err)
	}
	return out, nil
}

func each[From, To any](in map[string]From, convert func(From) (To, error)) (map[string]To, error) {
	out := make(map[string]To, len(in))
	for name, value := range in {
		converted, err := convert(value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out[name] = converted
	}
	return out, nil
}

func diagnosticsError(diagnostics []*tfprotov6.Diagnostic) error {
	var all []error
	for _, d := range diagnostics {
		if d.Severity == tfprotov6.DiagnosticSeverityError {
			all = append(all, errors.New(strings.TrimSpace(d.Summary+": "+d.Detail)))
		}
	}
	return errors.Join(all...)
}
