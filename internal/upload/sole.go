package upload

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentenv/terraform-provider-gpuvm/internal/plan"
	"github.com/agentenv/terraform-provider-gpuvm/internal/wholenumber"
)

// Sole is the content of a resource that is one file, as state, plan and configuration hold it.
type Sole struct {
	Content          types.String      `tfsdk:"content"`
	ContentBase64    types.String      `tfsdk:"content_base64"`
	ContentWO        types.String      `tfsdk:"content_wo"`
	ContentWOVersion wholenumber.Value `tfsdk:"content_wo_version"`
	Source           types.String      `tfsdk:"source"`
	SHA256           types.String      `tfsdk:"sha256"`
}

// SoleAttributes is the schema of Sole, to be merged into a resource's own.
func SoleAttributes() map[string]schema.Attribute {
	const one = " Exactly one of `content`, `content_base64`, `content_wo` and `source` is given. "
	return map[string]schema.Attribute{
		"content": schema.StringAttribute{
			MarkdownDescription: "The file's text; an empty one makes an empty file." + one + "It stands in the state; use `content_wo` for a secret. A change uploads again, in place.",
			Optional:            true, Sensitive: true,
		},
		"content_base64": schema.StringAttribute{
			MarkdownDescription: "The file's bytes in base64, for what isn't text." + one + "It stands in the state. A change uploads again, in place.",
			Optional:            true, Sensitive: true,
			Validators: []validator.String{Base64()},
		},
		"content_wo": schema.StringAttribute{
			MarkdownDescription: "The file's text, write-only: it stands in no state and no plan." + one + "Terraform can't see that it changed: raise `content_wo_version` then.",
			Optional:            true, Sensitive: true, WriteOnly: true,
		},
		"content_wo_version": schema.Int64Attribute{
			MarkdownDescription: "Version of `content_wo`, a whole number of your choice. A change uploads again, in place. Defaults to none.",
			Optional:            true, CustomType: wholenumber.Type{},
			Validators: []validator.Int64{int64validator.AlsoRequires(path.MatchRoot("content_wo"))},
		},
		"source": schema.StringAttribute{
			MarkdownDescription: "Path of a local file to upload." + one + "It is read at plan, where a missing one is an error, and at apply. A change of its content uploads again, in place.",
			Optional:            true,
			Validators:          []validator.String{stringvalidator.LengthAtLeast(1)},
		},
		"sha256": schema.StringAttribute{
			MarkdownDescription: "SHA-256 of the uploaded bytes in hex: a `triggers` value for what reads the file. Null with `content_wo`; unknown in a plan that uploads.",
			Computed:            true,
		},
	}
}

// Check sees that exactly one content is given.
func (s Sole) Check(diags *diag.Diagnostics) {
	texts := map[string]types.String{
		"content": s.Content, "content_base64": s.ContentBase64, "content_wo": s.ContentWO, "source": s.Source,
	}
	checkOne(path.Root("content"), "The file", func(name string) types.String { return texts[name] }, diags)
}

func (s Sole) parts() Content {
	return Content{Text: s.Content, Base64: s.ContentBase64, WriteOnly: s.ContentWO, Source: s.Source}
}

// given is the attribute that the content comes from.
func (s Sole) given() path.Path {
	switch {
	case !s.ContentWO.IsNull():
		return path.Root("content_wo")
	case !s.ContentBase64.IsNull():
		return path.Root("content_base64")
	case !s.Source.IsNull():
		return path.Root("source")
	}
	return path.Root("content")
}

// Load reads the content of a configuration whose values are all known: no plan holds what is write-only.
func (s Sole) Load(diags *diag.Diagnostics) []byte {
	if s.Check(diags); diags.HasError() {
		return nil
	}
	data, err := s.parts().Bytes()
	if err != nil {
		diags.AddAttributeError(s.given(), "File for the machine can't be read", err.Error())
	}
	return data
}

// Uploaded notes what the file holds now. config is the configuration that data came from.
func (s *Sole) Uploaded(config Sole, data []byte) {
	s.SHA256 = types.StringValue(Hash(data))
	if !config.ContentWO.IsNull() {
		s.SHA256 = types.StringNull() // the hash of a short secret gives it away
	}
}

// Doubtful notes, in the state before it, that an upload of planned failed: what the file holds now isn't known, so the
// next plan uploads again whatever it is to hold.
func (s *Sole) Doubtful(planned Sole) {
	s.SHA256 = types.StringNull()
	if !planned.ContentWOVersion.IsNull() {
		s.ContentWOVersion = wholenumber.Null()
	}
}

// PlanSole decides whether a planned change uploads: sha256 is unknown then, and kept where the file stays as it is. more
// are further attributes whose change uploads again.
func PlanSole(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse, config Sole, more ...string) {
	hash := config.hash(&resp.Diagnostics)
	change, standing := plan.ChangeOf(req)
	switch {
	case resp.Diagnostics.HasError() || !standing:
	case config.differs(change, hash) || changed(change, more...):
		resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, path.Root("sha256"), types.StringUnknown())...)
	default:
		change.Keep(ctx, resp, "sha256")
	}
}

// hash is that of the content; "" while it isn't known, and for a write-only one. It reads a local file, so that a missing
// one is an error of the plan.
func (s Sole) hash(diags *diag.Diagnostics) string {
	for _, text := range []types.String{s.Content, s.ContentBase64, s.ContentWO, s.Source} {
		if text.IsUnknown() {
			return ""
		}
	}
	if !s.ContentWO.IsNull() {
		return ""
	}
	if data := s.Load(diags); !diags.HasError() {
		return Hash(data)
	}
	return ""
}

// differs says whether the configured content isn't the one that the file holds.
func (s Sole) differs(change plan.Change, hash string) bool {
	if !s.ContentWO.IsNull() {
		return changed(change, "content", "content_base64", "source", "content_wo_version")
	}
	return hash == "" || !change.State["sha256"].Equal(tftypes.NewValue(tftypes.String, hash))
}

// changed compares exactly: null and empty are two contents.
func changed(change plan.Change, names ...string) bool {
	for _, name := range names {
		if !change.State[name].Equal(change.Plan[name]) {
			return true
		}
	}
	return false
}
