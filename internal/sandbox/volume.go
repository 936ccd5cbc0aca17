package sandbox

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/types"

	api "github.com/agentenv/terraform-provider-gpuvm/internal/apiclient/opensandbox"
)

type volume struct {
	Name      types.String `tfsdk:"name"`
	MountPath types.String `tfsdk:"mount_path"`
	ReadOnly  types.Bool   `tfsdk:"read_only"`
	SubPath   types.String `tfsdk:"sub_path"`
	Host      types.Object `tfsdk:"host"`
	PVC       types.Object `tfsdk:"pvc"`
	OSSFS     types.Object `tfsdk:"ossfs"`
}

type claim struct {
	ClaimName                  types.String `tfsdk:"claim_name"`
	CreateIfNotExists          types.Bool   `tfsdk:"create_if_not_exists"`
	DeleteOnSandboxTermination types.Bool   `tfsdk:"delete_on_sandbox_termination"`
	StorageClass               types.String `tfsdk:"storage_class"`
	Storage                    types.String `tfsdk:"storage"`
	AccessModes                types.List   `tfsdk:"access_modes"`
}

type bucket struct {
	Bucket          types.String `tfsdk:"bucket"`
	Endpoint        types.String `tfsdk:"endpoint"`
	Version         types.String `tfsdk:"version"`
	Options         types.List   `tfsdk:"options"`
	AccessKeyID     types.String `tfsdk:"access_key_id"`
	AccessKeySecret types.String `tfsdk:"access_key_secret_wo"`
}

func (r *request) volumes(ctx context.Context, a, config Arguments) []api.Volume {
	var volumes []api.Volume
	configured := config.Volume.Elements()
	for i, element := range a.Volume.Elements() {
		var planned, written volume
		object, _ := element.(types.Object)
		if !r.read(ctx, object, &planned) {
			continue
		}
		if i < len(configured) {
			object, _ = configured[i].(types.Object)
			r.read(ctx, object, &written)
		}
		volumes = append(volumes, r.volume(ctx, planned, written))
	}
	return volumes
}

func (r *request) volume(ctx context.Context, planned, written volume) api.Volume {
	made := api.Volume{
		Name: planned.Name.ValueString(), MountPath: planned.MountPath.ValueString(),
		ReadOnly: planned.ReadOnly.ValueBool(), SubPath: planned.SubPath.ValueString(),
	}
	var host struct {
		Path types.String `tfsdk:"path"`
	}
	if r.read(ctx, planned.Host, &host) {
		made.Host = &api.Host{Path: host.Path.ValueString()}
	}
	var pvc claim
	if r.read(ctx, planned.PVC, &pvc) {
		made.PVC = &api.PVC{
			ClaimName: pvc.ClaimName.ValueString(), StorageClass: pvc.StorageClass.ValueString(),
			Storage: pvc.Storage.ValueString(), AccessModes: r.texts(ctx, pvc.AccessModes),
		}
		// Only what differs from the server's default is sent: older ones don't know these.
		if create := pvc.CreateIfNotExists; !create.IsNull() && !create.ValueBool() {
			made.PVC.CreateIfNotExists = create.ValueBoolPointer()
		}
		if end := pvc.DeleteOnSandboxTermination; end.ValueBool() {
			made.PVC.DeleteOnSandboxTermination = end.ValueBoolPointer()
		}
	}
	var ossfs, secret bucket
	if r.read(ctx, planned.OSSFS, &ossfs) {
		r.read(ctx, written.OSSFS, &secret)
		made.OSSFS = &api.OSSFS{
			Bucket: ossfs.Bucket.ValueString(), Endpoint: ossfs.Endpoint.ValueString(), Version: ossfs.Version.ValueString(),
			Options: r.texts(ctx, ossfs.Options), AccessKeyID: ossfs.AccessKeyID.ValueString(),
			AccessKeySecret: r.secret(secret.AccessKeySecret.ValueString()),
		}
	}
	return made
}
