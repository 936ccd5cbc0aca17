package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"text/template"

	"github.com/agentenv/terraform-provider-gpuvm/internal/catalog"
)

// install puts each provider where a plain `terraform init` finds it (the implied filesystem mirror), and all programs
// into Go's program folder, for dev_overrides and for running fakeservices.
func install(ctx context.Context, root string, out io.Writer, version string) error {
	plugins, err := pluginFolder()
	if err != nil {
		return err
	}
	programs, err := programFolder(ctx)
	if err != nil {
		return err
	}
	installed := installation{Version: version, Plugins: plugins, Programs: programs, ConfigFile: configFile()}
	for _, p := range catalog.Providers() {
		mirrored := filepath.Join(plugins, filepath.FromSlash(p.Address()), version, here().String(), programFile(p, version, here()))
		if err := build(ctx, root, p.Package, version, here(), mirrored); err != nil {
			return err
		}
		if err := copyProgram(mirrored, filepath.Join(programs, p.Program()+here().suffix())); err != nil {
			return err
		}
		installed.Providers = append(installed.Providers, p)
	}
	if err := build(ctx, root, "cmd/fakeservices", version, here(), filepath.Join(programs, "fakeservices"+here().suffix())); err != nil {
		return err
	}
	if err := whatToPaste.Execute(out, installed); err != nil {
		return fmt.Errorf("printing what to paste: %w", err)
	}
	return nil
}

// copyProgram puts the copy in place in one step: a program that runs can't be written to, but it can be replaced.
func copyProgram(from, to string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return fmt.Errorf("installing: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return fmt.Errorf("installing: %w", err)
	}
	if err := os.WriteFile(to+".new", content, 0o755); err != nil {
		return fmt.Errorf("installing: %w", err)
	}
	if err := os.Rename(to+".new", to); err != nil {
		return fmt.Errorf("installing: %w", err)
	}
	return nil
}

type installation struct {
	Version    string
	Plugins    string // the filesystem mirror
	Programs   string
	ConfigFile string // the user's CLI configuration
	Providers  []catalog.Provider
}

var whatToPaste = template.Must(template.New("what to paste").Parse(`Installed version {{.Version}} in {{.Plugins}}
and, with fakeservices, in {{.Programs}}

In a configuration, as ever; terraform init takes them from this machine:

    terraform {
      required_providers {
{{- range .Providers}}
        {{.Name}} = {
          source  = "{{.Address}}"
          version = "{{$.Version}}"
        }
{{- end}}
      }
    }

After another install of the same version, remove .terraform.lock.hcl and init again.

Or, while you work on the providers themselves (no init needed), in {{.ConfigFile}}:

    provider_installation {
      dev_overrides {
{{- range .Providers}}
        "{{.Address}}" = "{{js $.Programs}}"
{{- end}}
      }
      direct {}
    }
`))

// pluginFolder is the first place where Terraform and OpenTofu look for a filesystem mirror that nobody configured
// (https://developer.hashicorp.com/terraform/cli/config/config-file#implied-local-mirror-directories).
func pluginFolder() (string, error) {
	if runtime.GOOS == "windows" {
		config, err := os.UserConfigDir()
		if err != nil {
			return "", fmt.Errorf("finding the plugin folder: %w", err)
		}
		return filepath.Join(config, "terraform.d", "plugins"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("finding the plugin folder: %w", err)
	}
	return filepath.Join(home, ".terraform.d", "plugins"), nil
}

// programFolder is where `go install` puts programs.
func programFolder(ctx context.Context) (string, error) {
	if gobin, err := goSetting(ctx, "GOBIN"); err != nil || gobin != "" {
		return gobin, err
	}
	paths, err := goSetting(ctx, "GOPATH")
	if err != nil {
		return "", err
	}
	return filepath.Join(filepath.SplitList(paths)[0], "bin"), nil
}

func goSetting(ctx context.Context, name string) (string, error) {
	output, err := exec.CommandContext(ctx, "go", "env", name).Output()
	if err != nil {
		return "", fmt.Errorf("asking Go for %s: %w", name, err)
	}
	return strings.TrimSpace(string(output)), nil
}

func configFile() string {
	switch {
	case os.Getenv("TF_CLI_CONFIG_FILE") != "":
		return os.Getenv("TF_CLI_CONFIG_FILE")
	case runtime.GOOS == "windows":
		return `%APPDATA%\terraform.rc`
	}
	return "~/.terraformrc"
}
