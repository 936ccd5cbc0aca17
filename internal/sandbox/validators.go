package sandbox

import (
	"context"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	api "github.com/agentenv/terraform-provider-gpuvm/internal/apiclient/opensandbox"
)

// extensions is a validator of the extensions whose meaning is known.
type extensions struct{}

func (extensions) Description(context.Context) string {
	return renewExtension + " is a whole number from 300 to 86400, and " + api.PoolRefExtension + " is not among them"
}

func (v extensions) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

func (extensions) ValidateMap(_ context.Context, req validator.MapRequest, resp *validator.MapResponse) {
	elements := req.ConfigValue.Elements()
	if _, ok := elements[api.PoolRefExtension]; ok {
		resp.Diagnostics.AddAttributeError(req.Path.AtMapKey(api.PoolRefExtension), "The pool has an attribute of its own", "Set pool_ref instead of the extension "+api.PoolRefExtension+".")
	}
	renew, ok := elements[renewExtension].(types.String)
	if !ok || renew.IsNull() || renew.IsUnknown() {
		return
	}
	if seconds, err := strconv.Atoi(renew.ValueString()); err != nil || seconds < 300 || seconds > 86400 {
		resp.Diagnostics.AddAttributeError(req.Path.AtMapKey(renewExtension), "Extension out of range", fmt.Sprintf("%s has to be a whole number of seconds from 300 to 86400, not %q.", renewExtension, renew.ValueString()))
	}
}

// quantity is Kubernetes' form of an amount that isn't negative (resource.Quantity of its API).
var quantity = regexp.MustCompile(`^\+?([0-9]+\.?[0-9]*|\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][-+]?[0-9]+)?$`)

// quantities is a validator of amounts. The server takes any text and sets no limit where it can't read one.
type quantities struct{}

func (quantities) Description(context.Context) string {
	return "each value is a quantity such as 500m, 2 or 1.5Gi, and no key is one that has an attribute of its own"
}

func (v quantities) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

func (quantities) ValidateMap(_ context.Context, req validator.MapRequest, resp *validator.MapResponse) {
	elements := req.ConfigValue.Elements()
	for _, name := range slices.Sorted(maps.Keys(elements)) {
		at := req.Path.AtMapKey(name)
		if attribute, taken := resourceAttribute[name]; taken || name == "" {
			resp.Diagnostics.AddAttributeError(at, "Resource can't stand in extended", fmt.Sprintf("%q has an attribute of its own: %s.", name, attribute))
			continue
		}
		amount, ok := elements[name].(types.String)
		if ok && !amount.IsNull() && !amount.IsUnknown() && !quantity.MatchString(amount.ValueString()) {
			resp.Diagnostics.AddAttributeError(at, "Not a quantity", fmt.Sprintf("%q is not an amount such as 500m, 2 or 1.5Gi.", amount.ValueString()))
		}
	}
}

// atLeastZero is a validator of amounts; the stock one prints a float with six digits.
type atLeastZero struct{}

func (atLeastZero) Description(context.Context) string { return "is 0 or more" }

func (v atLeastZero) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

func (atLeastZero) ValidateFloat64(_ context.Context, req validator.Float64Request, resp *validator.Float64Response) {
	if !req.ConfigValue.IsNull() && !req.ConfigValue.IsUnknown() && req.ConfigValue.ValueFloat64() < 0 {
		resp.Diagnostics.AddAttributeError(req.Path, "Number out of range", fmt.Sprintf("%v is less than 0.", req.ConfigValue.ValueFloat64()))
	}
}

// relativePath is a validator of a path below a folder.
type relativePath struct{}

func (relativePath) Description(context.Context) string { return "is a relative path without .." }

func (v relativePath) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

func (relativePath) ValidateString(_ context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	at := req.ConfigValue.ValueString()
	if path.IsAbs(at) || slices.Contains(strings.Split(at, "/"), "..") {
		resp.Diagnostics.AddAttributeError(req.Path, "Path isn't usable", "The path "+at+" must be relative, and without \"..\".")
	}
}

// uniqueNames is a validator of blocks that have a name each.
type uniqueNames struct{}

func (uniqueNames) Description(context.Context) string { return "no two have the same name" }

func (v uniqueNames) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

func (uniqueNames) ValidateList(_ context.Context, req validator.ListRequest, resp *validator.ListResponse) {
	seen := map[string]bool{}
	for i, element := range req.ConfigValue.Elements() {
		object, _ := element.(types.Object)
		name, _ := object.Attributes()["name"].(types.String)
		if name.IsNull() || name.IsUnknown() {
			continue
		}
		if seen[name.ValueString()] {
			resp.Diagnostics.AddAttributeError(req.Path.AtListIndex(i).AtName("name"), "Name is taken", "Another block before has the name "+name.ValueString()+" too.")
		}
		seen[name.ValueString()] = true
	}
}
