package listing

import (
	"context"
	"iter"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/agentenv/terraform-provider-gpuvm/internal/diagnose"
)

// Kind is how one kind of object becomes the result of a list.
type Kind[T any] struct {
	Many     string                                                       // "Sandboxes"
	ID       func(T) string                                               // its identity
	Name     func(T) string                                               // what a user knows it by
	Resource func(ctx context.Context, object T, result *list.ListResult) // fills in the whole resource, where it is asked for
}

// timeout bounds a list with all its pages and their attempts.
const timeout = 10 * time.Minute

// Stream gives each object as it is listed, at most as many as are asked for: the next page is asked for when Terraform
// wants more. A failure ends the list.
func (k Kind[T]) Stream(ctx context.Context, req list.ListRequest, objects func(context.Context) iter.Seq2[T, error]) iter.Seq[list.ListResult] {
	return func(push func(list.ListResult) bool) {
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		var diags diag.Diagnostics
		if k.stream(ctx, req, objects(ctx), push, &diags); diags.HasError() {
			push(list.ListResult{Diagnostics: diags})
		}
	}
}

func (k Kind[T]) stream(ctx context.Context, req list.ListRequest, objects iter.Seq2[T, error], push func(list.ListResult) bool, diags *diag.Diagnostics) {
	defer diagnose.Panic(diags)
	left := req.Limit
	for object, err := range objects {
		if err != nil {
			diagnose.OpenSandbox.Error(diags, k.Many+" can't be listed", err)
			return
		}
		if more := push(k.result(ctx, req, object)); !more {
			return
		}
		if left--; left == 0 {
			return
		}
	}
}

func (k Kind[T]) result(ctx context.Context, req list.ListRequest, object T) list.ListResult {
	result := req.NewListResult(ctx)
	result.DisplayName = k.Name(object)
	result.Diagnostics.Append(result.Identity.SetAttribute(ctx, path.Root("id"), k.ID(object))...)
	if req.IncludeResource {
		k.Resource(ctx, object, &result)
	}
	return result
}

// Fill gives attributes of the whole resource their values; all others are null.
func Fill(ctx context.Context, result *list.ListResult, values map[string]attr.Value) {
	for name, value := range values {
		result.Diagnostics.Append(result.Resource.SetAttribute(ctx, path.Root(name), value)...)
	}
}
