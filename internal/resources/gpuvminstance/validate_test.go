package gpuvminstance_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"

	"github.com/agentenv/terraform-provider-gpuvm/internal/acctest"
)

func TestAccBadInputIsRefusedBeforeAnythingIsSent(t *testing.T) {
	const image = `image = "client"`
	for title, c := range map[string]struct {
		lines []string
		says  string
	}{
		"empty image":      {[]string{`image = ""`}, `string length must be at least 1`},
		"fraction":         {[]string{image, `memory_mb = 8192.5`}, `8192.5 is not a whole number`},
		"huge":             {[]string{image, `memory_mb = 1e30`}, `is not a whole number`},
		"no cpu":           {[]string{image, `cpu = 0`}, `0 is not more than 0`},
		"negative ttl":     {[]string{image, `ttl_seconds = -1`}, `at least 1`},
		"port 0":           {[]string{image, `exposed_ports = [0]`}, `0 is not from 1 to 65535`},
		"port 80.5":        {[]string{image, `exposed_ports = [80.5]`}, `80.5 is not a whole number`},
		"null port":        {[]string{image, `exposed_ports = [null]`}, `element is null`},
		"null label":       {[]string{image, `labels = { a = null }`}, `Label is null`},
		"keep what":        {[]string{image, `on_create_failure = "leave"`}, `must be one of`},
		"relative path":    {[]string{image, `files = { "etc/motd" = { content = "x" } }`}, `must be one that is an absolute path`},
		"dotted path":      {[]string{image, `files = { "/etc/../motd" = { content = "x" } }`}, `must be one that is an absolute path`},
		"two contents":     {[]string{image, `files = { "/a" = { content = "x", source = "y" } }`}, `exactly one of content, content_base64, content_wo, source; this one has content and source`},
		"no content":       {[]string{image, `files = { "/a" = { contents = "x" } }`}, `this one has none`},
		"null file":        {[]string{image, `files = { "/a" = null }`}, `File is null`},
		"not base64":       {[]string{image, `files = { "/a" = { content_base64 = "%%%" } }`}, `isn't base64`},
		"deny":             {[]string{image, `network_policy {`, `default_action = "deny"`, `}`}, `can't enforce this network policy`},
		"deny rule":        {[]string{image, `network_policy {`, `default_action = "allow"`, `egress {`, `action = "deny"`, `target = "a.example"`, `}`, `}`}, `can't enforce this network policy`},
		"no action":        {[]string{image, `network_policy {`, `}`}, `no default_action`},
		"misspelt action":  {[]string{image, `network_policy {`, `default_acton = "deny"`, `}`}, `Did you mean "default_action"`},
		"null argument":    {[]string{image, `readiness_command = ["test", null]`}, `Null element`},
		"no duration":      {[]string{image, `timeouts {`, `create = "soon"`, `}`}, `Valid time units`},
		"negative timeout": {[]string{image, `timeouts {`, `create = "-5m"`, `}`}, `more than 0`},
	} {
		t.Run(title, func(t *testing.T) {
			service := acctest.NewGPUVM(t)
			acctest.Run(t, resource.TestCase{
				Steps: []resource.TestStep{{Config: instance(service, c.lines...), ExpectError: said(c.says)}},
			})
			if sent := len(service.Faults().Requests()); sent != 0 {
				t.Errorf("%d requests were sent", sent)
			}
		})
	}
}

func TestAccPolicyThatBecomesKnownLateIsRefused(t *testing.T) {
	service := acctest.NewGPUVM(t)
	config := `resource "terraform_data" "action" {
  input = "deny"
}
` + instance(service, `image = "client"`, `network_policy {`, `default_action = terraform_data.action.output`, `}`)
	acctest.Run(t, resource.TestCase{
		Steps: []resource.TestStep{{Config: config, ExpectError: said(`can't enforce this network policy`)}},
	})
	if sent := service.Posted(); sent != 0 {
		t.Errorf("%d creates were sent", sent)
	}
}
