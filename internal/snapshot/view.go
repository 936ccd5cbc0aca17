// Package snapshot is what a server tells of a snapshot, for whatever in Terraform shows one.
package snapshot

import (
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	api "github.com/agentenv/terraform-provider-gpuvm/internal/apiclient/opensandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/nullable"
)

// Told is what the resource keeps of a server's answer.
type Told struct {
	ID        types.String `tfsdk:"id"`
	SandboxID types.String `tfsdk:"sandbox_id"`
	Name      types.String `tfsdk:"name"`
	Status    types.String `tfsdk:"status"`
	CreatedAt types.String `tfsdk:"created_at"`
}

// ToldOf reads a server's answer.
func ToldOf(live api.Snapshot) Told {
	return Told{
		ID: types.StringValue(live.ID), SandboxID: nullable.Text(live.SandboxID), Name: nullable.Text(live.Name),
		Status: nullable.Text(live.Status.State), CreatedAt: nullable.Time(live.CreatedAt.Time),
	}
}

// What the attributes of all types say of themselves.
const (
	IDText        = "The server's id of the snapshot."
	StatusText    = "The server's word for its state: `Creating`, `Ready`, `Failed` or `Deleting`."
	CreatedAtText = "When the snapshot was taken (RFC 3339)."
)

// View is everything that the server tells, for data sources; its schema is ViewAttributes.
type View struct {
	Told
	StatusReason  types.String `tfsdk:"status_reason"`
	StatusMessage types.String `tfsdk:"status_message"`
}

// ViewAttributes is the schema of View.
func ViewAttributes() map[string]schema.Attribute {
	text := func(description string) schema.StringAttribute {
		return schema.StringAttribute{Computed: true, MarkdownDescription: description}
	}
	return map[string]schema.Attribute{
		"id":             text(IDText),
		"sandbox_id":     text("The sandbox that it was taken of, which may be gone."),
		"name":           text("Its name; null where it has none. Names need not be unique."),
		"status":         text(StatusText),
		"status_reason":  text("The server's code for why the state is what it is; null where it gives none."),
		"status_message": text("The server's words about the state; null where it gives none."),
		"created_at":     text(CreatedAtText),
	}
}

// ViewOf reads a server's answer.
func ViewOf(live api.Snapshot) View {
	return View{
		Told: ToldOf(live), StatusReason: nullable.Text(live.Status.Reason), StatusMessage: nullable.Text(live.Status.Message),
	}
}
