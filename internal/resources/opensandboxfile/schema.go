package opensandboxfile

import (
	"context"
	"maps"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/agentenv/terraform-provider-gpuvm/internal/upload"
)

// Schema is the contract with users.
func (r *Resource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	attributes := map[string]schema.Attribute{
		"sandbox_id": schema.StringAttribute{
			MarkdownDescription: "Id of the `opensandbox_sandbox` that the file goes into. A change replaces the object: the file is uploaded to the other one.",
			Required:            true,
			Validators:          []validator.String{stringvalidator.LengthAtLeast(1)},
		},
		"path": schema.StringAttribute{
			MarkdownDescription: "Absolute path of the file in the sandbox; a file that stands there is overwritten. A change replaces the object: the file is deleted at the old path and uploaded to the new one.",
			Required:            true,
			Validators:          []validator.String{upload.AbsolutePath(), upload.LiteralPath()},
		},
		"mode": schema.StringAttribute{
			MarkdownDescription: "Permissions in octal digits, `1` to `777`. A change uploads again, in place. Defaults to `755`.",
			Optional:            true, Validators: []validator.String{upload.Mode()},
		},
		"owner": schema.StringAttribute{
			MarkdownDescription: "User that the file belongs to, by a name known in the sandbox. A change uploads again, in place. Defaults to the user of the sandbox's agent.",
			Optional:            true,
		},
		"group": schema.StringAttribute{
			MarkdownDescription: "Group that the file belongs to, by a name known in the sandbox. A change uploads again, in place. Defaults to that of the sandbox's agent.",
			Optional:            true,
		},
	}
	maps.Copy(attributes, upload.SoleAttributes())
	resp.Schema = schema.Schema{
		MarkdownDescription: "A file in an `opensandbox_sandbox`. A refresh downloads it to see whether its content was changed in the sandbox, which the next apply puts right; with `content_wo` it isn't looked at, nor are its permissions. " +
			"While the sandbox is paused nothing is compared. Destroying the object deletes the file; in a sandbox that doesn't run it stays, with a warning, and ends with the sandbox. " +
			"A file or a sandbox that is gone takes the object out of the state. It can't be imported. An upload whose answer is lost is repeated, as that does no harm.",
		Attributes: attributes,
	}
}
