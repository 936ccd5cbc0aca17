package main

import (
	"context"
	"crypto/x509"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/conformance"
)

// checkCommand is the word that asks for a check of somebody's VM service.
const checkCommand = "check"

// checkSettings are what the command line says of a check.
type checkSettings struct {
	conformance.Options
	authorities string // a file
}

// check checks a VM service, and gives the exit code.
func check(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	s := &checkSettings{}
	err := s.parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, checkHelp())
		return exitOK
	case err != nil:
		fmt.Fprintf(stderr, "fakeservices check: %v\nfakeservices check -help tells more.\n", err)
		return exitUsage
	}
	// A person who has pressed Ctrl-C sees why it doesn't end at once.
	told := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(told)
		fmt.Fprintln(stderr, "fakeservices check: interrupted; deleting what it has made")
	})
	report, err := conformance.Check(ctx, s.Options, func(line conformance.Line) { fmt.Fprintln(stdout, line) })
	if !stop() {
		<-told
	}
	if err != nil {
		fmt.Fprintf(stderr, "fakeservices check: %v\n", err)
		return exitFailed
	}
	fmt.Fprintf(stdout, "\n%s\n", report.Summary())
	if !report.Conforms() {
		return exitFailed
	}
	return exitOK
}

func (s *checkSettings) parse(args []string) error {
	f := s.flags()
	if err := f.Parse(args); err != nil {
		return err
	}
	if f.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	if strings.TrimSpace(s.BaseURL) == "" {
		return errors.New("-base-url is missing (or GPU_VM_URL)")
	}
	for name, d := range map[string]time.Duration{"boot-timeout": s.BootTimeout, "long-command": s.LongCommand, "expiry": s.Expiry} {
		if d < 0 {
			return fmt.Errorf("-%s can't be negative", name)
		}
	}
	if s.authorities == "" {
		return nil
	}
	pem, err := os.ReadFile(s.authorities)
	if err != nil {
		return fmt.Errorf("-ca-certificate: %w", err)
	}
	if s.Roots, err = x509.SystemCertPool(); err != nil {
		s.Roots = x509.NewCertPool()
	}
	if !s.Roots.AppendCertsFromPEM(pem) {
		return fmt.Errorf("-ca-certificate: %s holds no PEM certificate", s.authorities)
	}
	return nil
}

// flags is also what the help text is made of; the token's default isn't shown in it.
func (s *checkSettings) flags() *flag.FlagSet {
	f := flag.NewFlagSet("fakeservices check", flag.ContinueOnError)
	f.SetOutput(io.Discard) // errors and help are written by check
	s.BaseURL, s.Token = os.Getenv("GPU_VM_URL"), os.Getenv("GPU_VM_TOKEN")
	f.Func("base-url", "`URL` of the VM service, with its path prefix (default $GPU_VM_URL)", func(text string) error { s.BaseURL = text; return nil })
	f.Func("token", "bearer `token`; better given as $GPU_VM_TOKEN, which no list of processes shows", func(text string) error { s.Token = text; return nil })
	f.StringVar(&s.Image, "image", "openciv3-client", "`name` of an image to boot; it needs sh, bash, sudo and coreutils")
	f.StringVar(&s.FailingImage, "failing-image", "", "`name` of an image that fails to boot, to see that reported (fail-boot on the fake; left out where empty)")
	f.DurationVar(&s.BootTimeout, "boot-timeout", 10*time.Minute, "how much `time` a machine may take to boot")
	f.DurationVar(&s.LongCommand, "long-command", 65*time.Second, "how much `time` the command takes that has to survive every gateway's patience; 0 leaves it out")
	f.DurationVar(&s.Expiry, "expiry", 0, "`ttl` of a machine that is watched until it ends by itself, such as 2m; 0 leaves that out")
	f.StringVar(&s.authorities, "ca-certificate", "", "`file` of PEM certificates of authorities to trust beside the system's")
	return f
}

func checkHelp() string {
	var flags strings.Builder
	set := (&checkSettings{}).flags()
	set.SetOutput(&flags)
	set.PrintDefaults()
	return fmt.Sprintf(checkHelpText, flags.String())
}

const checkHelpText = `fakeservices check checks a VM service against the contract that the provider gpuvm is built on: the guide "The VM service's
HTTP API".

Usage

  export GPU_VM_TOKEN=...
  fakeservices check -base-url https://vms.example.com [flags]

It makes up to four machines, at most two at a time, and deletes them again however it ends, also after Ctrl-C. They carry the
labels purpose=conformance-check and run=<this run>, and end by themselves after half an hour or so where even that fails.

Flags

%s
Report

  One line for each check, as soon as it is known:

    ok           the service does what the contract says
    FAIL         it doesn't: with what was asked, what came, and what the contract says
    not offered  something that a service may add, and this one doesn't: with what that costs
    not checked  with the reason: it was left out, or another check that failed says the same

Exit status

  0 where nothing failed, 1 where something did, or was interrupted, or a machine may be left; 2 for a mistake in the command.

To see it at work, check the fake:

  fakeservices > ready.txt &
  until grep -q ready: ready.txt; do sleep 0.1; done
  eval "$(sed 's/^ready: //' ready.txt)"
  fakeservices check
`
