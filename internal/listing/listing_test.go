package listing_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	api "github.com/agentenv/terraform-provider-gpuvm/internal/apiclient/opensandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/listing"
)

// numbered lists count objects, the last of them an error where there is one. asked counts how far it came.
func numbered(count int, err error, asked *int) func(context.Context) iter.Seq2[int, error] {
	return func(context.Context) iter.Seq2[int, error] {
		return func(yield func(int, error) bool) {
			for i := range count {
				*asked++
				if !yield(i, nil) {
					return
				}
			}
			if err != nil {
				yield(0, err)
			}
		}
	}
}

var kind = listing.Kind[int]{
	Many: "Numbers",
	ID:   func(n int) string { return fmt.Sprint(n) },
	Name: func(n int) string { return fmt.Sprintf("number %d", n) },
	Resource: func(ctx context.Context, n int, result *list.ListResult) {
		if n == 13 {
			panic("thirteen")
		}
		listing.Fill(ctx, result, map[string]attr.Value{"id": types.StringValue(fmt.Sprint(n))})
	},
}

func request(limit int64, whole bool) list.ListRequest {
	return list.ListRequest{
		Limit: limit, IncludeResource: whole,
		ResourceSchema:         schema.Schema{Attributes: map[string]schema.Attribute{"id": schema.StringAttribute{Computed: true}, "name": schema.StringAttribute{Optional: true}}},
		ResourceIdentitySchema: identityschema.Schema{Attributes: map[string]identityschema.Attribute{"id": identityschema.StringAttribute{RequiredForImport: true}}},
	}
}

func TestStream(t *testing.T) {
	t.Parallel()
	for title, c := range map[string]struct {
		count, take        int
		limit              int64
		err                error
		whole              bool
		found, asked, says int
	}{
		"all":            {count: 5, limit: 100, found: 5, asked: 5},
		"none":           {limit: 100},
		"limit":          {count: 5, limit: 2, found: 2, asked: 2},
		"limit is all":   {count: 2, limit: 2, found: 2, asked: 2},
		"no limit":       {count: 5, found: 5, asked: 5},
		"taken in part":  {count: 5, limit: 100, take: 1, found: 1, asked: 1},
		"fails at once":  {err: errors.New("HTTP 500"), limit: 100, says: 1},
		"fails later":    {count: 2, err: errors.New("HTTP 500"), limit: 100, found: 2, asked: 2, says: 1},
		"limit before":   {count: 2, err: errors.New("HTTP 500"), limit: 2, found: 2, asked: 2},
		"whole":          {count: 3, limit: 100, whole: true, found: 3, asked: 3},
		"provider fault": {count: 20, limit: 100, whole: true, found: 13, asked: 14, says: 1},
	} {
		asked, found, says := 0, 0, 0
		for result := range kind.Stream(t.Context(), request(c.limit, c.whole), numbered(c.count, c.err, &asked)) {
			if result.Diagnostics.HasError() {
				says++
				continue
			}
			var id types.String
			result.Identity.GetAttribute(t.Context(), path.Root("id"), &id)
			if id.ValueString() != fmt.Sprint(found) || result.DisplayName != fmt.Sprintf("number %d", found) || result.Resource.Raw.IsNull() == c.whole {
				t.Errorf("%s: result %d is %s, %q, %v", title, found, id, result.DisplayName, result.Resource.Raw)
			}
			if found++; found == c.take {
				break
			}
		}
		if found != c.found || asked != c.asked || says != c.says {
			t.Errorf("%s: found %d of %d that were asked for, with %d errors", title, found, asked, says)
		}
	}
}

func TestFailureOfAListSaysWhatCantBeListed(t *testing.T) {
	t.Parallel()
	asked := 0
	for result := range kind.Stream(t.Context(), request(1, false), numbered(0, errors.New("HTTP 500"), &asked)) {
		if said := result.Diagnostics[0]; said.Summary() != "Numbers can't be listed" || !strings.Contains(said.Detail(), "HTTP 500") {
			t.Errorf("it says %v", said)
		}
	}
}

func TestFilters(t *testing.T) {
	t.Parallel()
	states := func(names ...string) []attr.Value {
		var all []attr.Value
		for _, name := range names {
			all = append(all, types.StringValue(name))
		}
		return all
	}
	snapshots := listing.SnapshotFilter(types.StringValue("sb-1"), states("ready", "FAILED", "Deleting", "Of Tomorrow"))
	if want := (api.SnapshotFilter{SandboxID: "sb-1", States: []string{"Ready", "Failed", "Deleting", "Of Tomorrow"}}); !reflect.DeepEqual(snapshots, want) {
		t.Errorf("%+v, want %+v", snapshots, want)
	}
	if got := listing.SnapshotFilter(types.StringNull(), nil); !reflect.DeepEqual(got, api.SnapshotFilter{}) {
		t.Errorf("no filter is %+v", got)
	}
	sandboxes := listing.SandboxFilter(states("running"), types.MapValueMust(types.StringType, map[string]attr.Value{"a": types.StringValue("b")}))
	if want := (api.SandboxFilter{States: []string{"running"}, Metadata: map[string]string{"a": "b"}}); !reflect.DeepEqual(sandboxes, want) {
		t.Errorf("%+v, want %+v", sandboxes, want)
	}
}
