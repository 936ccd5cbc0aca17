package main

import (
	"context"
	"fmt"
	"os"
	"text/tabwriter"

	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentenv/terraform-provider-gpuvm/internal/program"
	providers "github.com/agentenv/terraform-provider-gpuvm/internal/provider"
)

// The bare provider does nothing at all, without the plugin framework: what Terraform takes for it, it takes for any provider.
// This program serves it where Terraform starts it.
const (
	bareAddress = "registry.terraform.io/bench/bare"
	magicCookie = "TF_PLUGIN_MAGIC_COOKIE"
)

// wide is how many attributes or blocks a schema of the bare provider has more than a plain one.
const wide = 40

// widths are the schemas of the bare provider, each under the name of its resource type. What is more than a plain one has, is left
// out of the configuration. The last two are those of our own machines.
var widths = []struct {
	name, title string
	more        func(block *tfprotov6.SchemaBlock, name string)
}{
	{"bare_plain", "one attribute", func(*tfprotov6.SchemaBlock, string) {}},
	{"bare_texts", "40 optional texts more", func(b *tfprotov6.SchemaBlock, name string) {
		b.Attributes = append(b.Attributes, &tfprotov6.SchemaAttribute{Name: name, Type: tftypes.String, Optional: true})
	}},
	{"bare_maps", "40 optional maps more", func(b *tfprotov6.SchemaBlock, name string) {
		b.Attributes = append(b.Attributes, &tfprotov6.SchemaAttribute{Name: name, Type: tftypes.Map{ElementType: tftypes.String}, Optional: true})
	}},
	{"bare_objects", "40 optional objects of two texts more", func(b *tfprotov6.SchemaBlock, name string) {
		b.Attributes = append(b.Attributes, &tfprotov6.SchemaAttribute{Name: name, Optional: true, NestedType: &tfprotov6.SchemaObject{
			Nesting: tfprotov6.SchemaObjectNestingModeSingle, Attributes: two(),
		}})
	}},
	{"bare_blocks", "40 single blocks of two texts more", func(b *tfprotov6.SchemaBlock, name string) {
		b.BlockTypes = append(b.BlockTypes, nested(name, tfprotov6.SchemaNestedBlockNestingModeSingle))
	}},
	{"bare_lists", "40 repeated blocks of two texts more", func(b *tfprotov6.SchemaBlock, name string) {
		b.BlockTypes = append(b.BlockTypes, nested(name, tfprotov6.SchemaNestedBlockNestingModeList))
	}},
	{"bare_gpuvm_instance", "that of gpuvm_instance", nil},
	{"bare_opensandbox_sandbox", "that of opensandbox_sandbox", nil},
}

func two() []*tfprotov6.SchemaAttribute {
	return []*tfprotov6.SchemaAttribute{
		{Name: "first", Type: tftypes.String, Optional: true},
		{Name: "second", Type: tftypes.String, Optional: true},
	}
}

func nested(name string, mode tfprotov6.SchemaNestedBlockNestingMode) *tfprotov6.SchemaNestedBlock {
	return &tfprotov6.SchemaNestedBlock{TypeName: name, Nesting: mode, Block: &tfprotov6.SchemaBlock{Attributes: two()}}
}

// bare answers what a plan and an apply ask; the rest is never asked.
type bare struct{ tfprotov6.ProviderServer }

func serveBare() error {
	return tf6server.Serve(bareAddress, func() tfprotov6.ProviderServer { return bare{} })
}

func (bare) GetProviderSchema(ctx context.Context, _ *tfprotov6.GetProviderSchemaRequest) (*tfprotov6.GetProviderSchemaResponse, error) {
	answer := &tfprotov6.GetProviderSchemaResponse{
		ServerCapabilities: &tfprotov6.ServerCapabilities{GetProviderSchemaOptional: true, PlanDestroy: true},
		Provider:           &tfprotov6.Schema{Block: &tfprotov6.SchemaBlock{}}, ResourceSchemas: map[string]*tfprotov6.Schema{},
	}
	for name, p := range map[string]provider.Provider{"gpuvm_instance": providers.GPUVM("bench")(), "opensandbox_sandbox": providers.OpenSandbox("bench")()} {
		served, err := program.NewServer(p).GetProviderSchema(ctx, &tfprotov6.GetProviderSchemaRequest{})
		if err != nil {
			return nil, err
		}
		answer.ResourceSchemas["bare_"+name] = served.ResourceSchemas[name]
	}
	for _, width := range widths {
		if width.more == nil {
			continue
		}
		block := &tfprotov6.SchemaBlock{Attributes: []*tfprotov6.SchemaAttribute{{Name: "image", Type: tftypes.String, Required: true}}}
		for i := range wide {
			width.more(block, fmt.Sprintf("more_%02d", i))
		}
		answer.ResourceSchemas[width.name] = &tfprotov6.Schema{Block: block}
	}
	return answer, nil
}

func (bare) GetResourceIdentitySchemas(context.Context, *tfprotov6.GetResourceIdentitySchemasRequest) (*tfprotov6.GetResourceIdentitySchemasResponse, error) {
	return &tfprotov6.GetResourceIdentitySchemasResponse{}, nil
}

func (bare) ValidateProviderConfig(_ context.Context, req *tfprotov6.ValidateProviderConfigRequest) (*tfprotov6.ValidateProviderConfigResponse, error) {
	return &tfprotov6.ValidateProviderConfigResponse{PreparedConfig: req.Config}, nil
}

func (bare) ConfigureProvider(context.Context, *tfprotov6.ConfigureProviderRequest) (*tfprotov6.ConfigureProviderResponse, error) {
	return &tfprotov6.ConfigureProviderResponse{}, nil
}

func (bare) StopProvider(context.Context, *tfprotov6.StopProviderRequest) (*tfprotov6.StopProviderResponse, error) {
	return &tfprotov6.StopProviderResponse{}, nil
}

func (bare) ValidateResourceConfig(context.Context, *tfprotov6.ValidateResourceConfigRequest) (*tfprotov6.ValidateResourceConfigResponse, error) {
	return &tfprotov6.ValidateResourceConfigResponse{}, nil
}

func (bare) UpgradeResourceState(_ context.Context, req *tfprotov6.UpgradeResourceStateRequest) (*tfprotov6.UpgradeResourceStateResponse, error) {
	return &tfprotov6.UpgradeResourceStateResponse{UpgradedState: &tfprotov6.DynamicValue{JSON: req.RawState.JSON}}, nil
}

func (bare) ReadResource(_ context.Context, req *tfprotov6.ReadResourceRequest) (*tfprotov6.ReadResourceResponse, error) {
	return &tfprotov6.ReadResourceResponse{NewState: req.CurrentState}, nil
}

func (bare) PlanResourceChange(_ context.Context, req *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	return &tfprotov6.PlanResourceChangeResponse{PlannedState: req.ProposedNewState}, nil
}

func (bare) ApplyResourceChange(_ context.Context, req *tfprotov6.ApplyResourceChangeRequest) (*tfprotov6.ApplyResourceChangeResponse, error) {
	return &tfprotov6.ApplyResourceChangeResponse{NewState: req.PlannedState}, nil
}

// bareConfiguration is a number of resources of a type of the bare provider.
func bareConfiguration(resource string, n int) string {
	return fmt.Sprintf(`
terraform {
  required_providers {
    bare = { source = %q }
  }
}
resource %q "x" {
  count = %d
  image = count.index
}
`, bareAddress, resource, n)
}

// prices shows what Terraform itself takes for the width of a schema: the plan without changes of as many resources.
func (b bench) prices(ctx context.Context) error {
	const n = 500
	seconds := make([][]float64, len(widths))
	for range b.rounds {
		for i, width := range widths {
			took, err := b.price(ctx, width.name, n)
			if err != nil {
				return err
			}
			seconds[i] = append(seconds[i], took)
		}
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintf(w, "\nschema\tplan of %d, seconds\tmicroseconds a resource\tfor each one more\n", n)
	plain := middle(seconds[0]) / n * 1e6
	for i, width := range widths {
		each := middle(seconds[i]) / n * 1e6
		_, _ = fmt.Fprintf(w, "%s\t%.2f\t%.0f", width.title, middle(seconds[i]), each)
		if width.more != nil && i > 0 {
			_, _ = fmt.Fprintf(w, "\t%.0f", (each-plain)/wide)
		}
		_, _ = fmt.Fprintln(w)
	}
	return w.Flush()
}

func (b bench) price(ctx context.Context, resource string, n int) (float64, error) {
	s, err := b.stage(ctx, options{}, bareConfiguration(resource, n))
	if err != nil {
		return 0, err
	}
	defer s.end()
	if _, err := s.command(ctx, arguments("apply", 10)...); err != nil {
		return 0, err
	}
	m, err := s.command(ctx, arguments("plan", 10)...)
	return m.wall.Seconds(), err
}
