package acctest

import (
	"context"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/hashicorp/terraform-plugin-testing/echoprovider"
)

// Echoed is a configuration that a Provider has begun, with the provider echo required too.
func Echoed(config string) string {
	const begin = "required_providers {\n"
	return strings.Replace(config, begin, begin+"    echo = {\n      source = \"registry.terraform.io/agentenv/echo\"\n    }\n", 1)
}

// WithEcho serves the providers and, beside them, one named echo: its resource of that name puts what its block was
// configured with, which may be ephemeral, into the state, where a test can see it.
func WithEcho() map[string]func() (tfprotov6.ProviderServer, error) {
	all := Factories()
	all["echo"] = echoprovider.NewProviderServer()
	return all
}

// Opened is an ephemeral resource that Terraform has opened.
type Opened struct {
	kind       string
	private    []byte
	RenewAt    time.Time
	Attributes map[string]tftypes.Value // nil where opening failed
}

// OpenEphemeral validates a configuration and opens it, as Terraform does.
func (p *Protocol) OpenEphemeral(ctx context.Context, kind string, config Values) (Opened, []*tfprotov6.Diagnostic) {
	p.t.Helper()
	schema, ok := p.Schemas.EphemeralResourceSchemas[kind]
	if !ok {
		p.t.Fatalf("no ephemeral resource %s is served", kind)
	}
	encoded := p.Encode(schema, config)
	valid, err := p.ValidateEphemeralResourceConfig(ctx, &tfprotov6.ValidateEphemeralResourceConfigRequest{TypeName: kind, Config: encoded})
	if err != nil {
		p.t.Fatal(err)
	}
	if failed(valid.Diagnostics) {
		return Opened{}, valid.Diagnostics
	}
	answer, err := p.OpenEphemeralResource(ctx, &tfprotov6.OpenEphemeralResourceRequest{TypeName: kind, Config: encoded})
	if err != nil {
		p.t.Fatal(err)
	}
	opened := Opened{kind: kind, private: answer.Private, RenewAt: answer.RenewAt}
	if !failed(answer.Diagnostics) {
		opened.Attributes = p.attributes(schema, answer.Result)
	}
	return opened, answer.Diagnostics
}

// Renew renews an open ephemeral resource.
func (p *Protocol) Renew(ctx context.Context, open Opened) (Opened, []*tfprotov6.Diagnostic) {
	p.t.Helper()
	answer, err := p.RenewEphemeralResource(ctx, &tfprotov6.RenewEphemeralResourceRequest{TypeName: open.kind, Private: open.private})
	if err != nil {
		p.t.Fatal(err)
	}
	open.private, open.RenewAt = answer.Private, answer.RenewAt
	return open, answer.Diagnostics
}

// CloseEphemeral closes an open ephemeral resource.
func (p *Protocol) CloseEphemeral(ctx context.Context, open Opened) []*tfprotov6.Diagnostic {
	p.t.Helper()
	answer, err := p.CloseEphemeralResource(ctx, &tfprotov6.CloseEphemeralResourceRequest{TypeName: open.kind, Private: open.private})
	if err != nil {
		p.t.Fatal(err)
	}
	return answer.Diagnostics
}

// Query is what `terraform query` asks for.
type Query struct {
	Config          Values
	IncludeResource bool
	Limit           int64
	// Take ends the query after that many results, as Terraform may; 0 takes all.
	Take int
}

// Listed is one result of a query.
type Listed struct {
	ID, DisplayName string
	Attributes      map[string]tftypes.Value // nil unless the whole resource was asked for
	Resource        *tfprotov6.DynamicValue
}

// List validates and runs a query.
func (p *Protocol) List(ctx context.Context, kind string, query Query) (found []Listed, diagnostics []*tfprotov6.Diagnostic) {
	p.t.Helper()
	schema, ok := p.Schemas.ListResourceSchemas[kind]
	if !ok {
		p.t.Fatalf("no list resource %s is served", kind)
	}
	config := p.Encode(schema, query.Config)
	valid, err := p.ValidateListResourceConfig(ctx, &tfprotov6.ValidateListResourceConfigRequest{TypeName: kind, Config: config})
	if err != nil {
		p.t.Fatal(err)
	}
	if failed(valid.Diagnostics) {
		return nil, valid.Diagnostics
	}
	stream, err := p.ListResource(ctx, &tfprotov6.ListResourceRequest{
		TypeName: kind, Config: config, IncludeResource: query.IncludeResource, Limit: query.Limit,
	})
	if err != nil {
		p.t.Fatal(err)
	}
	for result := range stream.Results {
		diagnostics = append(diagnostics, result.Diagnostics...)
		if result.Identity != nil {
			found = append(found, p.listed(kind, result))
		}
		if len(found) == query.Take && query.Take > 0 {
			break
		}
	}
	return found, diagnostics
}

func (p *Protocol) listed(kind string, result tfprotov6.ListResourceResult) Listed {
	p.t.Helper()
	identity, err := result.Identity.IdentityData.Unmarshal(tftypes.Object{AttributeTypes: map[string]tftypes.Type{"id": tftypes.String}})
	if err != nil {
		p.t.Fatal(err)
	}
	var parts map[string]tftypes.Value
	listed := Listed{DisplayName: result.DisplayName, Resource: result.Resource}
	if err := identity.As(&parts); err != nil {
		p.t.Fatal(err)
	}
	if err := parts["id"].As(&listed.ID); err != nil {
		p.t.Fatal(err)
	}
	listed.Attributes = p.attributes(p.resource(kind), result.Resource)
	return listed
}
