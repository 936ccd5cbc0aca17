package connection

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/agentenv/terraform-provider-gpuvm/internal/apiclient"
)

// attributes are a provider's own names for what every transport is made with.
type attributes struct{ address, secret string }

// newTransport makes the transport, or names the setting that it can't be made with.
func newTransport(config apiclient.Config, names attributes, diags *diag.Diagnostics) *apiclient.Client {
	transport, err := apiclient.New(config)
	if err == nil {
		return transport
	}
	at := names.address
	if wrong, ok := errors.AsType[*apiclient.ConfigError](err); ok {
		err = wrong.Err
		switch wrong.Field {
		case "base_url":
		case "credential":
			at = names.secret
		default:
			at = wrong.Field
		}
	}
	diags.AddAttributeError(path.Root(at), "Provider setting "+at+" can't be used", fmt.Sprintf("The setting %s: %v.", at, err))
	return nil
}

func missing(diags *diag.Diagnostics, attribute, what, variable string) {
	diags.AddAttributeError(path.Root(attribute), "Provider setting "+attribute+" is missing",
		fmt.Sprintf("The provider needs %s.\n\nWhat to do: set %s in the provider block, or the environment variable %s. An empty text counts as missing.", what, attribute, variable))
}

// warnPlainHTTP warns where a secret would cross a network unencrypted.
func warnPlainHTTP(diags *diag.Diagnostics, at path.Path, baseURL, secret string) {
	parsed, err := url.Parse(baseURL)
	if err != nil || parsed.Scheme != "http" || isLoopback(parsed.Hostname()) {
		return
	}
	diags.AddAttributeWarning(at, "The "+secret+" is sent unencrypted",
		fmt.Sprintf("The address is http and %s is not this machine, so whoever sits between can read the %s.\n\nWhat to do: use https where the service has it.", parsed.Hostname(), secret))
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || ip != nil && ip.IsLoopback()
}
