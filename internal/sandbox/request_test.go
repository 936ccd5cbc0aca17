package sandbox

import (
	"context"
	"reflect"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentenv/terraform-provider-gpuvm/internal/wholenumber"
)

func mapOf(texts map[string]string) types.Map {
	elements := map[string]attr.Value{}
	for key, value := range texts {
		elements[key] = types.StringValue(value)
	}
	return types.MapValueMust(types.StringType, elements)
}

// resourcesOf is a resources block; what isn't named is null.
func resourcesOf(set map[string]attr.Value) types.Object {
	values := map[string]attr.Value{
		"cpu": types.Float64Null(), "memory_mib": wholenumber.Null(), "disk_gib": wholenumber.Null(), "gpu": wholenumber.Null(),
		"gpu_type": types.StringNull(), "extended": types.MapNull(types.StringType),
	}
	kinds := map[string]attr.Type{}
	for name, value := range values {
		kinds[name] = value.Type(context.Background())
	}
	for name, value := range set {
		values[name] = value
	}
	return types.ObjectValueMust(kinds, values)
}

func TestResourcesInTheServersWords(t *testing.T) {
	t.Parallel()
	defaults := map[string]string{"cpu": "1", "memory": "2Gi"}
	image, pool := Arguments{Image: types.StringValue("a")}, Arguments{PoolRef: types.StringValue("p")}
	for title, c := range map[string]struct {
		source Arguments
		block  types.Object
		want   map[string]string
	}{
		"no block":            {image, types.ObjectNull(nil), defaults},
		"no block, snapshot":  {Arguments{SnapshotID: types.StringValue("s")}, types.ObjectNull(nil), defaults},
		"no block, pool":      {pool, types.ObjectNull(nil), nil},
		"empty block":         {image, resourcesOf(nil), defaults},
		"whole CPUs":          {image, resourcesOf(map[string]attr.Value{"cpu": types.Float64Value(2)}), map[string]string{"cpu": "2"}},
		"half a CPU":          {pool, resourcesOf(map[string]attr.Value{"cpu": types.Float64Value(0.5)}), map[string]string{"cpu": "0.5"}},
		"many CPUs":           {image, resourcesOf(map[string]attr.Value{"cpu": types.Float64Value(1e6)}), map[string]string{"cpu": "1000000"}},
		"zeros are sent":      {image, resourcesOf(map[string]attr.Value{"cpu": types.Float64Value(0), "gpu": wholenumber.Of(0)}), map[string]string{"cpu": "0", "gpu": "0"}},
		"memory and disk":     {image, resourcesOf(map[string]attr.Value{"memory_mib": wholenumber.Of(512), "disk_gib": wholenumber.Of(3)}), map[string]string{"memory": "512Mi", "ephemeral-storage": "3Gi"}},
		"extended among them": {image, resourcesOf(map[string]attr.Value{"gpu_type": types.StringValue("A100"), "extended": mapOf(map[string]string{"x/y": "1"})}), map[string]string{"gpu_type": "A100", "x/y": "1"}},
	} {
		var diags diag.Diagnostics
		c.source.Resources = c.block
		r := request{diags: &diags}
		if got := r.limits(t.Context(), c.source); !reflect.DeepEqual(got, c.want) || diags.HasError() {
			t.Errorf("%s: %v %v, want %v", title, got, diags, c.want)
		}
	}
}

func TestExtensionsOfACreate(t *testing.T) {
	t.Parallel()
	both := func(policy string) map[string]string {
		return map[string]string{"imagePullPolicy": policy, "opensandbox.extensions.image-pull-policy": policy}
	}
	for title, c := range map[string]struct {
		arguments Arguments
		provider  string
		want      map[string]string
	}{
		"provider":      {Arguments{}, "Never", both("Never")},
		"attribute":     {Arguments{ImagePullPolicy: types.StringValue("Always")}, "Never", both("Always")},
		"short key":     {Arguments{Extensions: mapOf(map[string]string{"imagePullPolicy": "Always"})}, "Never", both("Always")},
		"long key":      {Arguments{Extensions: mapOf(map[string]string{"opensandbox.extensions.image-pull-policy": "Always"})}, "Never", both("Always")},
		"two words":     {Arguments{Extensions: mapOf(map[string]string{"imagePullPolicy": "Always", "opensandbox.extensions.image-pull-policy": "Never"})}, "", map[string]string{"imagePullPolicy": "Always", "opensandbox.extensions.image-pull-policy": "Never"}},
		"none":          {Arguments{}, "", map[string]string{}},
		"with a pool":   {Arguments{PoolRef: types.StringValue("p"), Extensions: mapOf(map[string]string{"a": "b"})}, "Never", map[string]string{"poolRef": "p", "a": "b"}},
		"of the user's": {Arguments{Extensions: mapOf(map[string]string{"a": "b"})}, "", map[string]string{"a": "b"}},
	} {
		if got := c.arguments.extensions(c.provider); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, want %v", title, got, c.want)
		}
	}
}

// What isn't known yet is never refused: it may turn out well.
func TestCheckLetsUnknownsPass(t *testing.T) {
	t.Parallel()
	policy := types.ObjectUnknown(nil)
	for title, arguments := range map[string]Arguments{
		"sources": {Image: types.StringUnknown(), SnapshotID: types.StringUnknown(), PoolRef: types.StringUnknown()},
		"pool":    {PoolRef: types.StringUnknown(), NetworkPolicy: policy, Platform: types.ObjectUnknown(nil)},
		"members": {PoolRef: types.StringValue("p"), NetworkPolicy: policy, CredentialProxy: types.BoolUnknown(), Volume: types.ListUnknown(types.StringType)},
		"proxy":   {Image: types.StringValue("a"), CredentialProxy: types.BoolValue(true), NetworkPolicy: policy},
		"pulling": {Image: types.StringValue("a"), ImagePullPolicy: types.StringUnknown(), Extensions: mapOf(map[string]string{"imagePullPolicy": "Never"})},
	} {
		var diags diag.Diagnostics
		if arguments.Check(&diags); diags.HasError() {
			t.Errorf("%s: %v", title, diags)
		}
	}
}
