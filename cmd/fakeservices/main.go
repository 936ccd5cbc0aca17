// Command fakeservices serves fakes of both services on loopback, for demos and for tests of infrastructure code: what is
// created on them lives in memory and ends with the program.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// version is set by the linker.
var version = "dev"

const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run serves until ctx ends, or checks somebody's service, and gives the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) > 0 && args[0] == checkCommand {
		return check(ctx, args[1:], stdout, stderr)
	}
	settings, err := parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, help())
		return exitOK
	case err != nil:
		fmt.Fprintf(stderr, "fakeservices: %v\nfakeservices -help tells more.\n", err)
		return exitUsage
	case settings.version:
		fmt.Fprintln(stdout, version)
		return exitOK
	}
	if err := serve(ctx, settings, stdout, stderr); err != nil {
		fmt.Fprintf(stderr, "fakeservices: %v\n", err)
		return exitFailed
	}
	return exitOK
}
