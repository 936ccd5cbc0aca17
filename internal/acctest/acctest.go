// Package acctest runs acceptance tests: a provider in process, a Terraform or OpenTofu program, and a fake service on
// loopback that each test starts for itself.
package acctest

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	fwprovider "github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"

	"github.com/agentenv/terraform-provider-gpuvm/internal/program"
	"github.com/agentenv/terraform-provider-gpuvm/internal/provider"
)

// Factories serve the providers in the test's own process.
func Factories() map[string]func() (tfprotov6.ProviderServer, error) {
	return map[string]func() (tfprotov6.ProviderServer, error){
		"gpuvm":       serve(provider.GPUVM("test")),
		"opensandbox": serve(provider.OpenSandbox("test")),
	}
}

// serve serves a provider as its program does.
func serve(p func() fwprovider.Provider) func() (tfprotov6.ProviderServer, error) {
	return func() (tfprotov6.ProviderServer, error) { return program.NewDoubtingServer(p()), nil }
}

// Run runs an acceptance test beside others. It needs no TF_ACC: nothing but loopback is touched.
func Run(t *testing.T, test resource.TestCase) {
	t.Helper()
	t.Parallel()
	useCLI()
	test.IsUnitTest = true
	if test.ProtoV6ProviderFactories == nil {
		test.ProtoV6ProviderFactories = Factories()
	}
	resource.Test(t, test)
}

// useCLI points the test framework at the Terraform or OpenTofu program, and takes away what would lead that elsewhere.
var useCLI = sync.OnceFunc(func() {
	settings := map[string]string{
		"TF_ACC_PROVIDER_HOST":      "registry.terraform.io",
		"TF_ACC_PROVIDER_NAMESPACE": "agentenv",
		"CHECKPOINT_DISABLE":        "1",
		"TF_CLI_CONFIG_FILE":        os.DevNull,
	}
	if os.Getenv("TF_ACC_TERRAFORM_PATH") == "" {
		settings["TF_ACC_TERRAFORM_PATH"] = CLI()
	}
	for name, value := range settings {
		_ = os.Setenv(name, value)
	}
})

// CLI is the path of the program that the tests run: that of TF_ACC_TERRAFORM_PATH, else terraform, else tofu, else the
// OpenTofu that make has built.
func CLI() string {
	if path := os.Getenv("TF_ACC_TERRAFORM_PATH"); path != "" {
		return path
	}
	for _, name := range []string{"terraform", "tofu", filepath.Join(root(), ".bin", "tofu")} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	panic("no terraform and no tofu: run the tests with make test, which builds OpenTofu where neither is installed")
}

// root is the checkout.
func root() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..")
}

// required is the block that names a provider's source, as a user's configuration does.
func required(provider string) string {
	return "terraform {\n  required_providers {\n    " + provider + " = {\n      source = \"registry.terraform.io/agentenv/" + provider + "\"\n    }\n  }\n}\n"
}
