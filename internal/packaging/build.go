package main

import (
	"archive/zip"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/agentenv/terraform-provider-gpuvm/internal/catalog"
)

// programFile is the name by which Terraform looks for a provider's program.
func programFile(p catalog.Provider, version string, target platform) string {
	return p.Program() + "_v" + version + target.suffix()
}

// build compiles the program in a folder of this module, whose root is given, for a platform as the release does.
func build(ctx context.Context, root, folder, version string, target platform, file string) error {
	file, err := filepath.Abs(file)
	if err != nil {
		return fmt.Errorf("naming the program to build: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return fmt.Errorf("making the folder for %s: %w", filepath.Base(file), err)
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w -X main.version="+version, "-o", file, "./"+folder)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+target.os, "GOARCH="+target.arch)
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building %s for %s: %w\n%s", folder, target, err, output)
	}
	return nil
}

// pack puts one program into a zip, under its own name. The entry carries no time: the same program makes the same
// archive.
func pack(archive, program string) (err error) {
	source, err := os.Open(program)
	if err != nil {
		return fmt.Errorf("packing: %w", err)
	}
	defer source.Close()
	file, err := os.Create(archive)
	if err != nil {
		return fmt.Errorf("packing: %w", err)
	}
	defer func() {
		if closed := file.Close(); err == nil {
			err = closed
		}
	}()
	w := zip.NewWriter(file)
	header := &zip.FileHeader{Name: filepath.Base(program), Method: zip.Deflate}
	header.SetMode(0o755)
	entry, err := w.CreateHeader(header)
	if err != nil {
		return fmt.Errorf("packing %s: %w", archive, err)
	}
	if _, err := io.Copy(entry, source); err != nil {
		return fmt.Errorf("packing %s: %w", archive, err)
	}
	if err := w.Close(); err != nil {
		return fmt.Errorf("packing %s: %w", archive, err)
	}
	return nil
}
