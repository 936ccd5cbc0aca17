// Package anyserver holds the acceptance tests of opensandbox that need nothing of the fake but what any server gives: they run
// against the fake, and as they are against a server that the environment names.
package anyserver

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/terraform"

	"github.com/agentenv/terraform-provider-gpuvm/internal/acctest"
	"github.com/agentenv/terraform-provider-gpuvm/internal/apiclient"
	api "github.com/agentenv/terraform-provider-gpuvm/internal/apiclient/opensandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/uuid"
)

// What the environment may say.
const (
	// UseGiven makes the tests run against the server that OPEN_SANDBOX_DOMAIN, OPEN_SANDBOX_API_KEY and OPEN_SANDBOX_PROTOCOL name,
	// which the provider reads by itself. Unset: each test has a fake of its own.
	UseGiven = "ACCTEST_OPENSANDBOX_SERVER"
	// Image names the image of the sandboxes: one with a shell and a user nobody. Unset: busybox.
	Image = "ACCTEST_OPENSANDBOX_IMAGE"
	// Without lists, separated by commas, what the server can't: "pause", "snapshots", "policy", "proxy".
	Without = "ACCTEST_OPENSANDBOX_WITHOUT"
)

// server is the one of a test. What the test makes there carries a mark, since others may use the server too.
type server struct {
	api           *api.Client
	providerBlock string
	image, mark   string
}

const (
	markKey       = "agentenv.dev/acceptance"
	providerBlock = `terraform {
  required_providers {
    opensandbox = {
      source = "registry.terraform.io/agentenv/opensandbox"
    }
  }
}
provider "opensandbox" {
  %s
  SETTINGS
  default_metadata = { %q = %q }
}
`
)

func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{image: cmp.Or(os.Getenv(Image), "busybox"), mark: uuid.New()}
	domain, key, protocol := os.Getenv("OPEN_SANDBOX_DOMAIN"), os.Getenv("OPEN_SANDBOX_API_KEY"), cmp.Or(os.Getenv("OPEN_SANDBOX_PROTOCOL"), "http")
	settings := ""
	if os.Getenv(UseGiven) == "" {
		fake := acctest.NewOpenSandbox(t)
		domain, key, protocol = fake.URL, fake.APIKey, "http"
		settings = fmt.Sprintf("domain = %q\n  api_key = %q", domain, key)
	}
	s.providerBlock = fmt.Sprintf(providerBlock, settings, markKey, s.mark)
	base, err := api.BaseURL(domain, protocol)
	if err != nil {
		t.Fatal(err)
	}
	transport, err := apiclient.New(apiclient.Config{BaseURL: base, Credential: apiclient.Credential{Header: api.KeyHeader, Secret: key}})
	if err != nil {
		t.Fatal(err)
	}
	s.api = api.New(transport, base)
	return s
}

// able says whether the server can what it need not be able to.
func able(what string) bool {
	return !slices.Contains(strings.Split(os.Getenv(Without), ","), what)
}

// config is a provider block, with settings in it, and what stands after it. IMAGE there is the image's name.
func (s *server) config(settings string, more ...string) string {
	text := s.providerBlock + strings.Join(more, "\n")
	return strings.NewReplacer("SETTINGS", settings, "IMAGE", fmt.Sprintf("%q", s.image)).Replace(text)
}

// left lists the sandboxes of this test that the server holds.
func (s *server) left(ctx context.Context) ([]api.Sandbox, error) {
	var all []api.Sandbox
	for sandbox, err := range s.api.Sandboxes(ctx, api.SandboxFilter{Metadata: map[string]string{markKey: s.mark}}) {
		if err != nil {
			return nil, err
		}
		all = append(all, sandbox)
	}
	return all, nil
}

// gone is a destroy check. One that is being deleted may still be shown for a moment, but not as if nothing were asked.
func (s *server) gone(*terraform.State) error {
	all, err := s.left(context.Background())
	if err == nil && len(all) > 0 {
		err = fmt.Errorf("the server still holds %d sandbox(es), the first is %s: %s", len(all), all[0].ID, all[0].Status)
	}
	return err
}

// deleteAll ends this test's sandboxes behind Terraform's back.
func (s *server) deleteAll(t *testing.T) func() {
	return func() {
		all, err := s.left(context.Background())
		for _, sandbox := range all {
			if err == nil {
				err = s.api.DeleteSandbox(context.Background(), sandbox.ID)
			}
		}
		if err != nil {
			t.Error(err)
		}
	}
}
