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

// newTransport makes the transport, or names the setting that it can't be made with.
func newTransport(config apiclient.Config, addressAttribute string, diags *diag.Diagnostics) *apiclient.Client {
	transport, err := apiclient.New(config)
	if err == nil {
		return transport
	}
	at := addressAttribute
	var wrong *apiclient.ConfigError
	if errors.As(err, &wrong) && wrong.Field != "base_url" {
		at = wrong.Field
	}
	diags.AddAttributeError(path.Root(at), "Provider setting "+at+" can't be used", err.Error())
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
