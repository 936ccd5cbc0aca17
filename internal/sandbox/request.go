package sandbox

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"

	api "github.com/agentenv/terraform-provider-gpuvm/internal/apiclient/opensandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/labels"
	"github.com/agentenv/terraform-provider-gpuvm/internal/networkpolicy"
	"github.com/agentenv/terraform-provider-gpuvm/internal/upload"
	"github.com/agentenv/terraform-provider-gpuvm/internal/wholenumber"
)

// request is what a create sends, and what no message may show of it, while it is being put together.
type request struct {
	api.CreateRequest
	Secrets []string
	diags   *diag.Diagnostics
}

func (a Arguments) request(ctx context.Context, config Arguments, stamped map[string]string, pullPolicy string, diags *diag.Diagnostics) request {
	r := request{diags: diags}
	r.Metadata = stamped
	r.SnapshotID = a.SnapshotID.ValueString()
	r.Image = r.image(ctx, a, config)
	r.Entrypoint = r.entrypoint(ctx, a)
	r.ResourceLimits = r.limits(ctx, a)
	r.ResourceRequests = r.quantities(ctx, a.ResourceRequests)
	r.Env = r.env(a, config)
	r.Platform = r.platform(ctx, a)
	r.Volumes = r.volumes(ctx, a, config)
	r.NetworkPolicy = Policy(a.NetworkPolicy)
	r.SecureAccess = a.SecureAccess.ValueBool()
	r.Extensions = a.extensions(pullPolicy)
	r.Lifecycle = r.hooks(ctx, a)
	if a.CredentialProxy.ValueBool() {
		r.CredentialProxy = &api.CredentialProxy{Enabled: true}
	}
	if !a.TTLSeconds.IsNull() {
		r.TimeoutSeconds = a.TTLSeconds.ValueInt64Pointer()
	}
	r.Secrets = append(r.Secrets, upload.Contents(config.Files)...)
	return r
}

// read decodes a block or object whose values are known; false where there is none.
func (r *request) read(ctx context.Context, object types.Object, into any) bool {
	if object.IsNull() || object.IsUnknown() {
		return false
	}
	diags := object.As(ctx, into, basetypes.ObjectAsOptions{})
	r.diags.Append(diags...)
	return !diags.HasError()
}

// texts decodes a list; nil where there is none.
func (r *request) texts(ctx context.Context, list types.List) []string {
	if list.IsNull() || list.IsUnknown() {
		return nil
	}
	var texts []string
	r.diags.Append(list.ElementsAs(ctx, &texts, false)...)
	return texts
}

// secret is a write-only value, kept out of every message.
func (r *request) secret(value string) string {
	if value != "" {
		r.Secrets = append(r.Secrets, value)
	}
	return value
}

func (r *request) image(ctx context.Context, a, config Arguments) *api.Image {
	if a.Image.IsNull() {
		return nil
	}
	image := &api.Image{URI: a.Image.ValueString()}
	var auth struct {
		Username types.String `tfsdk:"username"`
		Password types.String `tfsdk:"password_wo"`
	}
	if r.read(ctx, config.ImageAuth, &auth) {
		image.Auth = &api.ImageAuth{Username: auth.Username.ValueString(), Password: r.secret(auth.Password.ValueString())}
	}
	return image
}

// entrypoint keeps a container of an image alive where nothing else is asked for: the server needs one.
func (r *request) entrypoint(ctx context.Context, a Arguments) []string {
	given := r.texts(ctx, a.Entrypoint)
	if len(given) == 0 && !a.Image.IsNull() {
		return []string{"tail", "-f", "/dev/null"}
	}
	return given
}

func (r *request) env(a, config Arguments) map[string]string {
	plain, _ := labels.FromMap(a.Env)
	secret, _ := labels.FromMap(config.EnvWO)
	for _, name := range slices.Sorted(maps.Keys(secret)) {
		r.secret(secret[name])
	}
	return labels.Merge(plain, secret)
}

func (r *request) platform(ctx context.Context, a Arguments) *api.Platform {
	var platform struct {
		OS   types.String `tfsdk:"os"`
		Arch types.String `tfsdk:"arch"`
	}
	if !r.read(ctx, a.Platform, &platform) {
		return nil
	}
	return &api.Platform{OS: platform.OS.ValueString(), Arch: platform.Arch.ValueString()}
}

// Policy gives a network_policy block, whose values are known, as the server takes it; nil where there is none.
func Policy(block types.Object) *api.NetworkPolicy {
	policy := networkpolicy.Of(block)
	if policy == nil {
		return nil
	}
	wanted := &api.NetworkPolicy{DefaultAction: policy.DefaultAction, Egress: []api.NetworkRule{}}
	for _, rule := range policy.Egress {
		wanted.Egress = append(wanted.Egress, api.NetworkRule{Action: rule.Action, Target: rule.Target})
	}
	return wanted
}

// PolicyBlock gives the server's policy as a network_policy block.
func PolicyBlock(policy api.NetworkPolicy) types.Object {
	block := networkpolicy.Policy{DefaultAction: policy.DefaultAction}
	for _, rule := range policy.Egress {
		block.Egress = append(block.Egress, networkpolicy.Rule{Action: rule.Action, Target: rule.Target})
	}
	return block.Block()
}

// extensions are the given ones with the pool's name, or with the pull policy under both of its keys: what an extension
// says comes before the attribute, and that before the provider.
func (a Arguments) extensions(providerPolicy string) map[string]string {
	all, _ := labels.FromMap(a.Extensions)
	if pool := a.PoolRef.ValueString(); pool != "" {
		return labels.Merge(all, map[string]string{api.PoolRefExtension: pool})
	}
	policy := cmp.Or(all[pullPolicyExtension], all[pullPolicyExtensionLong], a.ImagePullPolicy.ValueString(), providerPolicy)
	if policy == "" {
		return all
	}
	return labels.Merge(map[string]string{pullPolicyExtension: policy, pullPolicyExtensionLong: policy}, all)
}

func (r *request) hooks(ctx context.Context, a Arguments) *api.Hooks {
	hooks := &api.Hooks{}
	var before struct {
		Command        types.List        `tfsdk:"command"`
		TimeoutSeconds wholenumber.Value `tfsdk:"timeout_seconds"`
	}
	if r.read(ctx, a.PreStart, &before) {
		hooks.PreStart = &api.PreStart{Command: r.texts(ctx, before.Command), TimeoutSeconds: before.TimeoutSeconds.ValueInt64()}
	}
	for _, element := range a.Periodic.Elements() {
		var periodic struct {
			Name           types.String      `tfsdk:"name"`
			Schedule       types.String      `tfsdk:"schedule"`
			Command        types.List        `tfsdk:"command"`
			TimeoutSeconds wholenumber.Value `tfsdk:"timeout_seconds"`
		}
		if object, ok := element.(types.Object); ok && r.read(ctx, object, &periodic) {
			hooks.Periodic = append(hooks.Periodic, api.Periodic{
				Name: periodic.Name.ValueString(), Schedule: periodic.Schedule.ValueString(),
				Command: r.texts(ctx, periodic.Command), TimeoutSeconds: periodic.TimeoutSeconds.ValueInt64(),
			})
		}
	}
	if hooks.PreStart == nil && hooks.Periodic == nil {
		return nil
	}
	return hooks
}

// PortNumbers are the exposed ports in ascending order.
func (a Arguments) PortNumbers() []int64 { return wholenumber.Sorted(a.ExposedPorts) }
