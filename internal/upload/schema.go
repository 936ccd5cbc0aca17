package upload

import (
	"context"
	"encoding/base64"
	"maps"
	slashpath "path"
	"strconv"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework-validators/mapvalidator"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// FilesAttribute is the schema of the files attribute; more are the keys that one provider adds.
func FilesAttribute(more map[string]schema.Attribute) schema.MapNestedAttribute {
	attributes := map[string]schema.Attribute{
		"content": schema.StringAttribute{
			MarkdownDescription: "The file's text. It stands in the state; use `content_wo` for a secret.",
			Optional:            true, Sensitive: true,
		},
		"content_base64": schema.StringAttribute{
			MarkdownDescription: "The file's bytes in base64, for what isn't text. It stands in the state.",
			Optional:            true, Sensitive: true,
			Validators: []validator.String{Base64()},
		},
		"content_wo": schema.StringAttribute{
			MarkdownDescription: "The file's text, write-only: it stands in no state and no plan. Raise `files_wo_version` when it changes.",
			Optional:            true, Sensitive: true, WriteOnly: true,
		},
		"source": schema.StringAttribute{
			MarkdownDescription: "Path of a local file to upload. It is read at plan, and a changed content replaces the machine.",
			Optional:            true,
		},
	}
	maps.Copy(attributes, more)
	return schema.MapNestedAttribute{
		MarkdownDescription: "Files to put into the machine once it is ready, in path order, by their absolute path there. Each has exactly one of `content`, `content_base64`, `content_wo` and `source`. A change replaces the machine. Defaults to none.",
		Optional:            true,
		Validators:          []validator.Map{mapvalidator.KeysAre(AbsolutePath())},
		NestedObject: schema.NestedAttributeObject{
			Attributes: attributes,
			Validators: []validator.Object{oneContent{}},
		},
	}
}

// oneContent is a validator: exactly one of the content attributes is given.
type oneContent struct{}

var contentNames = []string{"content", "content_base64", "content_wo", "source"}

func (oneContent) Description(context.Context) string {
	return "exactly one of " + strings.Join(contentNames, ", ") + " is given"
}

func (v oneContent) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

func (v oneContent) ValidateObject(ctx context.Context, req validator.ObjectRequest, resp *validator.ObjectResponse) {
	if req.ConfigValue.IsNull() {
		resp.Diagnostics.AddAttributeError(req.Path, "File is null", "Leave the path out of files, or say what the file holds: "+v.Description(ctx)+".")
	}
	if req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() {
		return
	}
	checkOne(req.Path, "A file", func(name string) types.String {
		text, _ := req.ConfigValue.Attributes()[name].(types.String)
		return text
	}, &resp.Diagnostics)
}

// checkOne sees that exactly one of the content attributes is given. One that isn't known yet may turn out null.
func checkOne(at path.Path, what string, text func(name string) types.String, diags *diag.Diagnostics) {
	var given []string
	unknown := false
	for _, name := range contentNames {
		value := text(name)
		unknown = unknown || value.IsUnknown()
		if !value.IsNull() && !value.IsUnknown() {
			given = append(given, name)
		}
	}
	rule := what + " takes exactly one of " + strings.Join(contentNames, ", ")
	switch {
	case len(given) > 1:
		diags.AddAttributeError(at, "File has more than one content", rule+"; this one has "+strings.Join(given, " and ")+".")
	case len(given) == 0 && !unknown:
		diags.AddAttributeError(at, "File has no content", rule+"; this one has none (a misspelt key counts as none).")
	}
}

// AbsolutePath is a validator of a path in a machine.
func AbsolutePath() validator.String { return absolutePath{} }

type absolutePath struct{}

func (absolutePath) Description(context.Context) string {
	return "is an absolute path of a file, such as /etc/motd"
}

func (v absolutePath) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

func (v absolutePath) ValidateString(ctx context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	at := req.ConfigValue.ValueString()
	if req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() {
		return
	}
	if !slashpath.IsAbs(at) || strings.HasSuffix(at, "/") || strings.ContainsRune(at, 0) || slashpath.Clean(at) != at {
		resp.Diagnostics.AddAttributeError(req.Path, "Path isn't usable", "The path "+at+" must be one that "+v.Description(ctx)+", without . or .. or double slashes.")
	}
}

// LiteralPath is a validator of a path that a sandbox's agent takes as it is: it puts a variable of its own in the place of every $,
// and knows no way to write one that stays.
func LiteralPath() validator.String { return literalPath{} }

type literalPath struct{}

func (literalPath) Description(context.Context) string { return "holds no $" }

func (v literalPath) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

func (literalPath) ValidateString(_ context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if at := req.ConfigValue.ValueString(); strings.Contains(at, "$") {
		resp.Diagnostics.AddAttributeError(req.Path, "Path isn't usable", "The path "+at+" must hold no $: the sandbox's agent would take it for the beginning of a variable.")
	}
}

// Base64 is a validator of standard base64 (RFC 4648, section 4). Its message shows no content.
func Base64() validator.String { return isBase64{} }

type isBase64 struct{}

func (isBase64) Description(context.Context) string { return "is standard base64" }

func (v isBase64) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

func (isBase64) ValidateString(_ context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() {
		return
	}
	if _, err := base64.StdEncoding.DecodeString(req.ConfigValue.ValueString()); err != nil {
		resp.Diagnostics.AddAttributeError(req.Path, "Content isn't base64", "It has to be standard base64 (RFC 4648, section 4), as base64encode and filebase64 give: "+err.Error()+".")
	}
}

// Mode is a validator of a file's permissions in octal digits. A sandbox's agent leaves out what is more than permissions,
// set-user-id and the like, without a word.
func Mode() validator.String { return mode{} }

type mode struct{}

func (mode) Description(context.Context) string { return "is octal digits from 1 to 777, such as 755" }

func (v mode) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

func (v mode) ValidateString(ctx context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() {
		return
	}
	text := req.ConfigValue.ValueString()
	if bits, err := strconv.ParseUint(text, 8, 32); err != nil || bits == 0 || bits > 0o777 {
		resp.Diagnostics.AddAttributeError(req.Path, "Not a file mode", "The mode \""+text+"\" must be one that "+v.Description(ctx)+".")
	}
}
