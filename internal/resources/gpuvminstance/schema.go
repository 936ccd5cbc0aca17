package gpuvminstance

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/listvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/float64default"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/int64default"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/setdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentenv/terraform-provider-gpuvm/internal/networkpolicy"
	"github.com/agentenv/terraform-provider-gpuvm/internal/plan"
	"github.com/agentenv/terraform-provider-gpuvm/internal/upload"
	"github.com/agentenv/terraform-provider-gpuvm/internal/validate"
	"github.com/agentenv/terraform-provider-gpuvm/internal/wholenumber"
)

// replacing are the attributes whose change replaces the instance: the service has no update.
var replacing = []string{
	"image", "cpu", "memory_mb", "disk_gb", "ttl_seconds", "exposed_ports", "labels", "priority",
	"files", "files_wo_version", "setup_script",
}

// computed are the attributes that the service tells. None changes while the instance stands, but at a refresh.
var computed = []string{
	"id", "status", "ports", "vnc_url", "error", "effective_labels", "attribution_labels", "created_at", "expires_at",
}

// unverified are the attributes of which an imported instance takes the configured value without a look.
var unverified = []string{
	"image", "cpu", "memory_mb", "disk_gb", "ttl_seconds", "priority", "files", "files_wo_version", "setup_script",
}

// Schema is the contract with users: see design of the attributes in the provider's docs page.
func (r *Resource) Schema(ctx context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "A GPU virtual machine with a display. The service can change nothing of a machine that stands, so every setting of the machine itself replaces it.",
		Attributes:          merge(machineAttributes(), setupAttributes(), computedAttributes()),
		Blocks: map[string]schema.Block{
			"network_policy": networkpolicy.Block("What the machine may reach. The service can't enforce a policy, so anything but allowing all is refused before a machine is made. A change is noted. Defaults to none, which allows all."),
			"timeouts": plan.TimeoutsBlock(ctx, timeouts.Opts{
				Create: true, Read: true, Delete: true,
				CreateDescription: "How long all of create may take, as a duration such as `\"30m\"`. Where absent, the provider's `boot_timeout_seconds` bounds the boot and `60m` the rest.",
				ReadDescription:   "How long a refresh may take. Defaults to `2m`.",
				DeleteDescription: "How long a destroy may take, until the service no longer knows the machine. Defaults to `10m`.",
			}),
		},
	}
}

func machineAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"image": schema.StringAttribute{
			MarkdownDescription: "Name of the image to boot. It stays as configured, whatever the service calls it. A change replaces the machine.",
			Required:            true,
			Validators:          []validator.String{stringvalidator.LengthAtLeast(1)},
		},
		"cpu": schema.Float64Attribute{
			MarkdownDescription: "Number of CPUs, more than 0; fractions are allowed. A change replaces the machine. Defaults to `1`.",
			Optional:            true, Computed: true, Default: float64default.StaticFloat64(1),
			Validators: []validator.Float64{validate.MoreThanZero()},
		},
		"memory_mb": schema.Int64Attribute{
			MarkdownDescription: "Memory in MB, a whole number of 1 or more. A change replaces the machine. Defaults to `8192`.",
			Optional:            true, Computed: true, CustomType: wholenumber.Type{}, Default: int64default.StaticInt64(8192),
			Validators: []validator.Int64{int64validator.AtLeast(1)},
		},
		"disk_gb": schema.Float64Attribute{
			MarkdownDescription: "Disk in GB, more than 0; fractions are allowed. A change replaces the machine. Defaults to `10`.",
			Optional:            true, Computed: true, Default: float64default.StaticFloat64(10),
			Validators: []validator.Float64{validate.MoreThanZero()},
		},
		"ttl_seconds": schema.Int64Attribute{
			MarkdownDescription: "Seconds after which the service ends the machine by itself, a whole number of 1 or more; the service can't renew. The next plan after that makes a new one. A change replaces the machine. Defaults to `7200`.",
			Optional:            true, Computed: true, CustomType: wholenumber.Type{}, Default: int64default.StaticInt64(7200),
			Validators: []validator.Int64{int64validator.AtLeast(1)},
		},
		"exposed_ports": schema.SetAttribute{
			MarkdownDescription: "Ports of the machine, 1 to 65535, that are to be reached from outside; `ports` has the URL of each. A change replaces the machine. Defaults to none.",
			Optional:            true, Computed: true, ElementType: wholenumber.Type{},
			Default:    setdefault.StaticValue(types.SetValueMust(wholenumber.Type{}, nil)),
			Validators: []validator.Set{wholenumber.Elements(1, 65535)},
		},
		"labels": schema.MapAttribute{
			MarkdownDescription: "Labels of the machine, over the provider's `default_labels`. Not for secrets: plans print them. A change replaces the machine. Defaults to none.",
			Optional:            true, ElementType: types.StringType,
			Validators: []validator.Map{validate.NoNulls("Label")},
		},
		"priority": schema.Int64Attribute{
			MarkdownDescription: "Priority by which the service schedules the machine, a whole number; what it means is the service's. A change replaces the machine. Defaults to none.",
			Optional:            true, CustomType: wholenumber.Type{},
		},
	}
}

func setupAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"readiness_command": schema.ListAttribute{
			MarkdownDescription: "Command and arguments that are run in the booted machine until they exit with 0; only then does the machine count as ready. A change is noted, nothing is run. Defaults to none.",
			Optional:            true, ElementType: types.StringType,
			Validators: []validator.List{listvalidator.SizeAtLeast(1), validate.NoNullElements()},
		},
		"files": upload.FilesAttribute(nil),
		"files_wo_version": schema.Int64Attribute{
			MarkdownDescription: "Version of the `content_wo` of `files`, a whole number: raise it when one of them changes, which replaces the machine. Defaults to none.",
			Optional:            true, CustomType: wholenumber.Type{},
		},
		"setup_script": schema.StringAttribute{
			MarkdownDescription: "Script that `sudo bash -c` runs once in the new machine, after the files. It stands in the state: put secrets into a file with `content_wo`. A change replaces the machine. Defaults to none.",
			Optional:            true, Sensitive: true,
		},
		"teardown_script": schema.StringAttribute{
			MarkdownDescription: "Script that `sudo bash -c` runs in the machine before it is destroyed. If it fails, the machine stays and the destroy ends with an error; it is skipped with a warning where the machine isn't running. A change is noted, nothing is run. Defaults to none.",
			Optional:            true,
		},
		"on_create_failure": schema.StringAttribute{
			MarkdownDescription: "What becomes of a machine whose create fails after it was made: `delete`, or `keep` it in the state, tainted, for debugging (it costs until the next apply). A change is noted. Defaults to `delete`.",
			Optional:            true, Computed: true, Default: stringdefault.StaticString(onFailureDelete),
			Validators: []validator.String{stringvalidator.OneOf(onFailureDelete, onFailureKeep)},
		},
	}
}

func computedAttributes() map[string]schema.Attribute {
	text := func(description string) schema.StringAttribute {
		return schema.StringAttribute{Computed: true, MarkdownDescription: description}
	}
	labels := func(description string) schema.MapAttribute {
		return schema.MapAttribute{Computed: true, ElementType: types.StringType, MarkdownDescription: description}
	}
	return map[string]schema.Attribute{
		"id":                 text("The service's id of the machine."),
		"status":             text("`booting`, `running` or `failed`. A failed machine is replaced by the next apply."),
		"ports":              labels("The URL of each of `exposed_ports`, by port. The keys are known at plan; null where the service no longer tells a port."),
		"vnc_url":            text("URL of the machine's display; null where the service gives none."),
		"error":              text("What the service says of a failed machine, else null."),
		"effective_labels":   labels("The own labels over the provider's `default_labels`, as they were stamped at create."),
		"attribution_labels": labels("The labels that came from the provider's `attribution` block, frozen at create; empty without the block and after an import."),
		"created_at":         text("When the machine was made, by the service's clock (RFC 3339); null after an import."),
		"expires_at":         text("When the service ends the machine, by its clock (RFC 3339); null after an import."),
	}
}

// IdentitySchema is the instance's identity: its id.
func (r *Resource) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse) {
	resp.IdentitySchema = identityschema.Schema{Attributes: map[string]identityschema.Attribute{
		"id": identityschema.StringAttribute{RequiredForImport: true, Description: "The service's id of the machine."},
	}}
}

func merge(parts ...map[string]schema.Attribute) map[string]schema.Attribute {
	all := map[string]schema.Attribute{}
	for _, part := range parts {
		for name, attribute := range part {
			all[name] = attribute
		}
	}
	return all
}
