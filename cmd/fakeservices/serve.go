package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice"
	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/faults"
	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/gpuvm"
	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/opensandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/statuspage"
)

// running is one service that is being served.
type running struct {
	name        string
	server      *fakeservice.Server
	environment []string // KEY=value for the ready line
	section     func() statuspage.Section
	close       func() // ends what runs on its machines
}

// fake is a service as this program needs it.
type fake interface {
	http.Handler
	Faults() *faults.Set
	Close()
}

// serve starts the services, prints the ready line, and stops them when ctx ends. An error means that one couldn't start, or
// ended by itself.
func serve(ctx context.Context, s *settings, stdout, stderr io.Writer) error {
	var all []*running
	//nolint:contextcheck // ctx has ended by then; Stop has a bound of its own
	defer func() {
		for _, r := range all {
			r.server.Stop() // first: a client should see that the service has gone, not that its machines have
			r.close()
		}
	}()
	page := statuspage.Handler(func() []statuspage.Section {
		sections := make([]statuspage.Section, len(all))
		for i, r := range all {
			sections[i] = r.section()
		}
		return sections
	})
	ready := make(chan struct{}) // all is complete: the page may look at it
	withPage := func(service http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/" || r.Method != http.MethodGet {
				service.ServeHTTP(w, r)
				return
			}
			<-ready
			page.ServeHTTP(w, r)
		})
	}
	starts := map[string]func(context.Context, *settings, func(http.Handler) http.Handler) (*running, error){
		onlyVMs: startVMs, onlySandboxes: startSandboxes,
	}
	for _, name := range []string{onlyVMs, onlySandboxes} {
		if !s.serves(name) {
			continue
		}
		r, err := starts[name](ctx, s, withPage)
		if err != nil {
			close(ready)
			return fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, r)
	}
	close(ready)
	warn(stderr, all)
	if err := announce(stdout, all); err != nil {
		return err
	}
	return wait(ctx, all)
}

// prepare gives a fake the faults of the command line.
func prepare(service fake, s *settings) {
	service.Faults().Order(s.faults...)
	if s.latency > 0 {
		service.Faults().Order(faults.Fault{Kind: faults.Delay, Delay: s.latency, Times: -1})
	}
}

func startVMs(ctx context.Context, s *settings, withPage func(http.Handler) http.Handler) (*running, error) {
	service := gpuvm.New(gpuvm.Options{
		Token: s.token, BootDelay: s.bootDelay, Seed: s.seed, IdempotencyKeys: s.idempotencyKeys, LongPoll: s.longPoll,
		PortsAtOnce: s.portsAtOnce, VNC: s.vnc, ForeignLabels: s.foreignLabels,
	})
	prepare(service, s)
	server, err := fakeservice.Listen(ctx, s.vmAddress, withPage(service))
	if err != nil {
		return nil, err
	}
	return &running{
		name: onlyVMs, server: server, environment: []string{"GPU_VM_URL=" + server.URL, "GPU_VM_TOKEN=" + s.token},
		section: func() statuspage.Section { return service.Section(server.URL) }, close: service.Close,
	}, nil
}

func startSandboxes(ctx context.Context, s *settings, withPage func(http.Handler) http.Handler) (*running, error) {
	service := opensandbox.New(opensandbox.Options{
		APIKey: s.apiKey, Seed: s.seed, Kubernetes: s.kubernetes, Newer: s.newer, PullDelay: s.pullDelay,
	})
	prepare(service, s)
	server, err := fakeservice.Listen(ctx, s.sandboxAddress, withPage(service))
	if err != nil {
		service.Close()
		return nil, err
	}
	domain := strings.TrimPrefix(server.URL, "http://")
	return &running{
		name: onlySandboxes, server: server, environment: []string{"OPEN_SANDBOX_DOMAIN=" + domain, "OPEN_SANDBOX_API_KEY=" + s.apiKey},
		section: func() statuspage.Section { return sandboxSection(service, server.URL) }, close: service.Close,
	}, nil
}

func sandboxSection(service *opensandbox.Service, url string) statuspage.Section {
	section := statuspage.Section{
		Title: "OpenSandbox server", URL: url, Requests: service.Faults().Total(), Faults: len(service.Faults().Pending()),
	}
	now := time.Now()
	for _, status := range service.Status(url) {
		m := statuspage.Machine{
			ID: status.ID, Image: status.Image, Size: status.Name, Status: status.State, Display: status.Display,
			Age: statuspage.Duration(now.Sub(status.Created)),
		}
		if !status.Expires.IsZero() {
			m.Left = statuspage.Duration(status.Expires.Sub(now))
		}
		for _, port := range status.Ports {
			m.Ports = append(m.Ports, statuspage.Link{Port: port.Port, URL: port.URL})
		}
		section.Machines = append(section.Machines, m)
	}
	return section
}

// warn tells of an address that others can reach.
func warn(stderr io.Writer, all []*running) {
	for _, r := range all {
		host, _, err := net.SplitHostPort(strings.TrimPrefix(r.server.URL, "http://"))
		if ip := net.ParseIP(host); err == nil && ip != nil && !ip.IsLoopback() {
			fmt.Fprintf(stderr, "fakeservices: warning: %s listens at %s, where others may reach its pages and orders without a token\n", r.name, r.server.URL)
		}
	}
}

// announce prints the ready line, the only one on standard output.
func announce(stdout io.Writer, all []*running) error {
	line := "ready: export"
	for _, r := range all {
		for _, variable := range r.environment {
			name, value, _ := strings.Cut(variable, "=")
			line += " " + name + "=" + quote(value)
		}
	}
	if _, err := fmt.Fprintln(stdout, line); err != nil {
		return fmt.Errorf("the ready line: %w", err)
	}
	return nil
}

// quote writes a value so that a shell takes it as it is.
func quote(value string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:@%+,[]", r)
	}
	if value != "" && strings.IndexFunc(value, func(r rune) bool { return !plain(r) }) < 0 {
		return value
	}
	return "'" + strings.ReplaceAll(value, "'", `'\''`) + "'"
}

// wait returns when ctx ends, or with an error when a service ends by itself.
func wait(ctx context.Context, all []*running) error {
	ended := make(chan error, len(all))
	for _, r := range all {
		go func() {
			<-r.server.Ended()
			ended <- fmt.Errorf("%s ended: %w", r.name, r.server.Err())
		}()
	}
	select {
	case <-ctx.Done():
		return nil
	case err := <-ended:
		return err
	}
}
