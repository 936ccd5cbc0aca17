package gpuvmexec_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/agentenv/terraform-provider-gpuvm/internal/acctest"
	"github.com/agentenv/terraform-provider-gpuvm/internal/provider"
)

const kind = "gpuvm_exec"

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
		"no command":      {acctest.Values{}, "here is neither"},
		"two commands":    {acctest.Values{"argv": []string{"ls"}, "script": "ls"}, "here are both"},
		"empty script":    {acctest.Values{"script": ""}, "Script is empty"},
		"empty argv":      {acctest.Values{"argv": []string{}}, "here is no element"},
		"empty instance":  {acctest.Values{"argv": []string{"ls"}, "instance_id": ""}, "at least 1"},
		"no code":         {acctest.Values{"argv": []string{"ls"}, "expected_exit_codes": []int{}}, "no command could ever succeed"},
		"code out of 255": {acctest.Values{"argv": []string{"ls"}, "expected_exit_codes": []int{300}}, "300 is not from -255 to 255"},
		"half a code":     {acctest.Values{"argv": []string{"ls"}, "expected_exit_codes": []float64{0.5}}, "0.5 is not a whole number"},
		"null code":       {acctest.Values{"argv": []string{"ls"}, "expected_exit_codes": []any{nil}}, "element is null"},
		"no time":         {acctest.Values{"argv": []string{"ls"}, "timeouts": acctest.Values{"create": "-5m"}}, "must be more than 0"},
	} {
		if _, given := test.config["instance_id"]; !given {
			test.config["instance_id"] = id
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

func TestWhatReplaces(t *testing.T) {
	t.Parallel()
	_, protocol, id := world(t)
	made, diagnostics := protocol.Apply(t.Context(), protocol.PlanChange(t.Context(), kind, acctest.Object{}, acctest.Values{"instance_id": id, "script": "true"}))
	if len(diagnostics) > 0 {
		t.Fatal(acctest.Text(diagnostics))
	}
	for title, test := range map[string]struct {
		config acctest.Values
		want   []string
	}{
		"nothing":          {acctest.Values{"script": "true"}, nil},
		"instance":         {acctest.Values{"script": "true", "instance_id": "vm-2"}, []string{"instance_id"}},
		"unknown instance": {acctest.Values{"script": "true", "instance_id": acctest.Unknown}, []string{"instance_id"}},
		"script":           {acctest.Values{"script": "false"}, []string{"script"}},
		"unknown script":   {acctest.Values{"script": acctest.Unknown}, []string{"script"}},
		"argv":             {acctest.Values{"argv": []string{"true"}}, []string{"argv", "script"}},
		"triggers":         {acctest.Values{"script": "true", "triggers": map[string]string{"a": "b"}}, []string{"triggers"}},
		"empty triggers":   {acctest.Values{"script": "true", "triggers": map[string]string{}}, nil},
		"unknown triggers": {acctest.Values{"script": "true", "triggers": acctest.Unknown}, []string{"triggers"}},
		"codes":            {acctest.Values{"script": "true", "expected_exit_codes": []int{0, 1}}, nil},
		"timeouts":         {acctest.Values{"script": "true", "timeouts": acctest.Values{"create": "5m"}}, nil},
	} {
		if _, given := test.config["instance_id"]; !given {
			test.config["instance_id"] = id
		}
		change := protocol.PlanChange(t.Context(), kind, made, test.config)
		if len(change.Diagnostics) > 0 || !slices.Equal(change.Replace, test.want) {
			t.Errorf("%s: %q replaces, want %q; %s", title, change.Replace, test.want, acctest.Text(change.Diagnostics))
		}
		if code := change.Attributes["exit_code"]; !code.IsKnown() {
			t.Errorf("%s: exit_code is planned unknown", title)
		}
	}
}

func TestAnIDThatIsNoPathSegmentIsNeverSent(t *testing.T) {
	t.Parallel()
	service, protocol, _ := world(t)
	for _, id := range []string{".", ".."} {
		_, diagnostics := protocol.Apply(t.Context(), protocol.PlanChange(t.Context(), kind, acctest.Object{}, acctest.Values{"instance_id": id, "script": "true"}))
		if text := acctest.Text(diagnostics); !strings.Contains(text, "Script was not run to its end in "+id) {
			t.Errorf("%q", text)
		}
	}
	if sent := service.Faults().Total(); sent > 1 {
		t.Errorf("%d requests were sent", sent)
	}
}
