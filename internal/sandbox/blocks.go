package sandbox

import (
	"regexp"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/listvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentenv/terraform-provider-gpuvm/internal/networkpolicy"
	"github.com/agentenv/terraform-provider-gpuvm/internal/validate"
	"github.com/agentenv/terraform-provider-gpuvm/internal/wholenumber"
)

// Blocks is the schema of the arguments that are blocks.
func Blocks() map[string]schema.Block {
	return map[string]schema.Block{
		"resources":         resourcesBlock("What the sandbox may use at most. A change replaces the sandbox. Defaults, where the whole block is absent, to 1 CPU and 2 GiB of memory; with `pool_ref` to what the pool has."),
		"resource_requests": resourcesBlock("What the sandbox is sure to get (newer servers on Kubernetes; others ignore it). A change replaces the sandbox. Defaults to the same as `resources`."),
		"network_policy":    networkpolicy.Block("What the sandbox may reach, enforced by its egress sidecar. A change is made in place, and again after a resume; adding or removing the block replaces the sandbox. Defaults to none, which allows all."),
		"volume":            volumeBlock(),
		"pre_start": schema.SingleNestedBlock{
			MarkdownDescription: "Command that the server runs in the sandbox before its entrypoint (newer servers; others ignore it). A change replaces the sandbox. Defaults to none.",
			Validators:          []validator.Object{validate.Requires("command")},
			Attributes: map[string]schema.Attribute{
				"command": commandAttribute("Command and arguments; required in the block.", false),
				"timeout_seconds": schema.Int64Attribute{
					MarkdownDescription: "Seconds that it may take, 1 to 10800. Defaults to the server's `60`.",
					Optional:            true, CustomType: wholenumber.Type{},
					Validators: []validator.Int64{int64validator.Between(1, 10800)},
				},
			},
		},
		"periodic": schema.ListNestedBlock{
			MarkdownDescription: "Command that the server runs in the sandbox on a schedule (newer servers; others ignore it). A change replaces the sandbox. Defaults to none.",
			Validators:          []validator.List{uniqueNames{}},
			NestedObject: schema.NestedBlockObject{Attributes: map[string]schema.Attribute{
				"name":     schema.StringAttribute{MarkdownDescription: "Name, unique in the sandbox.", Required: true, Validators: notEmpty()},
				"schedule": schema.StringAttribute{MarkdownDescription: "When it runs, in the server's cron syntax, such as `*/5 * * * *`.", Required: true, Validators: notEmpty()},
				"command":  commandAttribute("Command and arguments.", true),
				"timeout_seconds": schema.Int64Attribute{
					MarkdownDescription: "Seconds that it may take, 1 to 300. Defaults to the server's `60`.",
					Optional:            true, CustomType: wholenumber.Type{},
					Validators: []validator.Int64{int64validator.Between(1, 300)},
				},
			}},
		},
	}
}

func commandAttribute(description string, required bool) schema.ListAttribute {
	return schema.ListAttribute{
		MarkdownDescription: description, Required: required, Optional: !required, ElementType: types.StringType,
		Validators: []validator.List{listvalidator.SizeAtLeast(1), validate.NoNullElements()},
	}
}

func resourcesBlock(description string) schema.Block {
	whole := func(text string) schema.Int64Attribute {
		return schema.Int64Attribute{
			MarkdownDescription: text + ", a whole number of 0 or more. Defaults to none.",
			Optional:            true, CustomType: wholenumber.Type{},
			Validators: []validator.Int64{int64validator.AtLeast(0)},
		}
	}
	return schema.SingleNestedBlock{
		MarkdownDescription: description,
		Attributes: map[string]schema.Attribute{
			"cpu": schema.Float64Attribute{
				MarkdownDescription: "CPUs, 0 or more; fractions are allowed. Defaults to none.",
				Optional:            true, Validators: []validator.Float64{atLeastZero{}},
			},
			"memory_mib": whole("Memory in MiB"),
			"disk_gib":   whole("Ephemeral storage in GiB"),
			"gpu":        whole("GPUs"),
			"gpu_type": schema.StringAttribute{
				MarkdownDescription: "Kind of GPU, in the server's words. Defaults to none.",
				Optional:            true, Validators: notEmpty(),
			},
			"extended": schema.MapAttribute{
				MarkdownDescription: "Further resources by their name, as Kubernetes quantities such as `500m` or `2Gi`. Defaults to none.",
				Optional:            true, ElementType: types.StringType,
				Validators: []validator.Map{validate.NoNulls("Resource"), quantities{}},
			},
		},
	}
}

// dnsLabel is what the server lets volumes and claims be called (RFC 1123, section 2.1).
var dnsLabel = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)

func volumeBlock() schema.Block {
	label := stringvalidator.RegexMatches(dnsLabel, "must be lowercase letters, digits and dashes, with a letter or digit at both ends")
	return schema.ListNestedBlock{
		MarkdownDescription: "Storage that is mounted into the sandbox, from exactly one of `host`, `pvc` and `ossfs`. A change replaces the sandbox. Defaults to none.",
		Validators:          []validator.List{uniqueNames{}},
		NestedObject: schema.NestedBlockObject{
			Validators: []validator.Object{validate.ExactlyOne("volume", "host", "pvc", "ossfs")},
			Attributes: map[string]schema.Attribute{
				"name": schema.StringAttribute{
					MarkdownDescription: "Name, unique in the sandbox: lowercase letters, digits and dashes, at most 63 characters, not `opensandbox-bin`.",
					Required:            true,
					Validators:          []validator.String{stringvalidator.LengthAtMost(63), label, stringvalidator.NoneOf("opensandbox-bin")},
				},
				"mount_path": schema.StringAttribute{
					MarkdownDescription: "Absolute path in the sandbox.", Required: true,
					Validators: []validator.String{stringvalidator.RegexMatches(regexp.MustCompile(`^/`), "must begin with a slash")},
				},
				"read_only": schema.BoolAttribute{
					MarkdownDescription: "Whether the sandbox can't write to it. Defaults to `false`.",
					Optional:            true, Computed: true, Default: booldefault.StaticBool(false),
				},
				"sub_path": schema.StringAttribute{
					MarkdownDescription: "Folder of the storage to mount, relative and without `..`. Defaults to all of it.",
					Optional:            true, Validators: []validator.String{relativePath{}},
				},
			},
			Blocks: map[string]schema.Block{
				"host":  hostBlock(),
				"pvc":   claimBlock(label),
				"ossfs": bucketBlock(),
			},
		},
	}
}

func hostBlock() schema.Block {
	return schema.SingleNestedBlock{
		MarkdownDescription: "A path of the server's host, which has to allow it.",
		Validators:          []validator.Object{validate.Requires("path")},
		Attributes: map[string]schema.Attribute{
			"path": schema.StringAttribute{
				MarkdownDescription: "Absolute path on the host; required in the block.", Optional: true,
				Validators: []validator.String{stringvalidator.RegexMatches(regexp.MustCompile(`^(/|[A-Za-z]:[\\/])`), "must be an absolute path")},
			},
		},
	}
}

func claimBlock(label validator.String) schema.Block {
	return schema.SingleNestedBlock{
		MarkdownDescription: "A persistent volume claim of Kubernetes, or a named volume of Docker.",
		Validators:          []validator.Object{validate.Requires("claim_name")},
		Attributes: map[string]schema.Attribute{
			"claim_name": schema.StringAttribute{
				MarkdownDescription: "Name of the claim or volume; required in the block.", Optional: true,
				Validators: []validator.String{stringvalidator.LengthAtMost(253), label},
			},
			"create_if_not_exists":          schema.BoolAttribute{MarkdownDescription: "Whether the server makes it where it doesn't exist. Defaults to `true`.", Optional: true, Computed: true, Default: booldefault.StaticBool(true)},
			"delete_on_sandbox_termination": schema.BoolAttribute{MarkdownDescription: "Whether it ends with the sandbox, where the server made it (Docker only). Defaults to `false`.", Optional: true, Computed: true, Default: booldefault.StaticBool(false)},
			"storage_class":                 schema.StringAttribute{MarkdownDescription: "Storage class of a claim that is made (Kubernetes only). Defaults to the cluster's.", Optional: true, Validators: notEmpty()},
			"storage": schema.StringAttribute{
				MarkdownDescription: "Size of a claim that is made, such as `10Gi` (Kubernetes only). Defaults to the server's.", Optional: true,
				Validators: []validator.String{stringvalidator.RegexMatches(regexp.MustCompile(`^\d+(\.\d+)?(Ki|Mi|Gi|Ti|Pi|Ei)?$`), "must be a size such as 10Gi")},
			},
			"access_modes": schema.ListAttribute{
				MarkdownDescription: "Access modes of a claim that is made (Kubernetes only). Defaults to the server's `[\"ReadWriteOnce\"]`.", Optional: true, ElementType: types.StringType,
				Validators: []validator.List{validate.NoNullElements(), listvalidator.ValueStringsAre(stringvalidator.OneOf("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"))},
			},
		},
	}
}

func bucketBlock() schema.Block {
	return schema.SingleNestedBlock{
		MarkdownDescription: "A bucket of Alibaba Cloud's object store.",
		Validators:          []validator.Object{validate.Requires("bucket", "endpoint", "access_key_id", "access_key_secret_wo")},
		Attributes: map[string]schema.Attribute{
			"bucket": schema.StringAttribute{
				MarkdownDescription: "Name of the bucket, 3 to 63 characters; required in the block.", Optional: true,
				Validators: []validator.String{stringvalidator.LengthBetween(3, 63)},
			},
			"endpoint": schema.StringAttribute{MarkdownDescription: "Endpoint of the store, such as `oss-cn-hangzhou.aliyuncs.com`; required in the block.", Optional: true, Validators: notEmpty()},
			"version": schema.StringAttribute{
				MarkdownDescription: "Major version of ossfs: `1.0` or `2.0`. Defaults to the server's `2.0`.", Optional: true,
				Validators: []validator.String{stringvalidator.OneOf("1.0", "2.0")},
			},
			"options": schema.ListAttribute{
				MarkdownDescription: "Further mount options, without a leading dash. Defaults to none.", Optional: true, ElementType: types.StringType,
				Validators: []validator.List{validate.NoNullElements(), listvalidator.ValueStringsAre(stringvalidator.RegexMatches(regexp.MustCompile(`^\s*[^-\s]`), "must not be empty or begin with a dash"))},
			},
			"access_key_id": schema.StringAttribute{MarkdownDescription: "Id of the access key; required in the block.", Optional: true, Validators: notEmpty()},
			"access_key_secret_wo": schema.StringAttribute{
				MarkdownDescription: "Secret of the access key, write-only: it stands in no state and no plan; required in the block.",
				Optional:            true, Sensitive: true, WriteOnly: true, Validators: notEmpty(),
			},
		},
	}
}

func notEmpty() []validator.String { return []validator.String{stringvalidator.LengthAtLeast(1)} }
