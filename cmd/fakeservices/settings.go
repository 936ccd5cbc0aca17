package main

import (
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice"
	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/faults"
	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/gpuvm"
)

// The names that -only takes.
const (
	onlyVMs       = "gpuvm"
	onlySandboxes = "opensandbox"
)

// settings are what the command line says.
type settings struct {
	version bool
	only    string
	faults  []faults.Fault
	latency time.Duration
	seed    int64

	vmAddress, token string
	bootDelay        time.Duration
	idempotencyKeys  bool
	longPoll         bool
	portsAtOnce      bool
	vnc              gpuvm.VNC
	foreignLabels    map[string]string

	sandboxAddress, apiKey string
	kubernetes, newer      bool
	pullDelay              time.Duration
}

// serves tells whether a service is wanted.
func (s *settings) serves(name string) bool { return s.only == "" || s.only == name }

func parse(args []string) (*settings, error) {
	s := &settings{foreignLabels: map[string]string{}}
	f := s.flags()
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	if f.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	return s, s.check()
}

// flags is also what the help text is made of.
func (s *settings) flags() *flag.FlagSet {
	f := flag.NewFlagSet("fakeservices", flag.ContinueOnError)
	f.SetOutput(io.Discard) // errors and help are written by run
	f.BoolVar(&s.version, "version", false, "print the version")
	f.StringVar(&s.only, "only", "", "serve one `service`: gpuvm or opensandbox")
	f.Func("fault", "order a `fault`, see below; may be given again", func(text string) error {
		fault, err := faults.Parse(text)
		s.faults = append(s.faults, fault)
		return err
	})
	f.DurationVar(&s.latency, "latency", 0, "answer each request only after this `time`, such as 100ms")
	f.Int64Var(&s.seed, "seed", 0, "make ids repeatable: the same `number` gives the same ids in the same order (0: others each time)")

	f.StringVar(&s.vmAddress, "gpuvm-address", fakeservice.Loopback, "`host:port` of the VM service; port 0 takes a free one")
	f.StringVar(&s.token, "token", "", "bearer `token` that the VM service asks for (made up when left out)")
	f.DurationVar(&s.bootDelay, "boot-delay", 0, "how much `time` a VM takes to boot")
	f.BoolVar(&s.idempotencyKeys, "idempotency-keys", true, "honour Idempotency-Key; =false plays a service that doesn't know it")
	f.BoolVar(&s.longPoll, "long-poll", true, "honour Prefer: wait; =false plays a service that doesn't know it")
	f.BoolVar(&s.portsAtOnce, "ports-at-once", false, "tell ports and vnc_url in the answer to create already")
	f.Func("vnc", "what vnc_url `is` once a VM runs: given (default), null or absent", s.setVNC)
	f.Func("foreign-label", "add a label, `key=value`, to each VM's answers; may be given again", func(text string) error {
		key, value, found := strings.Cut(text, "=")
		if !found || key == "" {
			return errors.New("it needs the form key=value")
		}
		s.foreignLabels[key] = value
		return nil
	})

	f.StringVar(&s.sandboxAddress, "opensandbox-address", fakeservice.Loopback, "`host:port` of the OpenSandbox server; port 0 takes a free one")
	f.StringVar(&s.apiKey, "api-key", "", "API `key` that the OpenSandbox server asks for (made up when left out)")
	f.BoolVar(&s.kubernetes, "kubernetes", false, "play OpenSandbox's Kubernetes runtime instead of Docker's")
	f.BoolVar(&s.newer, "newer", false, "play a newer OpenSandbox server")
	f.DurationVar(&s.pullDelay, "pull-delay", 0, "how much `time` a sandbox's image takes to be pulled; create waits for it")
	return f
}

func (s *settings) setVNC(text string) error {
	known := map[string]gpuvm.VNC{"given": gpuvm.VNCGiven, "null": gpuvm.VNCNull, "absent": gpuvm.VNCAbsent}
	value, found := known[text]
	if !found {
		return fmt.Errorf("it is one of %s", strings.Join(slices.Sorted(maps.Keys(known)), ", "))
	}
	s.vnc = value
	return nil
}

func (s *settings) check() error {
	if s.only != "" && s.only != onlyVMs && s.only != onlySandboxes {
		return fmt.Errorf("-only is %s or %s, not %q", onlyVMs, onlySandboxes, s.only)
	}
	for name, d := range map[string]time.Duration{"latency": s.latency, "boot-delay": s.bootDelay, "pull-delay": s.pullDelay} {
		if d < 0 {
			return fmt.Errorf("-%s can't be negative", name)
		}
	}
	for name, address := range map[string]string{"gpuvm-address": s.vmAddress, "opensandbox-address": s.sandboxAddress} {
		if _, _, err := net.SplitHostPort(address); err != nil {
			return fmt.Errorf("-%s %q is no host:port: %w", name, address, err)
		}
	}
	// A secret of the day: whoever reads this file can't use a fake that somebody has left running.
	if s.token == "" {
		s.token = rand.Text()
	}
	if s.apiKey == "" {
		s.apiKey = rand.Text()
	}
	return nil
}
