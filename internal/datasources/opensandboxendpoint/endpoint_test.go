package opensandboxendpoint_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/agentenv/terraform-provider-gpuvm/internal/acctest"
	fake "github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/opensandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/provider"
)

const body = `{"image":{"uri":"busybox"},"entrypoint":["tail"],"resourceLimits":{"cpu":"1"}}`

func endpoint(lines ...string) string {
	return "data \"opensandbox_endpoint\" \"web\" {\n  " + strings.Join(lines, "\n  ") + "\n}\n"
}

func TestAccWaysToAPort(t *testing.T) {
	server := acctest.NewOpenSandbox(t)
	id := server.Make(t, body)
	sandbox := `sandbox_id = "` + id + `"`
	direct, proxied := "/direct/"+id+"/8080", "/sandboxes/"+id+"/proxy/8080"
	for title, c := range map[string]struct {
		provider string
		lines    []string
		want     string
	}{
		"direct":                     {``, []string{sandbox, `port = 8080`}, direct},
		"through the server":         {``, []string{sandbox, `port = 8080`, `use_server_proxy = true`}, proxied},
		"as the provider says":       {`use_server_proxy = true`, []string{sandbox, `port = 8080`}, proxied},
		"against what it says":       {`use_server_proxy = true`, []string{sandbox, `port = 8080`, `use_server_proxy = false`}, direct},
		"whatever listens there":     {``, []string{sandbox, `port = 9`}, "/direct/" + id + "/44772/proxy/9"},
		"of a port that is a string": {``, []string{sandbox, `port = "8080"`}, direct},
	} {
		t.Run(title, func(t *testing.T) {
			acctest.Run(t, resource.TestCase{Steps: []resource.TestStep{{
				Config: server.Provider(c.provider) + endpoint(c.lines...),
				ConfigStateChecks: []statecheck.StateCheck{statecheck.ExpectKnownValue("data.opensandbox_endpoint.web", tfjsonpath.New("url"),
					knownvalue.StringRegexp(regexp.MustCompile("^http://127.0.0.1:[0-9]+"+regexp.QuoteMeta(c.want)+"$")))},
			}}})
		})
	}
}

func TestAccEndpointsThatAreRefused(t *testing.T) {
	for title, c := range map[string]struct{ line, says string }{
		"unknown sandbox": {`port = 80`, "Endpoint of port 80 of sandbox no-such can't be looked up"},
		"port 0":          {`port = 0`, "between 1 and 65535"},
		"port 70000":      {`port = 70000`, "between 1 and 65535"},
		"half a port":     {`port = 80.5`, "80.5 is not a whole number"},
	} {
		t.Run(title, func(t *testing.T) {
			server := acctest.NewOpenSandbox(t)
			acctest.Run(t, resource.TestCase{Steps: []resource.TestStep{{
				Config: server.Provider() + endpoint(`sandbox_id = "no-such"`, c.line), ExpectError: acctest.Said(c.says),
			}}})
		})
	}
}

// Headers of secure access never stand in a state; that they are needed is told.
func TestHeadersAreOnlyNamed(t *testing.T) {
	t.Parallel()
	server := acctest.NewOpenSandbox(t, func(o *fake.Options) { o.Kubernetes, o.Ingress = true, fake.IngressURI })
	id := server.Make(t, strings.TrimSuffix(body, "}")+`,"secureAccess":true}`)
	protocol := acctest.NewProtocol(t, provider.OpenSandbox("test")(), acctest.Values{"domain": server.URL, "api_key": server.APIKey})
	attributes, diagnostics := protocol.ReadData(t.Context(), "opensandbox_endpoint", acctest.Values{"sandbox_id": id, "port": 80})
	said := acctest.Text(diagnostics)
	if !strings.Contains(said, "OpenSandbox-Secure-Access") || !strings.Contains(said, "ephemeral") {
		t.Errorf("it says %q", said)
	}
	if len(attributes) != 4 {
		t.Errorf("it tells %v", attributes)
	}
}
