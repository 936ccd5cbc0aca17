// Package connection is what both provider blocks say about reaching their service, and what a configured provider
// hands to its resources.
package connection

import (
	"context"
	"os"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/agentenv/terraform-provider-gpuvm/internal/apiclient"
	"github.com/agentenv/terraform-provider-gpuvm/internal/labels"
	"github.com/agentenv/terraform-provider-gpuvm/internal/redact"
	"github.com/agentenv/terraform-provider-gpuvm/internal/wholenumber"
)

// Settings are the connection attributes that both provider blocks have.
type Settings struct {
	RequestTimeoutSeconds wholenumber.Value `tfsdk:"request_timeout_seconds"`
	MaxRetries            wholenumber.Value `tfsdk:"max_retries"`
	RetryMaxDelaySeconds  wholenumber.Value `tfsdk:"retry_max_delay_seconds"`
	Headers               types.Map         `tfsdk:"headers"`
	CACertificate         types.String      `tfsdk:"ca_certificate"`
	ClientCertificate     types.String      `tfsdk:"client_certificate"`
	ClientKey             types.String      `tfsdk:"client_key"`
}

// Defaults of the connection settings.
const (
	defaultRequestTimeout = 30 * time.Second
	defaultMaxRetries     = 4
	defaultRetryMaxDelay  = 30 * time.Second
	retryMinDelay         = 500 * time.Millisecond
)

// Attributes is the schema of Settings, to be merged into a provider's own. retries and longestPause say what rules where
// max_retries and retry_max_delay_seconds aren't set.
func Attributes(retries, longestPause string) map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"request_timeout_seconds": schema.Int64Attribute{
			MarkdownDescription: "Seconds that one attempt of a request may take, 1 or more. Commands that run in a machine have no such limit. Defaults to `30`.",
			Optional:            true, CustomType: wholenumber.Type{},
			Validators: []validator.Int64{int64validator.AtLeast(1)},
		},
		"max_retries": schema.Int64Attribute{
			MarkdownDescription: "How often a request is repeated after a failure that a repetition can heal, 0 to 100. A request that may have made a machine is never repeated blindly. Defaults to " + retries + ".",
			Optional:            true, CustomType: wholenumber.Type{},
			Validators: []validator.Int64{int64validator.Between(0, 100)},
		},
		"retry_max_delay_seconds": schema.Int64Attribute{
			MarkdownDescription: "The longest pause between two attempts in seconds, 0 or more. A `Retry-After` of the service is obeyed in full whatever stands here. Defaults to " + longestPause + ".",
			Optional:            true, CustomType: wholenumber.Type{},
			Validators: []validator.Int64{int64validator.AtLeast(0)},
		},
		"headers": schema.MapAttribute{
			MarkdownDescription: "Further headers of each request to the service, for example for a gateway before it. Defaults to none.",
			Optional:            true, Sensitive: true, ElementType: types.StringType,
		},
		"ca_certificate": schema.StringAttribute{
			MarkdownDescription: "PEM certificates of authorities to trust beside the system's. Defaults to none.",
			Optional:            true,
		},
		"client_certificate": schema.StringAttribute{
			MarkdownDescription: "PEM certificate by which this client identifies itself (mutual TLS); needs `client_key`. Defaults to none.",
			Optional:            true,
			Validators:          []validator.String{stringvalidator.AlsoRequires(path.MatchRoot("client_key"))},
		},
		"client_key": schema.StringAttribute{
			MarkdownDescription: "PEM private key of `client_certificate`. Defaults to none.",
			Optional:            true, Sensitive: true,
			Validators: []validator.String{stringvalidator.AlsoRequires(path.MatchRoot("client_certificate"))},
		},
	}
}

// unknown names the settings whose value isn't known yet.
func (s Settings) unknown() []string {
	var names []string
	for name, isUnknown := range map[string]bool{
		"request_timeout_seconds": s.RequestTimeoutSeconds.IsUnknown(),
		"max_retries":             s.MaxRetries.IsUnknown(),
		"retry_max_delay_seconds": s.RetryMaxDelaySeconds.IsUnknown(),
		"headers":                 !mapKnown(s.Headers),
		"ca_certificate":          s.CACertificate.IsUnknown(),
		"client_certificate":      s.ClientCertificate.IsUnknown(),
		"client_key":              s.ClientKey.IsUnknown(),
	} {
		if isUnknown {
			names = append(names, name)
		}
	}
	return names
}

func mapKnown(m types.Map) bool {
	_, known := labels.FromMap(m)
	return known
}

// config is the transport's configuration; address and credential are the provider's to add.
func (s Settings) config(userAgent string) apiclient.Config {
	headers, _ := labels.FromMap(s.Headers)
	return apiclient.Config{
		Headers:           headers,
		UserAgent:         userAgent,
		RequestTimeout:    seconds(s.RequestTimeoutSeconds, defaultRequestTimeout),
		MaxRetries:        int(number(s.MaxRetries, defaultMaxRetries)),
		RetryMinDelay:     retryMinDelay,
		RetryMaxDelay:     seconds(s.RetryMaxDelaySeconds, defaultRetryMaxDelay),
		CACertificate:     s.CACertificate.ValueString(),
		ClientCertificate: s.ClientCertificate.ValueString(),
		ClientKey:         s.ClientKey.ValueString(),
		Log:               func(ctx context.Context, message string, fields map[string]any) { tflog.Debug(ctx, message, fields) },
	}
}

func number(v wholenumber.Value, fallback int64) int64 {
	if v.IsNull() {
		return fallback
	}
	return v.ValueInt64()
}

func seconds(v wholenumber.Value, fallback time.Duration) time.Duration {
	if v.IsNull() {
		return fallback
	}
	return v.Seconds()
}

// UserAgent names the provider, its version and Terraform's; what TF_APPEND_USER_AGENT holds stands behind.
func UserAgent(program, version, terraformVersion string) string {
	agent := program + "/" + version
	if terraformVersion != "" {
		agent += " (terraform " + terraformVersion + ")"
	}
	// A line break, which a header can't hold, counts as a space.
	if extra := strings.Join(strings.Fields(os.Getenv("TF_APPEND_USER_AGENT")), " "); extra != "" {
		agent += " " + extra
	}
	return agent
}

// setting is an attribute's value, else that of the first of its environment variables that isn't empty. An empty
// attribute counts as absent.
func setting(v types.String, variables ...string) string {
	if value := strings.TrimSpace(v.ValueString()); value != "" {
		return value
	}
	for _, variable := range variables {
		if value := strings.TrimSpace(os.Getenv(variable)); value != "" {
			return value
		}
	}
	return ""
}

// requireKnown refuses a call that needs a provider setting whose value isn't known yet.
func requireKnown(provider string, unknown []string, diags *diag.Diagnostics) bool {
	for _, name := range unknown {
		diags.AddError("Provider setting "+name+" isn't known yet",
			"This needs an answer of the service, but the provider "+provider+"'s "+name+" depends on something that isn't made yet.\n\n"+
				"What to do: make that first, with terraform apply -target=<what "+name+" comes from>, then apply the rest.")
	}
	return len(unknown) == 0
}

func logProgress(ctx context.Context, message string, fields map[string]any) {
	for name, value := range fields {
		if text, ok := value.(string); ok {
			fields[name] = redact.Text(ctx, text)
		}
	}
	tflog.Info(ctx, redact.Text(ctx, message), fields)
}
