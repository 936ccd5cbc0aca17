package opensandboxendpoint_test

import (
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/agentenv/terraform-provider-gpuvm/internal/acctest"
	fake "github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/opensandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/provider"
)

type values = acctest.Values

const (
	kind = "opensandbox_endpoint"
	body = `{"image":{"uri":"busybox"},"entrypoint":["tail"],"resourceLimits":{"cpu":"1"}%s}`
)

func text(t *testing.T, value tftypes.Value) string {
	t.Helper()
	var s string
	if err := value.As(&s); err != nil {
		t.Fatal(err)
	}
	return s
}

func headers(t *testing.T, value tftypes.Value) http.Header {
	t.Helper()
	var all map[string]tftypes.Value
	if err := value.As(&all); err != nil {
		t.Fatal(err)
	}
	header := http.Header{}
	for name, value := range all {
		header.Set(name, text(t, value))
	}
	return header
}

// get asks what an endpoint leads to.
func get(t *testing.T, url string, header http.Header) (status int, page string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header = header
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	content, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(content)
}

// What it gives is what a request needs, for each way that a server exposes its sandboxes.
func TestEndpointsAreReached(t *testing.T) {
	t.Parallel()
	for title, c := range map[string]struct {
		ingress fake.Ingress
		secure  bool
		config  values
		headers int
		signed  bool
	}{
		"direct":              {},
		"gateway":             {ingress: fake.IngressURI},
		"gateway by header":   {ingress: fake.IngressHeader, headers: 1},
		"secure":              {ingress: fake.IngressURI, secure: true, headers: 1},
		"secure, signed":      {ingress: fake.IngressURI, secure: true, config: values{"expires_seconds": 60}, signed: true},
		"through the server":  {config: values{"use_server_proxy": true}},
		"signed, not through": {ingress: fake.IngressURI, config: values{"use_server_proxy": false, "expires_seconds": 1}, signed: true},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			server := acctest.NewOpenSandbox(t, func(o *fake.Options) { o.Kubernetes, o.Ingress = true, c.ingress })
			protocol := acctest.NewProtocol(t, provider.OpenSandbox("test")(), values{"domain": server.URL, "api_key": server.APIKey, "use_server_proxy": c.signed})
			more := ""
			if c.secure {
				more = `,"secureAccess":true`
			}
			config := values{"sandbox_id": server.Make(t, strings.Replace(body, "%s", more, 1)), "port": 8000}
			for name, value := range c.config {
				config[name] = value
			}
			opened, diagnostics := protocol.OpenEphemeral(t.Context(), kind, config)
			if len(diagnostics) > 0 {
				t.Fatal(acctest.Text(diagnostics))
			}
			url, header := text(t, opened.Attributes["url"]), headers(t, opened.Attributes["headers"])
			if status, page := get(t, url, header); status != http.StatusOK || len(header) != c.headers {
				t.Errorf("HTTP %d with %d headers at %s\n%s", status, len(header), url, page)
			}
			if c.secure && !c.signed {
				if status, _ := get(t, url, nil); status == http.StatusOK {
					t.Error("it is reached without its header too")
				}
			}
			if !opened.RenewAt.IsZero() {
				t.Errorf("it is to be renewed at %s", opened.RenewAt)
			}
		})
	}
}

func TestNoSandboxNoEndpoint(t *testing.T) {
	t.Parallel()
	server := acctest.NewOpenSandbox(t)
	protocol := acctest.NewProtocol(t, provider.OpenSandbox("test")(), values{"domain": server.URL, "api_key": server.APIKey})
	opened, diagnostics := protocol.OpenEphemeral(t.Context(), kind, values{"port": 80})
	if len(diagnostics) > 0 || !opened.Attributes["url"].IsNull() || !opened.Attributes["headers"].IsNull() || len(server.Faults().Requests()) > 0 {
		t.Errorf("it tells %v\n%s", opened.Attributes, acctest.Text(diagnostics))
	}
	for title, c := range map[string]struct {
		config values
		says   string
	}{
		"gone":               {values{"sandbox_id": "no-such", "port": 80}, "can't be looked up"},
		"empty id":           {values{"sandbox_id": "", "port": 80}, "at least 1"},
		"port":               {values{"sandbox_id": "x", "port": 0}, "between 1 and 65535"},
		"signed, and proxy":  {values{"sandbox_id": "x", "port": 80, "use_server_proxy": true, "expires_seconds": 60}, "can't be set with use_server_proxy"},
		"expired at once":    {values{"sandbox_id": "x", "port": 80, "expires_seconds": 0}, "at least 1"},
		"signed with Docker": {values{"sandbox_id": server.Make(t, strings.Replace(body, "%s", "", 1)), "port": 80, "expires_seconds": 60}, "not supported when runtime.type='docker'"},
	} {
		_, diagnostics := protocol.OpenEphemeral(t.Context(), kind, c.config)
		if !strings.Contains(acctest.Text(diagnostics), c.says) {
			t.Errorf("%s: %q is missing in\n%s", title, c.says, acctest.Text(diagnostics))
		}
	}
}

// A signed URL ends when it was to.
func TestSignedURLIsAskedForInSeconds(t *testing.T) {
	t.Parallel()
	server := acctest.NewOpenSandbox(t, func(o *fake.Options) { o.Kubernetes, o.Ingress = true, fake.IngressURI })
	protocol := acctest.NewProtocol(t, provider.OpenSandbox("test")(), values{"domain": server.URL, "api_key": server.APIKey})
	id := server.Make(t, strings.Replace(body, "%s", "", 1))
	before := time.Now().Unix()
	if _, diagnostics := protocol.OpenEphemeral(t.Context(), kind, values{"sandbox_id": id, "port": 80, "expires_seconds": 3600}); len(diagnostics) > 0 {
		t.Fatal(acctest.Text(diagnostics))
	}
	query := server.Faults().Requests()[0].Query
	asked, err := time.ParseDuration(strings.TrimPrefix(query, "expires=") + "s")
	if late := int64(asked.Seconds()) - before; err != nil || late < 3600 || late > 3660 {
		t.Errorf("it asks with %q", query)
	}
}

// Terraform opens it at plan and at apply, and what it gives can configure a provider.
func TestAccEndpointInAProvider(t *testing.T) {
	server := acctest.NewOpenSandbox(t, func(o *fake.Options) { o.Kubernetes, o.Ingress = true, fake.IngressURI })
	config := acctest.Echoed(server.Provider()) + `
resource "opensandbox_sandbox" "box" {
  image         = "busybox"
  secure_access = true
}

ephemeral "opensandbox_endpoint" "web" {
  sandbox_id = opensandbox_sandbox.box.id
  port       = 80
}

provider "echo" {
  data = ephemeral.opensandbox_endpoint.web
}

resource "echo" "test" {}
`
	data := tfjsonpath.New("data")
	acctest.Run(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.WithEcho(),
		CheckDestroy:             server.Empty,
		Steps: []resource.TestStep{{
			Config: config,
			ConfigStateChecks: []statecheck.StateCheck{
				statecheck.ExpectKnownValue("echo.test", data.AtMapKey("url"), knownvalue.StringRegexp(regexp.MustCompile(`^http://.*/80$`))),
				statecheck.ExpectKnownValue("echo.test", data.AtMapKey("headers"), knownvalue.MapSizeExact(1)),
			},
		}},
	})
}
