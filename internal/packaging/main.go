// Command packaging lays the providers out where people and programs fetch them from. Make's targets run it in the
// module's root:
//
//	install     this user's plugin folder and Go's program folder
//	mirror      a folder that serves as network mirror and as filesystem mirror
//	repository  what the release-only repository of a provider holds
//	verify      looks at what the release build made
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strings"

	"github.com/agentenv/terraform-provider-gpuvm/internal/catalog"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errors.New("usage: packaging install|mirror|repository|verify [flags]")
	}
	flags := flag.NewFlagSet(args[0], flag.ExitOnError)
	version := flags.String("version", "0.1.0", "version to stamp the programs with, without a leading v")
	platforms := flags.String("platforms", "", "platforms such as \"linux_amd64 darwin_arm64\"; this one where empty")
	out := flags.String("out", "", "folder to write to")
	name := flags.String("provider", "", "name of the provider")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	switch args[0] {
	case "install":
		return install(ctx, ".", os.Stdout, *version)
	case "mirror":
		targets, err := parsePlatforms(*platforms)
		if err != nil {
			return err
		}
		return mirror(ctx, ".", os.Stdout, *out, *version, targets)
	case "repository":
		return repository(".", os.Stdout, *out, *name)
	case "verify":
		return verify(".", os.Stdout, flags.Args())
	}
	return fmt.Errorf("no such command: %s", args[0])
}

// platform is an operating system and an architecture, by Go's names.
type platform struct{ os, arch string }

func here() platform { return platform{runtime.GOOS, runtime.GOARCH} }

// String is the form that Terraform's file names have.
func (p platform) String() string { return p.os + "_" + p.arch }

// suffix is what the system wants at the end of a program's name.
func (p platform) suffix() string {
	if p.os == "windows" {
		return ".exe"
	}
	return ""
}

func parsePlatforms(text string) ([]platform, error) {
	if strings.TrimSpace(text) == "" {
		return []platform{here()}, nil
	}
	var all []platform
	for _, field := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' }) {
		system, arch, ok := strings.Cut(field, "_")
		if !ok || system == "" || arch == "" {
			return nil, fmt.Errorf("platform %q: want a system and an architecture such as linux_amd64", field)
		}
		all = append(all, platform{system, arch})
	}
	return all, nil
}

func findProvider(name string) (catalog.Provider, error) {
	var known []string
	for _, p := range catalog.Providers() {
		if p.Name == name {
			return p, nil
		}
		known = append(known, p.Name)
	}
	return catalog.Provider{}, fmt.Errorf("no provider %q here, only %s", name, strings.Join(known, " and "))
}
