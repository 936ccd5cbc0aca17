package opensandboxpool

import (
	"context"
	"encoding/json"
	"regexp"

	"github.com/hashicorp/terraform-plugin-framework-jsontypes/jsontypes"
	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentenv/terraform-provider-gpuvm/internal/wholenumber"
)

const idText = "The pool's name, which is its id."

// dnsLabel is what a pool may be called (RFC 1123, section 2.1).
var dnsLabel = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)

// Schema is the contract with users.
func (r *Resource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "A pool of warm sandboxes (servers on Kubernetes), from which `opensandbox_sandbox` takes one by `pool_ref`. It costs what its warm sandboxes cost, used or not. Its counters stand in the data source of the same name.",
		Attributes: map[string]schema.Attribute{
			"name": schema.StringAttribute{
				MarkdownDescription: "Name of the pool: 1 to 63 lowercase letters, digits and dashes, with a letter or digit at both ends. One that is taken is an error. A change replaces the pool.",
				Required:            true,
				Validators: []validator.String{
					stringvalidator.LengthBetween(1, 63),
					stringvalidator.RegexMatches(dnsLabel, "must be lowercase letters, digits and dashes, with a letter or digit at both ends"),
				},
			},
			"template": schema.StringAttribute{
				MarkdownDescription: "Pod template of the pool's sandboxes, as the JSON of a Kubernetes `PodTemplateSpec`; `jsonencode` makes it. It stands in the state and in plans, so it is no place for secrets. The server never tells it, so that a change outside isn't noticed. A change replaces the pool; other white space or another order of keys is none.",
				Required:            true, CustomType: jsontypes.NormalizedType{},
				Validators: []validator.String{jsonObject{}},
			},
			"capacity": schema.SingleNestedAttribute{
				MarkdownDescription: "How many sandboxes the pool has. Changed in place.",
				Required:            true,
				Attributes: map[string]schema.Attribute{
					"buffer_min": bound("Fewest sandboxes that wait warm, a whole number of 0 or more, at most `buffer_max`."),
					"buffer_max": bound("Most sandboxes that wait warm, a whole number of 0 or more."),
					"pool_min":   bound("Fewest sandboxes in all, warm and in use, a whole number of 0 or more, at most `pool_max`."),
					"pool_max":   bound("Most sandboxes in all, warm and in use, a whole number of 0 or more."),
				},
			},
			"id":         schema.StringAttribute{MarkdownDescription: idText, Computed: true},
			"created_at": schema.StringAttribute{MarkdownDescription: "When the pool was made (RFC 3339); null where the server doesn't tell.", Computed: true},
		},
	}
}

func bound(description string) schema.Int64Attribute {
	return schema.Int64Attribute{
		MarkdownDescription: description, Required: true, CustomType: wholenumber.Type{},
		Validators: []validator.Int64{int64validator.AtLeast(0)},
	}
}

// number reads a bound that is known.
func number(bounds types.Object, name string) (n int64, known bool) {
	value, ok := bounds.Attributes()[name].(wholenumber.Value)
	return value.ValueInt64(), ok && !value.IsNull() && !value.IsUnknown()
}

// IdentitySchema is the pool's identity: its name.
func (r *Resource) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse) {
	resp.IdentitySchema = identityschema.Schema{Attributes: map[string]identityschema.Attribute{
		"id": identityschema.StringAttribute{RequiredForImport: true, Description: idText},
	}}
}

// jsonObject is a validator of a template: what else is JSON is none. That it is JSON at all is seen to by its type.
type jsonObject struct{}

func (jsonObject) Description(context.Context) string { return "is a JSON object" }

func (v jsonObject) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

func (jsonObject) ValidateString(_ context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	text := []byte(req.ConfigValue.ValueString())
	if req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() || !json.Valid(text) {
		return
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(text, &object) != nil || object == nil {
		resp.Diagnostics.AddAttributeError(req.Path, "Template isn't a JSON object", "A pod template is an object with the keys metadata and spec, such as jsonencode({ spec = { ... } }).")
	}
}
