// Package subject lists the resource types as tests that treat all alike know them: histories with faults, the matrix of
// absent and unknown values, secrets, hostile services. A type that is added to a provider is added here with a table entry.
package subject

import (
	"context"
	"net/http"

	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/agentenv/terraform-provider-gpuvm/internal/apiclient"
	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/faults"
	"github.com/agentenv/terraform-provider-gpuvm/internal/memorynet"
	"github.com/agentenv/terraform-provider-gpuvm/internal/program"
	core "github.com/agentenv/terraform-provider-gpuvm/internal/terraformcore"
)

// Type is a resource type under test.
type Type struct {
	Name     string
	Provider func() provider.Provider
	// Start gives a service in one of its tempers; each of Tempers may be on or off.
	Start   func(temper map[string]bool) Service
	Tempers []string
	// Smallest is the least configuration that is valid.
	Smallest map[string]any
	// Values are what an attribute or block is given, by its name; one without gets values by its type. A nil among them is
	// the attribute's absence. Requires names what else has to be given along with it.
	Values   map[string][]any
	Requires map[string]map[string]any
	Bundles  []map[string]any // what only makes sense, or only ends soon, together; nil leaves out
	// Settings are what an attribute or block of the provider is given, by its name.
	Settings map[string][]any
	// Secret are configurations that between them have a secret in every sensitive and write-only attribute, SecretSettings
	// has one in each of the provider block, beside the service's Settings.
	Secret         []map[string]any
	SecretSettings map[string]any
	// Inside is what belongs into an object that the service has already, and isn't one of its own: it can't be imported, and
	// costs nothing.
	Inside bool
	// Passing are computed attributes that a plan leaves open once time has passed, though nothing else has changed.
	Passing []string
	// Named is what its user gave a name that it is found by, whatever an error says.
	Named bool
	// Disturbances are what others do to an object, for Service.Disturb.
	Disturbances []string
	// Requests are what the provider asks of the service, for faults to strike. The first is the one that makes an object.
	Requests []Request
	// Tells are the requests whose answers tell of the object; Needed are those of their keys that must be there.
	Tells  []Request
	Needed []string
}

// Request is a kind of request. Path is as faults.Fault has it.
type Request struct{ Method, Path string }

// Matches tells whether a request is of that kind.
func (r Request) Matches(method, path string) bool {
	kind := faults.Fault{Method: r.Method, Path: r.Path}
	return kind.Matches(method, path)
}

// Service is a fake service with the objects of one type.
type Service interface {
	http.Handler
	Faults() *faults.Set
	// Settings are the provider block that reaches it; Secrets must never be shown by anyone.
	Settings() map[string]any
	Secrets() []string
	// Standing lists the ids of the objects that cost.
	Standing() []string
	// Make makes an object by other hands than the provider's. Its configuration is what would describe it.
	Make() (id string, config map[string]any)
	// Disturb does something to an object, by other hands. It tells whether it could.
	Disturb(kind, id string) bool
	// Settle waits until nothing is under way: what is being deleted is gone.
	Settle()
	// Heal takes away what may keep an object from being destroyed.
	Heal()
	// Differences lists where an object isn't as a state says. Unverified are told of an object that was imported.
	Differences(o *core.Object, imported bool) []string
	// InDoubt tells whether an error says that an object may stand that no answer told of, so that somebody who reads it
	// would find the one with this id.
	InDoubt(detail, id string) bool
	// TTL is how long it takes until an object has expired, in seconds; 0 is for ever.
	TTL(id string) int64
	Close()
}

// World is a service in memory, and a provider for it.
type World struct {
	Service Service
	Type    *Type
	Schemas *core.Schemas

	network *memorynet.Network
}

// Begin starts a service, inside of a bubble of time (testing/synctest). Its answers pass through the wrappers. End ends it.
func (t *Type) Begin(schemas *core.Schemas, temper map[string]bool, wrappers ...func(http.Handler) http.Handler) *World {
	service := t.Start(temper)
	var handler http.Handler = service
	for _, wrap := range wrappers {
		handler = wrap(handler)
	}
	return &World{Service: service, Type: t, Schemas: schemas, network: memorynet.Serve(handler)}
}

// End ends the service and every connection to it.
func (w *World) End() {
	w.Service.Faults().Clear()
	w.network.Close()
	w.Service.Close()
}

// Context leads the requests that are made under it to the service.
func (w *World) Context(ctx context.Context) context.Context {
	return apiclient.WithDialer(ctx, w.network.Dial)
}

// Provider starts and configures a provider, as each Terraform command does. more are settings besides those that reach the
// service.
func (w *World) Provider(ctx context.Context, more map[string]any) (*core.Provider, *core.Report) {
	settings := w.Service.Settings()
	for name, value := range more {
		if given, ok := value.(map[string]any); ok {
			if base, ok := settings[name].(map[string]any); ok {
				value = merged(base, given)
			}
		}
		settings[name] = value
	}
	p := core.Start(w.Type.Server(), w.Schemas)
	return p, p.Configure(ctx, settings)
}

func merged(layers ...map[string]any) map[string]any {
	all := map[string]any{}
	for _, layer := range layers {
		for key, value := range layer {
			all[key] = value
		}
	}
	return all
}

// Server is a provider of the type, not yet configured.
func (t *Type) Server() tfprotov6.ProviderServer { return program.NewDoubtingServer(t.Provider()) }

// Served gives the type's provider's schemas.
func (t *Type) Served(ctx context.Context) (*core.Schemas, error) {
	return core.SchemasOf(ctx, t.Server())
}

// All are the types under test.
func All() []*Type {
	return []*Type{
		GPUVMInstance, GPUVMFile, GPUVMExec,
		OpenSandboxSandbox, OpenSandboxFile, OpenSandboxExec, OpenSandboxSnapshot, OpenSandboxPool,
	}
}
