package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/catalog"
	"github.com/agentenv/terraform-provider-gpuvm/internal/clock"
	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/gpuvm"
	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/opensandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/terraformcli"
)

const (
	token  = "token-of-the-bench"
	apiKey = "key-of-the-bench"
)

// stage is a Terraform configuration, and the fake services that it works on.
type stage struct {
	cli         terraformcli.CLI
	vms         *gpuvm.Service
	sandboxes   *opensandbox.Service
	requests    atomic.Int64
	connections connections
	ends        []func()
}

// options of the services of a stage.
type options struct {
	latency time.Duration // of each request
	boot    time.Duration // of each VM
	hold    bool          // the VM service honours Prefer: wait
}

func (b bench) stage(ctx context.Context, o options, configuration string) (*stage, error) {
	dir, err := os.MkdirTemp("", "bench-*")
	if err != nil {
		return nil, err
	}
	s := &stage{ends: []func(){func() { _ = os.RemoveAll(dir) }}}
	s.vms = gpuvm.New(gpuvm.Options{Token: token, IdempotencyKeys: true, LongPoll: o.hold, BootDelay: o.boot})
	s.sandboxes = opensandbox.New(opensandbox.Options{APIKey: apiKey})
	vms, sandboxes := s.serve(o, s.vms), s.serve(o, s.sandboxes)

	programs, err := filepath.Abs(b.programs)
	if err != nil {
		return nil, err
	}
	config := filepath.Join(dir, "cli.tfrc")
	bare, err := os.Executable()
	if err != nil {
		return nil, err
	}
	links := map[string]string{"terraform-provider-bare": bare}
	for _, p := range catalog.Providers() {
		links[p.Program()] = filepath.Join(programs, p.Program())
	}
	for name, program := range links {
		if err := os.Symlink(program, filepath.Join(dir, name)); err != nil {
			return nil, err
		}
	}
	overrides := terraformcli.DevOverrides(dir, append(catalog.Addresses(), bareAddress)...)
	for name, text := range map[string]string{config: overrides, filepath.Join(dir, "main.tf"): configuration} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	s.cli = terraformcli.CLI{Path: b.terraform, Dir: dir, Env: terraformcli.Environment(config,
		"GPU_VM_URL="+vms.URL, "GPU_VM_TOKEN="+token,
		"OPEN_SANDBOX_DOMAIN="+sandboxes.Listener.Addr().String(), "OPEN_SANDBOX_API_KEY="+apiKey)}
	// terraform_data is Terraform's own, and dev_overrides need no init; both CLIs want one for the former all the same.
	_, err = s.cli.Text(ctx, "init", "-input=false")
	if err != nil {
		_, err = s.cli.Text(ctx, "validate") // with dev_overrides alone an init fails, and nothing needs it
	}
	return s, err
}

// serve counts what reaches a service.
func (s *stage) serve(o options, service http.Handler) *httptest.Server {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.requests.Add(1)
		if o.latency > 0 {
			_ = clock.System().Sleep(r.Context(), o.latency) // a client that goes needs no answer
		}
		service.ServeHTTP(w, r)
	}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			s.connections.opened()
		case http.StateClosed, http.StateHijacked:
			s.connections.closed()
		case http.StateActive, http.StateIdle:
		}
	}
	server.Start()
	s.ends = append(s.ends, server.Close)
	return server
}

func (s *stage) end() {
	for _, end := range s.ends {
		end()
	}
}

// measured is what one Terraform command cost.
type measured struct {
	wall     time.Duration
	requests int64
	opened   int64 // connections
	atOnce   int64 // connections, at most
	memory   int64 // bytes, the provider's highest; 0 where it can't be told
}

// connections counts those that a service gets.
type connections struct {
	mu                  sync.Mutex
	total, open, atOnce int64
}

func (c *connections) opened() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.total++
	c.open++
	c.atOnce = max(c.atOnce, c.open)
}

func (c *connections) closed() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open--
}

// since gives what was counted from the last call on.
func (c *connections) since() (total, atOnce int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	total, atOnce = c.total, c.atOnce
	c.total, c.atOnce = 0, c.open
	return total, atOnce
}

// command runs Terraform and measures it.
func (s *stage) command(ctx context.Context, args ...string) (measured, error) {
	requests := s.requests.Load()
	s.connections.since()
	watch := watchMemory()
	began := time.Now()
	_, err := s.cli.Text(ctx, args...)
	m := measured{wall: time.Since(began), memory: watch.stop(), requests: s.requests.Load() - requests}
	m.opened, m.atOnce = s.connections.since()
	return m, err
}

// memory watches the highest resident size of the providers' processes, as Linux tells it.
type memory struct {
	mu      sync.Mutex
	highest int64
	done    chan struct{}
	ended   chan struct{}
}

func watchMemory() *memory {
	m := &memory{done: make(chan struct{}), ended: make(chan struct{})}
	go func() {
		defer close(m.ended)
		for tick := time.NewTicker(25 * time.Millisecond); ; {
			select {
			case <-m.done:
				tick.Stop()
				return
			case <-tick.C:
				m.look()
			}
		}
	}()
	return m
}

func (m *memory) look() {
	executables, _ := filepath.Glob("/proc/[0-9]*/exe")
	for _, exe := range executables {
		target, err := os.Readlink(exe)
		if err != nil || len(filepath.Base(target)) < 18 || filepath.Base(target)[:18] != "terraform-provider" {
			continue
		}
		m.mu.Lock()
		m.highest = max(m.highest, highWater(filepath.Join(filepath.Dir(exe), "status")))
		m.mu.Unlock()
	}
}

func (m *memory) stop() int64 {
	close(m.done)
	<-m.ended
	return m.highest
}

// highWater reads VmHWM of a process (proc(5)).
func highWater(status string) int64 {
	text, err := os.ReadFile(status)
	if err != nil {
		return 0
	}
	var kilobytes int64
	for line := range lines(string(text)) {
		if n, err := fmt.Sscanf(line, "VmHWM: %d kB", &kilobytes); n == 1 && err == nil {
			return kilobytes << 10
		}
	}
	return 0
}

func (b bench) describe(ctx context.Context) error {
	version, err := terraformcli.CLI{Path: b.terraform, Dir: ".", Env: os.Environ()}.Version(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("%s, %s/%s, %d CPUs, Go %s\n", version, runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
	return nil
}
