package connection

import (
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentenv/terraform-provider-gpuvm/internal/wholenumber"
)

func complete() GPUVMModel {
	return GPUVMModel{
		BaseURL: types.StringValue("http://127.0.0.1:1/prefix/"), APIToken: types.StringValue("a-token"),
		Settings: Settings{
			RequestTimeoutSeconds: wholenumber.Null(), MaxRetries: wholenumber.Null(), RetryMaxDelaySeconds: wholenumber.Null(),
			Headers: types.MapNull(types.StringType),
		},
		BootTimeoutSeconds: wholenumber.Null(), DefaultLabels: types.MapNull(types.StringType),
	}
}

func TestAllThatIsMissingIsNamedAtOnce(t *testing.T) {
	for title, empty := range map[string]types.String{"absent": types.StringNull(), "empty": types.StringValue(" ")} {
		t.Setenv("GPU_VM_URL", "")
		t.Setenv("GPU_VM_TOKEN", "")
		model := complete()
		model.BaseURL, model.APIToken = empty, empty
		var diags diag.Diagnostics
		NewGPUVM(model, "agent", &diags)
		if len(diags) != 2 {
			t.Fatalf("%s: %v", title, diags)
		}
		for i, want := range []string{"GPU_VM_URL", "GPU_VM_TOKEN"} {
			if !strings.Contains(diags[i].Detail(), want) {
				t.Errorf("%s: %s", title, diags[i].Detail())
			}
		}
	}
}

func TestTheEnvironmentStandsInForWhatIsAbsentOrEmptyOnly(t *testing.T) {
	t.Setenv("GPU_VM_URL", "http://127.0.0.1:2")
	t.Setenv("GPU_VM_TOKEN", "token-of-the-environment\n")
	for title, c := range map[string]struct {
		url, token types.String
		ready      bool
	}{
		"absent":        {types.StringNull(), types.StringNull(), true},
		"empty":         {types.StringValue(""), types.StringValue(""), true},
		"url unknown":   {types.StringUnknown(), types.StringNull(), false},
		"token unknown": {types.StringNull(), types.StringUnknown(), false},
	} {
		model := complete()
		model.BaseURL, model.APIToken = c.url, c.token
		var diags diag.Diagnostics
		service := NewGPUVM(model, "agent", &diags)
		if diags.HasError() {
			t.Errorf("%s: configuring failed: %v", title, diags)
		}
		if got := service.Lifecycle(&diags); (got != nil) != c.ready || diags.HasError() == c.ready {
			t.Errorf("%s: lifecycle %v, %v", title, got, diags)
		}
		if !c.ready && !strings.Contains(diags[0].Detail(), "-target") {
			t.Errorf("%s: %s", title, diags[0].Detail())
		}
	}
}

func TestEachUnknownSettingIsNamedWhenACallNeedsIt(t *testing.T) {
	for name, set := range map[string]func(*GPUVMModel){
		"request_timeout_seconds": func(m *GPUVMModel) { m.RequestTimeoutSeconds = wholenumber.Unknown() },
		"max_retries":             func(m *GPUVMModel) { m.MaxRetries = wholenumber.Unknown() },
		"retry_max_delay_seconds": func(m *GPUVMModel) { m.RetryMaxDelaySeconds = wholenumber.Unknown() },
		"headers":                 func(m *GPUVMModel) { m.Headers = types.MapUnknown(types.StringType) },
		"ca_certificate":          func(m *GPUVMModel) { m.CACertificate = types.StringUnknown() },
		"client_certificate":      func(m *GPUVMModel) { m.ClientCertificate = types.StringUnknown() },
		"client_key":              func(m *GPUVMModel) { m.ClientKey = types.StringUnknown() },
	} {
		model := complete()
		set(&model)
		var diags diag.Diagnostics
		service := NewGPUVM(model, "agent", &diags)
		if diags.HasError() {
			t.Errorf("%s: configuring failed: %v", name, diags)
		}
		service.Lifecycle(&diags)
		if !diags.HasError() || !strings.Contains(diags.Errors()[0].Summary(), name) {
			t.Errorf("%s: %v", name, diags)
		}
	}
}

func TestUnknownAttributionIsNeededByACreateOnly(t *testing.T) {
	model := complete()
	model.Attribution = &AttributionBlock{Team: types.StringUnknown()}
	var diags diag.Diagnostics
	service := NewGPUVM(model, "agent", &diags)
	if service.Lifecycle(&diags) == nil || diags.HasError() {
		t.Errorf("a call without a create: %v", diags)
	}
	if _, ok := service.Attribution(&diags); ok || !diags.HasError() {
		t.Errorf("a create: %v", diags)
	}
}

func TestUnusableSettingsAreNamedOnTheirAttribute(t *testing.T) {
	for want, set := range map[string]func(*GPUVMModel){
		"base_url":       func(m *GPUVMModel) { m.BaseURL = types.StringValue("vms.example.com") },
		"ca_certificate": func(m *GPUVMModel) { m.CACertificate = types.StringValue("no PEM") },
		"client_certificate": func(m *GPUVMModel) {
			m.ClientCertificate, m.ClientKey = types.StringValue("no PEM"), types.StringValue("no PEM")
		},
		"api_token": func(m *GPUVMModel) { m.APIToken = types.StringValue("two\nlines") },
		"headers": func(m *GPUVMModel) {
			m.Headers = types.MapValueMust(types.StringType, map[string]attr.Value{"bad name": types.StringValue("x")})
		},
	} {
		model := complete()
		set(&model)
		var diags diag.Diagnostics
		NewGPUVM(model, "agent", &diags)
		if !diags.HasError() {
			t.Errorf("%s: no error", want)
			continue
		}
		at, ok := diags.Errors()[0].(diag.DiagnosticWithPath)
		if !ok || at.Path().String() != want {
			t.Errorf("%s: %v", want, diags)
		}
	}
}

func TestPlainHTTPWarnsButOnLoopback(t *testing.T) {
	for url, warns := range map[string]bool{
		"http://127.0.0.1:80": false, "http://localhost": false, "http://[::1]:8": false, "https://vms.example.com": false, "http://vms.example.com": true, "http://10.0.0.1": true,
	} {
		model := complete()
		model.BaseURL = types.StringValue(url)
		var diags diag.Diagnostics
		NewGPUVM(model, "agent", &diags)
		if diags.HasError() || (diags.WarningsCount() == 1) != warns {
			t.Errorf("%s: %v", url, diags)
		}
	}
}

func TestUnknownDefaultLabelsAreNeededByACreateOnly(t *testing.T) {
	model := complete()
	model.DefaultLabels = types.MapUnknown(types.StringType)
	var diags diag.Diagnostics
	service := NewGPUVM(model, "agent", &diags)
	if service.Lifecycle(&diags) == nil || diags.HasError() {
		t.Errorf("a call without a create: %v", diags)
	}
	if service.KnownDefaults(&diags); !diags.HasError() || !strings.Contains(diags.Errors()[0].Summary(), "default_labels") {
		t.Errorf("a create: %v", diags)
	}
}

// "For ever" is a number of seconds that no duration holds.
func TestEndlessTimeouts(t *testing.T) {
	model := complete()
	model.BootTimeoutSeconds = wholenumber.Of(1 << 62)
	var diags diag.Diagnostics
	if got := NewGPUVM(model, "agent", &diags).BootTimeout; got < 24*time.Hour || got+got < got {
		t.Errorf("got %s", got)
	}
}

func TestUserAgentNamesProgramTerraformAndWhatTheEnvironmentAdds(t *testing.T) {
	t.Setenv("TF_APPEND_USER_AGENT", " pipeline/7\n build/9 ")
	if got, want := UserAgent("terraform-provider-gpuvm", "1.2.3", "1.11.4"), "terraform-provider-gpuvm/1.2.3 (terraform 1.11.4) pipeline/7 build/9"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
