package opensandboxsandbox_test

import (
	"strings"
	"testing"

	"github.com/agentenv/terraform-provider-gpuvm/internal/acctest"
	fake "github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/opensandbox"
)

func TestServerProxyIsUsedForAll(t *testing.T) {
	t.Parallel()
	b := newBench(t, values{"use_server_proxy": true}, func(o *fake.Options) { o.ProxyAuth = true })
	config := with(busybox, values{"exposed_ports": []int{80}, "files": values{"/a": values{"content": "x"}}, "setup_script": "cat /a", "network_policy": values{"default_action": "deny"}})
	made := b.make(config)
	if url := texts(t, made.Attributes, "ports")["80"]; !strings.Contains(url, "/sandboxes/") || !strings.Contains(url, "/proxy/80") {
		t.Errorf("the URL of 80 is %s", url)
	}
	b.apply(b.refresh(made), with(config, values{"network_policy": values{"default_action": "allow"}}))
	for _, request := range b.server.Faults().Requests() {
		if strings.HasPrefix(request.Path, "/direct/") {
			t.Errorf("%s %s went past the server", request.Method, request.Path)
		}
	}
}

// What a provider block says about the create and the probe is heeded.
func TestProviderSettingsRuleTheCreate(t *testing.T) {
	t.Parallel()
	for title, c := range map[string]struct {
		block    values
		commands int
		pings    int
	}{
		"as it comes": {nil, 1, 1},
		"no probe":    {values{"probe": values{"command": ""}}, 0, 1},
		"stable":      {values{"probe": values{"stable_count": 3, "deadline_seconds": 60, "stable_delay_seconds": 1}}, 3, 1},
		"no check":    {values{"create": values{"skip_health_check": true}}, 1, 0},
		"nothing":     {values{"create": values{"skip_health_check": true}, "probe": values{"command": ""}}, 0, 0},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, c.block)
			b.make(with(busybox, values{"skip_health_check": false}))
			commands, pings := 0, 0
			for _, request := range b.server.Faults().Requests() {
				switch {
				case strings.HasSuffix(request.Path, "/command"):
					commands++
				case strings.HasSuffix(request.Path, "/ping"):
					pings++
				}
			}
			same(t, "commands", commands, c.commands)
			same(t, "pings", pings, c.pings)
		})
	}
}

func TestSandboxMayLeaveOutTheHealthCheck(t *testing.T) {
	t.Parallel()
	b := newBench(t, values{"probe": values{"command": ""}})
	b.make(with(busybox, values{"skip_health_check": true, "exposed_ports": []int{80}}))
	same(t, "requests", len(b.server.Faults().Requests()), 3)
}

func TestUnknownSettingsStopWhatNeedsThem(t *testing.T) {
	t.Parallel()
	for setting, block := range map[string]values{
		"domain": {"domain": acctest.Unknown}, "api_key": {"api_key": acctest.Unknown}, "protocol": {"protocol": acctest.Unknown},
		"use_server_proxy": {"use_server_proxy": acctest.Unknown}, "headers": {"headers": acctest.Unknown},
		"create.retries": {"create": values{"retries": acctest.Unknown}}, "probe.command": {"probe": values{"command": acctest.Unknown}},
		"operations": {"operations": acctest.Unknown}, "attribution": {"attribution": values{"team": acctest.Unknown}},
	} {
		t.Run(setting, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, block)
			_, said := b.refused(acctest.Object{}, busybox)
			if !strings.Contains(said, "Provider setting "+setting+" isn't known yet") || !strings.Contains(said, "-target") {
				t.Errorf("it says %s", said)
			}
			same(t, "requests", len(b.server.Faults().Requests()), 0)
		})
	}
}
