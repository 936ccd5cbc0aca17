package connection

import (
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentenv/terraform-provider-gpuvm/internal/apiclient"
	api "github.com/agentenv/terraform-provider-gpuvm/internal/apiclient/gpuvm"
	"github.com/agentenv/terraform-provider-gpuvm/internal/attribution"
	"github.com/agentenv/terraform-provider-gpuvm/internal/clock"
	"github.com/agentenv/terraform-provider-gpuvm/internal/labels"
	lifecycle "github.com/agentenv/terraform-provider-gpuvm/internal/lifecycle/gpuvm"
	"github.com/agentenv/terraform-provider-gpuvm/internal/wholenumber"
)

// GPUVMModel is the provider block "gpuvm".
type GPUVMModel struct {
	Settings
	BaseURL            types.String      `tfsdk:"base_url"`
	APIToken           types.String      `tfsdk:"api_token"`
	BootTimeoutSeconds wholenumber.Value `tfsdk:"boot_timeout_seconds"`
	DefaultLabels      types.Map         `tfsdk:"default_labels"`
	Attribution        *AttributionBlock `tfsdk:"attribution"`
}

// GPUVM is what the configured provider hands to its resources.
type GPUVM struct {
	BootTimeout   time.Duration
	DefaultLabels types.Map

	attribution      attribution.Settings
	attributionKnown bool
	lifecycle        *lifecycle.Lifecycle
	unknown          []string
}

const defaultBootTimeout = 600 * time.Second

// NewGPUVM reads the provider block. Nothing is sent. What is missing is named in one go, each on its attribute; what
// isn't known yet is accepted until a call needs it.
func NewGPUVM(model GPUVMModel, userAgent string, diags *diag.Diagnostics) *GPUVM {
	c := &GPUVM{
		BootTimeout:   seconds(model.BootTimeoutSeconds, defaultBootTimeout),
		DefaultLabels: model.DefaultLabels,
		unknown:       model.unknown(),
	}
	c.attribution, c.attributionKnown = model.Attribution.settings("")
	for name, value := range map[string]types.String{"base_url": model.BaseURL, "api_token": model.APIToken} {
		if value.IsUnknown() {
			c.unknown = append(c.unknown, name)
		}
	}
	baseURL, token := setting(model.BaseURL, "GPU_VM_URL"), setting(model.APIToken, "GPU_VM_TOKEN")
	if baseURL == "" && !model.BaseURL.IsUnknown() {
		missing(diags, "base_url", "the VM service's URL, such as https://vms.example.com", "GPU_VM_URL")
	}
	if token == "" && !model.APIToken.IsUnknown() {
		missing(diags, "api_token", "the VM service's bearer token", "GPU_VM_TOKEN")
	}
	if len(c.unknown) > 0 || diags.HasError() {
		return c
	}
	config := model.config(userAgent)
	config.BaseURL = baseURL
	config.Credential = apiclient.Credential{Header: "Authorization", Scheme: "Bearer ", Secret: token}
	warnPlainHTTP(diags, path.Root("base_url"), baseURL, "token")
	if transport := newTransport(config, attributes{"base_url", "api_token"}, diags); transport != nil {
		c.lifecycle = &lifecycle.Lifecycle{
			API:            api.New(transport),
			Clock:          clock.System(),
			Retries:        config.MaxRetries,
			Backoff:        transport.Backoff,
			RequestTimeout: config.RequestTimeout,
			Progress:       logProgress,
		}
	}
	return c
}

// Lifecycle is the way to the service's machines; nil, with the reason in diags, while the provider's settings aren't
// all known.
func (c *GPUVM) Lifecycle(diags *diag.Diagnostics) *lifecycle.Lifecycle {
	if !requireKnown("gpuvm", c.unknown, diags) {
		return nil
	}
	return c.lifecycle
}

// KnownDefaults are the provider's default_labels; where their values aren't known, the reason goes into diags.
func (c *GPUVM) KnownDefaults(diags *diag.Diagnostics) map[string]string {
	defaults, known := labels.FromMap(c.DefaultLabels)
	if !known {
		requireKnown("gpuvm", []string{"default_labels"}, diags)
	}
	return defaults
}

// Attribution gives the labels that attribute a machine made now; ok is false, with the reason in diags, while the
// block isn't known.
func (c *GPUVM) Attribution(diags *diag.Diagnostics) (found map[string]string, ok bool) {
	if !c.attributionKnown {
		return nil, requireKnown("gpuvm", []string{"attribution"}, diags)
	}
	return c.attribution.Labels(attribution.Environment()), true
}
