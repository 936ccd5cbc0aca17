package opensandboxsnapshot

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentenv/terraform-provider-gpuvm/internal/plan"
	"github.com/agentenv/terraform-provider-gpuvm/internal/snapshot"
)

// model is a snapshot as state, plan and configuration hold it.
type model struct {
	snapshot.Told
	Timeouts timeouts.Value `tfsdk:"timeouts"`
}

// identity is what an import names a snapshot by.
type identity struct {
	ID types.String `tfsdk:"id"`
}

// Schema is the contract with users.
func (r *Resource) Schema(ctx context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	notEmpty := []validator.String{stringvalidator.LengthAtLeast(1)}
	resp.Schema = schema.Schema{
		MarkdownDescription: "A snapshot of a running sandbox's file system, from which `opensandbox_sandbox` makes others by `snapshot_id`. It stays when its sandbox ends. " +
			"Create waits until it is ready; one that fails is deleted again. A create whose answer is lost takes no second one: the provider looks first for what the lost request has made. " +
			"A server on Docker doesn't let go of a snapshot while sandboxes that were made from it stand.",
		Attributes: map[string]schema.Attribute{
			"sandbox_id": schema.StringAttribute{
				MarkdownDescription: "Id of the sandbox to take a snapshot of, which has to be running. A change replaces the snapshot by one of the other sandbox.",
				Required:            true, Validators: notEmpty,
			},
			"name": schema.StringAttribute{
				MarkdownDescription: "Name of the snapshot, which need not be unique. A change replaces the snapshot by one that is taken then. Defaults to none.",
				Optional:            true, Validators: notEmpty,
			},
			"id":         schema.StringAttribute{MarkdownDescription: snapshot.IDText, Computed: true},
			"status":     schema.StringAttribute{MarkdownDescription: snapshot.StatusText + " One that is `Failed` is replaced by the next apply.", Computed: true},
			"created_at": schema.StringAttribute{MarkdownDescription: snapshot.CreatedAtText, Computed: true},
		},
		Blocks: map[string]schema.Block{"timeouts": plan.TimeoutsBlock(ctx, timeouts.Opts{
			Create: true, Delete: true,
			CreateDescription: "How long the snapshot may take until it is ready, as a duration such as `\"30m\"`. Defaults to `30m`.",
			DeleteDescription: "How long a destroy may take, until the server no longer knows the snapshot. Defaults to `10m`.",
		})},
	}
}

// IdentitySchema is the snapshot's identity: its id.
func (r *Resource) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse) {
	resp.IdentitySchema = identityschema.Schema{Attributes: map[string]identityschema.Attribute{
		"id": identityschema.StringAttribute{RequiredForImport: true, Description: snapshot.IDText},
	}}
}
