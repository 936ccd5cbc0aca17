package connection

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	lifecycle "github.com/agentenv/terraform-provider-gpuvm/internal/lifecycle/opensandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/wholenumber"
)

func TestOpenSandboxAddress(t *testing.T) {
	for title, c := range map[string]struct {
		domain, protocol types.String
		environment      map[string]string
		want             string
	}{
		"nothing":            {types.StringNull(), types.StringNull(), nil, "http://localhost:8080/v1"},
		"domain":             {types.StringValue("box.example:1234"), types.StringNull(), nil, "http://box.example:1234/v1"},
		"protocol":           {types.StringValue("box.example"), types.StringValue("https"), nil, "https://box.example/v1"},
		"scheme wins":        {types.StringValue("http://box.example"), types.StringValue("https"), nil, "http://box.example/v1"},
		"path":               {types.StringValue("box.example/boxes/"), types.StringNull(), nil, "http://box.example/boxes/v1"},
		"version":            {types.StringValue("box.example/v1"), types.StringNull(), nil, "http://box.example/v1"},
		"environment":        {types.StringNull(), types.StringNull(), map[string]string{"OPEN_SANDBOX_DOMAIN": "a.example", "OPENSANDBOX_DOMAIN": "b.example", "OPEN_SANDBOX_PROTOCOL": "https"}, "https://a.example/v1"},
		"second environment": {types.StringNull(), types.StringNull(), map[string]string{"OPENSANDBOX_DOMAIN": "b.example"}, "http://b.example/v1"},
		"empty attribute":    {types.StringValue(" "), types.StringValue(""), map[string]string{"OPEN_SANDBOX_DOMAIN": "a.example"}, "http://a.example/v1"},
		"attribute wins":     {types.StringValue("c.example"), types.StringValue("http"), map[string]string{"OPEN_SANDBOX_DOMAIN": "a.example", "OPEN_SANDBOX_PROTOCOL": "https"}, "http://c.example/v1"},
	} {
		for _, variable := range []string{"OPEN_SANDBOX_DOMAIN", "OPENSANDBOX_DOMAIN", "OPEN_SANDBOX_PROTOCOL"} {
			t.Setenv(variable, c.environment[variable])
		}
		got, err := OpenSandboxModel{Domain: c.domain, Protocol: c.protocol}.baseURL()
		if err != nil || got != c.want {
			t.Errorf("%s: %q (%v), want %q", title, got, err, c.want)
		}
	}
	for _, domain := range []string{"ftp://box.example", "https://", "http://user@box.example", "box.example?x=y", "%zz"} {
		if got, err := (OpenSandboxModel{Domain: types.StringValue(domain)}).baseURL(); err == nil {
			t.Errorf("%q is taken as %q", domain, got)
		}
	}
	for _, domain := range []string{"http://user:hunter2@box.example", "ftp://user:hunter2@box.example", "user:hunter2%@box.example", "user:hunter2@"} {
		if _, err := (OpenSandboxModel{Domain: types.StringValue(domain)}).baseURL(); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v", domain, err)
		}
	}
}

func block(values map[string]attr.Value) types.Object {
	kinds := map[string]attr.Type{}
	for name, value := range values {
		kinds[name] = value.Type(context.Background())
	}
	return types.ObjectValueMust(kinds, values)
}

func bare() OpenSandboxModel {
	return OpenSandboxModel{
		Settings: Settings{
			RequestTimeoutSeconds: wholenumber.Null(), MaxRetries: wholenumber.Null(), RetryMaxDelaySeconds: wholenumber.Null(),
			Headers: types.MapNull(types.StringType),
		},
		Domain: types.StringValue("127.0.0.1:1"), DefaultMetadata: types.MapNull(types.StringType),
		Create: types.ObjectNull(nil), Probe: types.ObjectNull(nil), Operations: types.ObjectNull(nil),
	}
}

func TestOpenSandboxNeedsNoKey(t *testing.T) {
	t.Setenv("OPEN_SANDBOX_API_KEY", "")
	t.Setenv("OPENSANDBOX_API_KEY", "")
	var diags diag.Diagnostics
	if NewOpenSandbox(t.Context(), bare(), "agent", &diags).Lifecycle(&diags) == nil || len(diags) > 0 {
		t.Errorf("%v", diags)
	}
}

func TestAKeyOverPlainHTTPIsAWarning(t *testing.T) {
	t.Setenv("OPEN_SANDBOX_API_KEY", "")
	t.Setenv("OPENSANDBOX_API_KEY", "")
	model := bare()
	model.Domain = types.StringValue("box.example")
	var diags diag.Diagnostics
	NewOpenSandbox(t.Context(), model, "agent", &diags)
	if len(diags) > 0 {
		t.Errorf("without a key: %v", diags)
	}
	model.APIKey = types.StringValue("a-key")
	NewOpenSandbox(t.Context(), model, "agent", &diags)
	if len(diags) != 1 || diags[0].Severity() != diag.SeverityWarning || !strings.Contains(diags[0].Summary(), "API key is sent unencrypted") {
		t.Errorf("with one: %v", diags)
	}
}

func TestProbeDefaults(t *testing.T) {
	t.Parallel()
	marked := lifecycle.Probe{Line: "printf opensandbox-ready", Expected: "opensandbox-ready", Timeout: 30 * time.Second, StableCount: 1}
	for title, c := range map[string]struct {
		command, expected types.String
		want              lifecycle.Probe
	}{
		"nothing":  {types.StringNull(), types.StringNull(), marked},
		"off":      {types.StringValue(""), types.StringNull(), lifecycle.Probe{Timeout: 30 * time.Second, StableCount: 1}},
		"command":  {types.StringValue("true"), types.StringNull(), lifecycle.Probe{Line: "true", Timeout: 30 * time.Second, StableCount: 1}},
		"both":     {types.StringValue("date"), types.StringValue("20"), lifecycle.Probe{Line: "date", Expected: "20", Timeout: 30 * time.Second, StableCount: 1}},
		"expected": {types.StringNull(), types.StringValue("ready"), lifecycle.Probe{Line: "printf opensandbox-ready", Expected: "ready", Timeout: 30 * time.Second, StableCount: 1}},
	} {
		b := probeBlock{Command: c.command, ExpectedStdout: c.expected, TimeoutSeconds: wholenumber.Null(), DeadlineSeconds: wholenumber.Null(), StableCount: wholenumber.Null(), StableDelaySeconds: wholenumber.Null()}
		if got := b.probe(); got != c.want {
			t.Errorf("%s: %+v", title, got)
		}
	}
}

// What the operations block sets rules over the connection settings, and they over its defaults.
func TestOperationsRuleOverTheConnectionSettings(t *testing.T) {
	t.Parallel()
	none := operationsBlock{Retries: wholenumber.Null(), RetryDelaySeconds: wholenumber.Null(), RetryMaxDelaySeconds: wholenumber.Null(), CommandRetries: wholenumber.Null(), CloseTimeoutSeconds: wholenumber.Null()}
	set := none
	set.Retries, set.RetryMaxDelaySeconds, set.RetryDelaySeconds, set.CommandRetries, set.CloseTimeoutSeconds = wholenumber.Of(0), wholenumber.Of(5), wholenumber.Of(0), wholenumber.Of(2), wholenumber.Of(9)
	general := Settings{MaxRetries: wholenumber.Of(7), RetryMaxDelaySeconds: wholenumber.Of(70)}
	unset := Settings{MaxRetries: wholenumber.Null(), RetryMaxDelaySeconds: wholenumber.Null()}
	for title, c := range map[string]struct {
		block   operationsBlock
		general Settings
		want    lifecycle.Operations
	}{
		"defaults":   {none, unset, lifecycle.Operations{Retry: lifecycle.Retry{Times: 3, Delay: time.Second, MaxDelay: 15 * time.Second}, CloseTimeout: 30 * time.Second}},
		"connection": {none, general, lifecycle.Operations{Retry: lifecycle.Retry{Times: 7, Delay: time.Second, MaxDelay: 70 * time.Second}, CloseTimeout: 30 * time.Second}},
		"block":      {set, general, lifecycle.Operations{Retry: lifecycle.Retry{MaxDelay: 5 * time.Second}, CommandRetries: 2, CloseTimeout: 9 * time.Second}},
	} {
		if got := c.block.settings(c.general); got != c.want {
			t.Errorf("%s: %+v", title, got)
		}
	}
}

func TestCreateDefaults(t *testing.T) {
	t.Parallel()
	var diags diag.Diagnostics
	model := bare()
	model.Create = block(map[string]attr.Value{
		"request_timeout_seconds": wholenumber.Null(), "retries": wholenumber.Null(), "retry_delay_seconds": wholenumber.Null(),
		"retry_max_delay_seconds": wholenumber.Null(), "skip_health_check": types.BoolValue(true), "image_pull_policy": types.StringNull(),
	})
	service := NewOpenSandbox(t.Context(), model, "agent", &diags)
	if diags.HasError() || !service.SkipHealthCheck || service.ImagePullPolicy != "IfNotPresent" {
		t.Errorf("%+v %v", service.Manner, diags)
	}
	want := lifecycle.CreateSettings{Timeout: 20 * time.Minute, Retry: lifecycle.Retry{Times: 2, Delay: 5 * time.Second, MaxDelay: time.Minute}}
	if got := (createBlock{RequestTimeoutSeconds: wholenumber.Null(), Retries: wholenumber.Null(), RetryDelaySeconds: wholenumber.Null(), RetryMaxDelaySeconds: wholenumber.Null()}).settings(); got != want {
		t.Errorf("%+v", got)
	}
}

// The transport has names of its own for what it is made with.
func TestUnusableOpenSandboxSettingsAreNamedOnTheirAttribute(t *testing.T) {
	for want, set := range map[string]func(*OpenSandboxModel){
		"domain":         func(m *OpenSandboxModel) { m.Domain = types.StringValue("127.0.0.1:70000") },
		"api_key":        func(m *OpenSandboxModel) { m.APIKey = types.StringValue("two\nlines") },
		"ca_certificate": func(m *OpenSandboxModel) { m.CACertificate = types.StringValue("no PEM") },
	} {
		model := bare()
		set(&model)
		var diags diag.Diagnostics
		NewOpenSandbox(t.Context(), model, "agent", &diags)
		if !diags.HasError() {
			t.Errorf("%s: no error", want)
			continue
		}
		at, ok := diags.Errors()[0].(diag.DiagnosticWithPath)
		if !ok || at.Path().String() != want || strings.Contains(at.Detail(), "base_url") || strings.Contains(at.Detail(), "two") {
			t.Errorf("%s: %v", want, diags)
		}
	}
}
