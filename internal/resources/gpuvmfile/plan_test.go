package gpuvmfile_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/agentenv/terraform-provider-gpuvm/internal/acctest"
	"github.com/agentenv/terraform-provider-gpuvm/internal/provider"
)

const kind = "gpuvm_file"

// world is a service with one machine, and a provider for it at the level of the protocol.
func world(t *testing.T) (*acctest.GPUVM, *acctest.Protocol, string) {
	t.Helper()
	service := acctest.NewGPUVM(t)
	id := service.Make(t, `{"image":"client","cpu":1,"memory_mb":1024,"disk_gb":10,"ttl_seconds":600,"ports":[],"labels":{},"priority":null}`)
	return service, acctest.NewProtocol(t, provider.GPUVM("test")(), acctest.Values{"base_url": service.URL, "api_token": service.Token, "max_retries": 0}), id
}

func TestBadInputIsRefusedBeforeAnythingIsSent(t *testing.T) {
	t.Parallel()
	service, protocol, id := world(t)
	for title, test := range map[string]struct {
		config acctest.Values
		says   string
	}{
		"no content":       {acctest.Values{}, "this one has none"},
		"two contents":     {acctest.Values{"content": "x", "content_wo": "y"}, "content and content_wo"},
		"not base64":       {acctest.Values{"content_base64": "%%%"}, "isn't base64"},
		"version of none":  {acctest.Values{"content": "x", "content_wo_version": 1}, "content_wo"},
		"half a version":   {acctest.Values{"content_wo": "x", "content_wo_version": 1.5}, "1.5 is not a whole number"},
		"relative path":    {acctest.Values{"content": "x", "path": "etc/motd"}, "must be one that is an absolute path"},
		"a folder":         {acctest.Values{"content": "x", "path": "/etc/"}, "must be one that is an absolute path"},
		"dotted path":      {acctest.Values{"content": "x", "path": "/etc/../x"}, "must be one that is an absolute path"},
		"empty path":       {acctest.Values{"content": "x", "path": ""}, "must be one that is an absolute path"},
		"empty instance":   {acctest.Values{"content": "x", "instance_id": ""}, "at least 1"},
		"empty source":     {acctest.Values{"source": ""}, "at least 1"},
		"missing source":   {acctest.Values{"source": "/no/such/file"}, "no such file"},
		"source a folder":  {acctest.Values{"source": t.TempDir()}, "can't be read"},
		"sha256 by a user": {acctest.Values{"content": "x", "sha256": "y"}, "read-only"},
	} {
		for name, value := range map[string]string{"instance_id": id, "path": "/etc/motd"} {
			if _, given := test.config[name]; !given {
				test.config[name] = value
			}
		}
		change := protocol.PlanChange(t.Context(), kind, acctest.Object{}, test.config)
		if text := acctest.Text(change.Diagnostics); !strings.Contains(text, test.says) {
			t.Errorf("%s: %q doesn't say %q", title, text, test.says)
		}
	}
	if sent := service.Faults().Total(); sent > 1 { // the one that made the machine
		t.Errorf("%d requests were sent", sent)
	}
}

func TestUnknownValuesPassThePlan(t *testing.T) {
	t.Parallel()
	_, protocol, _ := world(t)
	for _, content := range []string{"content", "content_base64", "content_wo", "source"} {
		change := protocol.PlanChange(t.Context(), kind, acctest.Object{}, acctest.Values{
			"instance_id": acctest.Unknown, "path": acctest.Unknown, content: acctest.Unknown,
		})
		if len(change.Diagnostics) > 0 {
			t.Errorf("%s: %s", content, acctest.Text(change.Diagnostics))
		}
	}
}

func TestWhatReplaces(t *testing.T) {
	t.Parallel()
	_, protocol, id := world(t)
	made, diagnostics := protocol.Apply(t.Context(), protocol.PlanChange(t.Context(), kind, acctest.Object{}, acctest.Values{"instance_id": id, "path": "/etc/motd", "content": "x"}))
	if len(diagnostics) > 0 {
		t.Fatal(acctest.Text(diagnostics))
	}
	for title, test := range map[string]struct {
		config acctest.Values
		want   []string
	}{
		"nothing":          {acctest.Values{"instance_id": id, "path": "/etc/motd", "content": "x"}, nil},
		"instance":         {acctest.Values{"instance_id": "vm-2", "path": "/etc/motd", "content": "x"}, []string{"instance_id"}},
		"unknown instance": {acctest.Values{"instance_id": acctest.Unknown, "path": "/etc/motd", "content": "x"}, []string{"instance_id"}},
		"path":             {acctest.Values{"instance_id": id, "path": "/etc/issue", "content": "x"}, []string{"path"}},
		"content":          {acctest.Values{"instance_id": id, "path": "/etc/motd", "content": "y"}, nil},
		"secret content":   {acctest.Values{"instance_id": id, "path": "/etc/motd", "content_wo": "y", "content_wo_version": 1}, nil},
	} {
		change := protocol.PlanChange(t.Context(), kind, made, test.config)
		if len(change.Diagnostics) > 0 || !slices.Equal(change.Replace, test.want) {
			t.Errorf("%s: %q replaces, want %q; %s", title, change.Replace, test.want, acctest.Text(change.Diagnostics))
		}
	}
}
