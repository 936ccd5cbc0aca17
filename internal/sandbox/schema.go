package sandbox

import (
	"maps"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/listvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/mapvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/int64default"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/setdefault"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentenv/terraform-provider-gpuvm/internal/metadata"
	"github.com/agentenv/terraform-provider-gpuvm/internal/upload"
	"github.com/agentenv/terraform-provider-gpuvm/internal/validate"
	"github.com/agentenv/terraform-provider-gpuvm/internal/wholenumber"
)

// MinTTL is the shortest life that the server gives a sandbox, in seconds.
const MinTTL = 60

// Attributes is the schema of the arguments that are attributes.
func Attributes() map[string]schema.Attribute {
	attributes := sourceAttributes()
	maps.Copy(attributes, runtimeAttributes())
	maps.Copy(attributes, reachAttributes())
	maps.Copy(attributes, setupAttributes())
	return attributes
}

func sourceAttributes() map[string]schema.Attribute {
	source := []validator.String{stringvalidator.LengthAtLeast(1)}
	return map[string]schema.Attribute{
		"image": schema.StringAttribute{
			MarkdownDescription: "Container image to start from. It stays as configured, whatever the server calls it. Exactly one of `image`, `snapshot_id` and `pool_ref` is required. A change replaces the sandbox. Defaults to none.",
			Optional:            true, Validators: source,
		},
		"snapshot_id": schema.StringAttribute{
			MarkdownDescription: "Id of the snapshot to restore. The sandbox inherits the metadata and variables that the snapshot's source was made with and, without `ttl_seconds`, its expiry. A change replaces the sandbox. Defaults to none.",
			Optional:            true, Validators: source,
		},
		"pool_ref": schema.StringAttribute{
			MarkdownDescription: "Name of the pool to take a warm sandbox from (servers on Kubernetes). It excludes `network_policy`, `platform`, `volume`, `credential_proxy`, `pre_start`, `periodic` and `image_pull_policy`. A change replaces the sandbox. Defaults to none.",
			Optional:            true, Validators: source,
		},
		"image_auth": schema.SingleNestedAttribute{
			MarkdownDescription: "Sign-in to the image's private registry, used at create. A change is noted, nothing is sent. Defaults to none.",
			Optional:            true,
			Attributes: map[string]schema.Attribute{
				"username": schema.StringAttribute{MarkdownDescription: "User name.", Required: true, Validators: source},
				"password_wo": schema.StringAttribute{
					MarkdownDescription: "Password or token, write-only: it stands in no state and no plan.",
					Required:            true, Sensitive: true, WriteOnly: true, Validators: source,
				},
			},
		},
		"image_pull_policy": schema.StringAttribute{
			MarkdownDescription: "When the image is pulled: `Always`, `IfNotPresent` or `Never`. It is sent in the extensions `imagePullPolicy` and `opensandbox.extensions.image-pull-policy`, unless `extensions` has one of them. A change replaces the sandbox. Defaults to the provider's `create.image_pull_policy`, whose change reaches only sandboxes that are made afterwards.",
			Optional:            true,
			Validators:          []validator.String{stringvalidator.OneOf(PullAlways, PullIfNotPresent, PullNever)},
		},
		"entrypoint": schema.ListAttribute{
			MarkdownDescription: "Command and arguments of the sandbox's main process; the sandbox ends with it. A change replaces the sandbox. Defaults to `[\"tail\", \"-f\", \"/dev/null\"]` with `image`, else to what the snapshot or pool has.",
			Optional:            true, ElementType: types.StringType,
			Validators: []validator.List{listvalidator.SizeAtLeast(1), validate.NoNullElements()},
		},
	}
}

func runtimeAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"env": schema.MapAttribute{
			MarkdownDescription: "Environment variables of the sandbox. They stand in the state; use `env_wo` for secrets. A change replaces the sandbox. Defaults to none.",
			Optional:            true, ElementType: types.StringType,
			Validators: []validator.Map{validate.Variables()},
		},
		"env_wo": schema.MapAttribute{
			MarkdownDescription: "Environment variables laid over `env`, write-only: they stand in no state and no plan. Raise `env_wo_version` when one of them changes. Defaults to none.",
			Optional:            true, Sensitive: true, WriteOnly: true, ElementType: types.StringType,
			Validators: []validator.Map{validate.Variables()},
		},
		"metadata": schema.MapAttribute{
			MarkdownDescription: "Metadata of the sandbox, over the provider's `default_metadata`. Values are made fit for the server, as `effective_metadata` shows at plan. Not for secrets: plans print them. Changed in place, key by key; what others set is left alone. Defaults to none.",
			Optional:            true, ElementType: types.StringType,
			Validators: []validator.Map{metadata.Map()},
		},
		"platform": schema.SingleNestedAttribute{
			MarkdownDescription: "What the sandbox has to run on. A change replaces the sandbox. Defaults to the server's choice.",
			Optional:            true,
			Attributes: map[string]schema.Attribute{
				"os":   schema.StringAttribute{MarkdownDescription: "`linux` or `windows`.", Required: true, Validators: []validator.String{stringvalidator.OneOf("linux", "windows")}},
				"arch": schema.StringAttribute{MarkdownDescription: "`amd64` or `arm64`.", Required: true, Validators: []validator.String{stringvalidator.OneOf("amd64", "arm64")}},
			},
		},
		"credential_proxy": schema.BoolAttribute{
			MarkdownDescription: "Whether the egress sidecar puts credentials into requests; needs `network_policy`, and a server whose egress mode is `dns+nft`. A change replaces the sandbox. Defaults to `false`.",
			Optional:            true, Computed: true, Default: booldefault.StaticBool(false),
		},
		"secure_access": schema.BoolAttribute{
			MarkdownDescription: "Whether the sandbox's endpoints ask for a header, which the ephemeral resource `opensandbox_endpoint` gives (servers on Kubernetes with a gateway). A change replaces the sandbox. Defaults to `false`.",
			Optional:            true, Computed: true, Default: booldefault.StaticBool(false),
		},
		"extensions": schema.MapAttribute{
			MarkdownDescription: "Extensions of the create request, as the server documents them. `poolRef` has an attribute of its own, and `access.renew.extend.seconds` takes 300 to 86400. They stand in the state. A change replaces the sandbox. Defaults to none.",
			Optional:            true, ElementType: types.StringType,
			Validators: []validator.Map{validate.NoNulls("Extension"), extensions{}},
		},
		"ttl_seconds": schema.Int64Attribute{
			MarkdownDescription: "Seconds after which the server ends the sandbox, a whole number of 60 or more. A change renews in place to that long from now; adding or removing it replaces the sandbox, as the server can't switch. Defaults to none: it never expires, and stays until it is destroyed.",
			Optional:            true, CustomType: wholenumber.Type{},
			Validators: []validator.Int64{int64validator.AtLeast(MinTTL)},
		},
	}
}

func reachAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"exposed_ports": schema.SetAttribute{
			MarkdownDescription: "Ports of the sandbox, 1 to 65535, whose URLs `ports` tells. Changed in place: nothing is sent but the look-ups. Defaults to none.",
			Optional:            true, Computed: true, ElementType: wholenumber.Type{},
			Default:    setdefault.StaticValue(types.SetValueMust(wholenumber.Type{}, nil)),
			Validators: []validator.Set{wholenumber.Elements(1, 65535)},
		},
		"vnc_port": schema.Int64Attribute{
			MarkdownDescription: "Port of the sandbox, 1 to 65535, that serves its display; `vnc_url` tells its URL. Changed in place: nothing is sent but the look-up. Defaults to none.",
			Optional:            true, CustomType: wholenumber.Type{},
			Validators: []validator.Int64{int64validator.Between(1, 65535)},
		},
		"skip_health_check": schema.BoolAttribute{
			MarkdownDescription: "Whether create leaves out waiting for the sandbox's agent; the provider's probe still runs, unless its command is `\"\"`. The provider's `create.skip_health_check = true` wins. A change is noted, nothing is sent. Defaults to `false`.",
			Optional:            true, Computed: true, Default: booldefault.StaticBool(false),
		},
		"ready_timeout_seconds": schema.Int64Attribute{
			MarkdownDescription: "Seconds that the agent of the running sandbox may take to answer, a whole number of 1 or more. A change is noted, nothing is sent. Defaults to `60`.",
			Optional:            true, Computed: true, CustomType: wholenumber.Type{}, Default: int64default.StaticInt64(60),
			Validators: []validator.Int64{int64validator.AtLeast(1)},
		},
	}
}

func setupAttributes() map[string]schema.Attribute {
	files := upload.FilesAttribute(map[string]schema.Attribute{
		"mode": schema.StringAttribute{
			MarkdownDescription: "Permissions in octal digits, `1` to `777`. Defaults to `755`.",
			Optional:            true, Validators: []validator.String{upload.Mode()},
		},
		"owner": schema.StringAttribute{MarkdownDescription: "User that the file belongs to, by a name known in the sandbox. Defaults to the agent's own.", Optional: true},
		"group": schema.StringAttribute{MarkdownDescription: "Group that the file belongs to, by a name known in the sandbox. Defaults to the agent's own.", Optional: true},
	})
	files.Validators = append(files.Validators, mapvalidator.KeysAre(upload.LiteralPath()))
	return map[string]schema.Attribute{
		"files": files,
		"setup_script": schema.StringAttribute{
			MarkdownDescription: "Script that the sandbox's shell runs once in the new sandbox, after the files. It stands in the state: put secrets into a file with `content_wo`. A change replaces the sandbox. Defaults to none.",
			Optional:            true, Sensitive: true,
		},
	}
}
