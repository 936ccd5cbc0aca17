package connection

import (
	"context"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentenv/terraform-provider-gpuvm/internal/apiclient"
	api "github.com/agentenv/terraform-provider-gpuvm/internal/apiclient/opensandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/attribution"
	"github.com/agentenv/terraform-provider-gpuvm/internal/clock"
	"github.com/agentenv/terraform-provider-gpuvm/internal/labels"
	lifecycle "github.com/agentenv/terraform-provider-gpuvm/internal/lifecycle/opensandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/metadata"
	"github.com/agentenv/terraform-provider-gpuvm/internal/sandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/stillopen"
)

// OpenSandboxModel is the provider block "opensandbox".
type OpenSandboxModel struct {
	Settings
	Domain          types.String      `tfsdk:"domain"`
	APIKey          types.String      `tfsdk:"api_key"`
	Protocol        types.String      `tfsdk:"protocol"`
	UseServerProxy  types.Bool        `tfsdk:"use_server_proxy"`
	DefaultMetadata types.Map         `tfsdk:"default_metadata"`
	Create          types.Object      `tfsdk:"create"`
	Probe           types.Object      `tfsdk:"probe"`
	Operations      types.Object      `tfsdk:"operations"`
	Attribution     *AttributionBlock `tfsdk:"attribution"`
}

// OpenSandbox is what the configured provider hands to its resources.
type OpenSandbox struct {
	sandbox.Manner
	DefaultMetadata types.Map
	ServerProxy     bool               // whether sandboxes are reached through the server
	Ephemerals      *stillopen.Objects // those that are open; the provider sets it
	Clock           clock.Clock        // by which plans tell how much is left until an expiry

	attribution      attribution.Settings
	attributionKnown bool
	lifecycle        *lifecycle.Lifecycle
	connect          func(clock.Clock, *diag.Diagnostics) *lifecycle.Lifecycle
	unknown          []string
}

// DefaultAttributionPrefix is put before attribution keys where the block says nothing of it, as NeMo Gym does.
const DefaultAttributionPrefix = "nemo-gym.nvidia.com/"

const (
	defaultDomain   = "localhost:8080"
	defaultProtocol = "http"
)

// NewOpenSandbox reads the provider block. Nothing is sent. What isn't known yet is accepted until a call needs it; no
// default and no environment variable stands in for it.
func NewOpenSandbox(ctx context.Context, model OpenSandboxModel, userAgent string, diags *diag.Diagnostics) *OpenSandbox {
	c := &OpenSandbox{
		DefaultMetadata: model.DefaultMetadata, ServerProxy: model.UseServerProxy.ValueBool(),
		Clock: clock.System(), unknown: model.unknownSettings(),
	}
	c.attribution, c.attributionKnown = model.Attribution.settings(DefaultAttributionPrefix)
	create, operations := c.readBlocks(ctx, model, diags)
	if len(c.unknown) > 0 || diags.HasError() {
		return c
	}
	base, err := model.baseURL()
	if err != nil {
		diags.AddAttributeError(path.Root("domain"), "Provider setting domain can't be used", err.Error())
		return c
	}
	config := model.config(userAgent)
	config.BaseURL = base
	config.Credential = apiclient.Credential{Header: api.KeyHeader, Secret: setting(model.APIKey, "OPEN_SANDBOX_API_KEY", "OPENSANDBOX_API_KEY")}
	if config.Credential.Secret != "" {
		warnPlainHTTP(diags, path.Root("domain"), base, "API key")
	}
	c.connect = func(by clock.Clock, diags *diag.Diagnostics) *lifecycle.Lifecycle {
		config.Clock = by
		transport := newTransport(config, attributes{"domain", "api_key"}, diags)
		if transport == nil {
			return nil
		}
		return lifecycle.New(api.New(transport, base), lifecycle.Settings{
			ServerProxy: c.ServerProxy,
			Create:      create.settings(),
			Operations:  operations.settings(model.Settings),
			Clock:       by,
			Progress:    logProgress,
		})
	}
	c.lifecycle = c.connect(c.Clock, diags)
	return c
}

// UseClock lets plans, waits and retries go by another clock, for tests.
func (c *OpenSandbox) UseClock(by clock.Clock) {
	c.Clock = by
	if c.connect != nil {
		c.lifecycle = c.connect(by, &diag.Diagnostics{})
	}
}

// readBlocks reads the blocks whose values are all known; of the others, which no call will get past, nothing is read.
func (c *OpenSandbox) readBlocks(ctx context.Context, model OpenSandboxModel, diags *diag.Diagnostics) (createBlock, operationsBlock) {
	create, probe, operations := createBlock{}, probeBlock{}, operationsBlock{}
	c.read(ctx, "create", model.Create, &create, diags)
	c.read(ctx, "probe", model.Probe, &probe, diags)
	c.read(ctx, "operations", model.Operations, &operations, diags)
	c.ImagePullPolicy, c.SkipHealthCheck, c.Probe = create.pullPolicy(), create.SkipHealthCheck.ValueBool(), probe.probe()
	return create, operations
}

// unknownSettings names the attributes whose value isn't known yet.
func (m OpenSandboxModel) unknownSettings() []string {
	names := m.unknown()
	for name, value := range map[string]interface{ IsUnknown() bool }{
		"domain": m.Domain, "api_key": m.APIKey, "protocol": m.Protocol, "use_server_proxy": m.UseServerProxy,
	} {
		if value.IsUnknown() {
			names = append(names, name)
		}
	}
	return names
}

// baseURL is the address of the lifecycle API.
func (m OpenSandboxModel) baseURL() (string, error) {
	domain := setting(m.Domain, "OPEN_SANDBOX_DOMAIN", "OPENSANDBOX_DOMAIN")
	if domain == "" {
		domain = defaultDomain
	}
	protocol := setting(m.Protocol, "OPEN_SANDBOX_PROTOCOL")
	if protocol == "" {
		protocol = defaultProtocol
	}
	return api.BaseURL(domain, strings.ToLower(protocol))
}

// Lifecycle is the way to the server's sandboxes; nil, with the reason in diags, while the provider's settings aren't all
// known.
func (c *OpenSandbox) Lifecycle(diags *diag.Diagnostics) *lifecycle.Lifecycle {
	if !requireKnown("opensandbox", c.unknown, diags) {
		return nil
	}
	return c.lifecycle
}

// KnownDefaults is the provider's default_metadata; where its values aren't known, the reason goes into diags.
func (c *OpenSandbox) KnownDefaults(diags *diag.Diagnostics) types.Map {
	if _, known := labels.FromMap(c.DefaultMetadata); !known {
		requireKnown("opensandbox", []string{"default_metadata"}, diags)
	}
	return c.DefaultMetadata
}

// Attribution gives the metadata that attributes a sandbox made now; false, with the reason in diags, while the block
// isn't known.
func (c *OpenSandbox) Attribution(diags *diag.Diagnostics) (found map[string]string, ok bool) {
	if !c.attributionKnown {
		return nil, requireKnown("opensandbox", []string{"attribution"}, diags)
	}
	return metadata.NormalizeAll(c.attribution.Labels(attribution.Environment())), true
}

// Stamp gives the metadata that a sandbox made now carries: all of it, and what of it comes from the attribution block and
// isn't in effective, the metadata that is planned.
func (c *OpenSandbox) Stamp(ctx context.Context, effective types.Map, diags *diag.Diagnostics) (attribution types.Map, all map[string]string) {
	wanted, _ := labels.FromMap(effective)
	found, _ := c.Attribution(diags)
	return labels.ToMap(ctx, labels.Without(found, wanted), diags), labels.Merge(found, wanted)
}
