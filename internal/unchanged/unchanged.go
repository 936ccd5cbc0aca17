// Package unchanged is how a resource answers by itself what is asked about an object that hasn't changed: most calls of most
// plans. The plugin framework walks the whole schema many times for each of them. What needs more than a look goes its way.
package unchanged

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/agentenv/terraform-provider-gpuvm/internal/fields"
	"github.com/agentenv/terraform-provider-gpuvm/internal/private"
)

// Provider is a provider that tells what it has configured its resources with.
type Provider interface{ ResourceData() any }

// Resource is a resource that knows its unchanged objects.
type Resource interface {
	resource.ResourceWithConfigure
	resource.ResourceWithIdentity
	// Look asks the service for the object as Read does, and says whether it is as the state has it. The context that it gives
	// keeps what the service told, for Read, which is asked next where that says something new.
	Look(ctx context.Context, object Object) (context.Context, bool)
	// Settled says whether a plan that proposes nothing for the object has nothing to do: no failure, no adoption, nothing else
	// that only a plan can see.
	Settled(ctx context.Context, object Object) bool
}

// Object is an object in Terraform's state. It isn't one that an import has left and no apply has adopted yet.
type Object struct {
	fields.Object
	Notes private.State
}

// answer is what a service told of an object.
type answer[T any] struct {
	id    string
	value T
	err   error
}

type answerKey[T any] struct{}

// Keep keeps in a context what a service told of an object.
func Keep[T any](ctx context.Context, id string, value T, err error) context.Context {
	return context.WithValue(ctx, answerKey[T]{}, answer[T]{id, value, err})
}

// Ask gives what a context keeps of an object, else asks.
func Ask[T any](ctx context.Context, id string, ask func() (T, error)) (T, error) {
	if kept, ok := ctx.Value(answerKey[T]{}).(answer[T]); ok && kept.id == id {
		return kept.value, kept.err
	}
	return ask()
}
