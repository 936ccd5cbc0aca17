// Package sandbox is what users say about a sandbox that is to be made: its attributes and blocks, the checks that come
// before anything is sent, and the request that follows from them.
package sandbox

import (
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentenv/terraform-provider-gpuvm/internal/wholenumber"
)

// Arguments are the attributes and blocks that say what is to be made; the schema is that of Attributes and Blocks.
type Arguments struct {
	Image      types.String `tfsdk:"image"`
	SnapshotID types.String `tfsdk:"snapshot_id"`
	PoolRef    types.String `tfsdk:"pool_ref"`
	ImageAuth  types.Object `tfsdk:"image_auth"`
	Entrypoint types.List   `tfsdk:"entrypoint"`

	Resources        types.Object      `tfsdk:"resources"`
	ResourceRequests types.Object      `tfsdk:"resource_requests"`
	Env              types.Map         `tfsdk:"env"`
	EnvWO            types.Map         `tfsdk:"env_wo"`
	Metadata         types.Map         `tfsdk:"metadata"`
	TTLSeconds       wholenumber.Value `tfsdk:"ttl_seconds"`

	ExposedPorts types.Set         `tfsdk:"exposed_ports"`
	VNCPort      wholenumber.Value `tfsdk:"vnc_port"`

	Platform        types.Object `tfsdk:"platform"`
	Volume          types.List   `tfsdk:"volume"`
	NetworkPolicy   types.Object `tfsdk:"network_policy"`
	CredentialProxy types.Bool   `tfsdk:"credential_proxy"`
	SecureAccess    types.Bool   `tfsdk:"secure_access"`
	Extensions      types.Map    `tfsdk:"extensions"`
	ImagePullPolicy types.String `tfsdk:"image_pull_policy"`
	PreStart        types.Object `tfsdk:"pre_start"`
	Periodic        types.List   `tfsdk:"periodic"`

	SkipHealthCheck     types.Bool        `tfsdk:"skip_health_check"`
	ReadyTimeoutSeconds wholenumber.Value `tfsdk:"ready_timeout_seconds"`

	Files       types.Map    `tfsdk:"files"`
	SetupScript types.String `tfsdk:"setup_script"`
}

// The extensions of a create that mean something here.
const (
	pullPolicyExtension     = "imagePullPolicy"
	pullPolicyExtensionLong = "opensandbox.extensions.image-pull-policy"
	renewExtension          = "access.renew.extend.seconds"
)

// The image pull policies.
const (
	PullAlways       = "Always"
	PullIfNotPresent = "IfNotPresent"
	PullNever        = "Never"
)
