// Package catalog lists the providers that this module publishes, for whatever treats them alike: documentation,
// packaging, installation.
package catalog

// Where the registry has the providers.
const (
	Host      = "registry.terraform.io"
	Namespace = "agentenv"
)

// Provider is one of them. Folders are relative to the module's root, with slashes.
type Provider struct {
	Name    string // the prefix of its types
	Package string // folder of its program
	Docs    string // folder of its rendered documentation
}

// Providers is all of them.
func Providers() []Provider {
	return []Provider{
		{Name: "gpuvm", Package: ".", Docs: "docs"},
		{Name: "opensandbox", Package: "cmd/terraform-provider-opensandbox", Docs: "docs/opensandbox"},
	}
}

// Program is the file name of its program, without a system's suffix.
func (p Provider) Program() string { return "terraform-provider-" + p.Name }

// Address is its source in a configuration.
func (p Provider) Address() string { return Host + "/" + Namespace + "/" + p.Name }

// Templates is the folder of what its documentation is rendered from.
func (p Provider) Templates() string { return "templates/" + p.Name }

// Examples is the folder of its examples.
func (p Provider) Examples() string { return "examples/" + p.Name }

// Addresses is the address of each provider.
func Addresses() []string {
	var all []string
	for _, p := range Providers() {
		all = append(all, p.Address())
	}
	return all
}
