// Command docs renders each provider's documentation with tfplugindocs: `make generate` writes it, `make
// check-generated` (-check) says whether what is committed is what would be written.
//
// The schemas come from the providers in process (internal/providerschema), so no Terraform program is needed and
// none that is too old can leave out pages.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"

	fw "github.com/hashicorp/terraform-plugin-framework/provider"

	"github.com/agentenv/terraform-provider-gpuvm/internal/catalog"
	"github.com/agentenv/terraform-provider-gpuvm/internal/provider"
	"github.com/agentenv/terraform-provider-gpuvm/internal/providerschema"
)

func main() {
	check := flag.Bool("check", false, "change nothing; fail where the committed pages differ")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, *check)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// constructors gives each provider of the catalog.
var constructors = map[string]func(version string) func() fw.Provider{
	"gpuvm":       provider.GPUVM,
	"opensandbox": provider.OpenSandbox,
}

// run works in the module's root, where make starts it.
func run(ctx context.Context, check bool) error {
	root, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("finding the module's root: %w", err)
	}
	var stale []string
	for _, p := range catalog.Providers() {
		differences, err := refresh(ctx, root, p, check)
		if err != nil {
			return fmt.Errorf("documentation of %s: %w", p.Name, err)
		}
		stale = append(stale, differences...)
	}
	switch {
	case len(stale) == 0:
		fmt.Println("The documentation is current.")
	case check:
		return errors.New("the documentation is not what its templates and schemas render: run `make generate`\n  " + strings.Join(stale, "\n  "))
	default:
		fmt.Println("Rendered:\n  " + strings.Join(stale, "\n  "))
	}
	return nil
}

// refresh renders into a folder of its own first, so that a failure leaves the pages as they are.
func refresh(ctx context.Context, root string, p catalog.Provider, check bool) (differences []string, err error) {
	work, err := os.MkdirTemp("", "docs-*")
	if err != nil {
		return nil, fmt.Errorf("making a folder to work in: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	if err := render(ctx, root, work, p); err != nil {
		return nil, err
	}
	rendered, committed := filepath.Join(work, "docs"), filepath.Join(root, filepath.FromSlash(p.Docs))
	differences, err = compare(rendered, committed)
	if err != nil {
		return nil, err
	}
	for i, name := range differences {
		if !check {
			if err := adopt(rendered, committed, name); err != nil {
				return nil, err
			}
		}
		differences[i] = p.Docs + "/" + name
	}
	return differences, nil
}

// render writes the pages to work/docs, and checks them against the registry's rules.
func render(ctx context.Context, root, work string, p catalog.Provider) error {
	schema, err := providerschema.Of(ctx, constructors[p.Name]("dev")())
	if err != nil {
		return err
	}
	encoded, err := providerschema.JSON(p.Name, schema)
	if err != nil {
		return err
	}
	schemaFile := filepath.Join(work, "schema.json")
	if err := os.WriteFile(schemaFile, encoded, 0o600); err != nil {
		return fmt.Errorf("writing the schema: %w", err)
	}
	// The generator joins this to the provider's folder.
	website, err := filepath.Rel(root, filepath.Join(work, "docs"))
	if err != nil {
		return fmt.Errorf("naming the folder to render to: %w", err)
	}
	err = tfplugindocs(ctx, root, "generate",
		"--provider-dir", root, "--provider-name", p.Name, "--providers-schema", schemaFile, "--rendered-website-dir", website,
		"--website-source-dir", p.Templates(), "--examples-dir", p.Examples())
	if err != nil {
		return err
	}
	return tfplugindocs(ctx, root, "validate", "--provider-dir", work, "--provider-name", p.Name, "--providers-schema", schemaFile)
}

func tfplugindocs(ctx context.Context, root string, args ...string) error {
	cmd := exec.CommandContext(ctx, "go", append([]string{"tool", "-modfile=tools/go.mod", "tfplugindocs"}, args...)...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("tfplugindocs %s: %w\n%s", args[0], err, out)
	}
	return nil
}
