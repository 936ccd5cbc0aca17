package sandbox

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	api "github.com/agentenv/terraform-provider-gpuvm/internal/apiclient/opensandbox"
	lifecycle "github.com/agentenv/terraform-provider-gpuvm/internal/lifecycle/opensandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/upload"
)

// Manner is what the provider block says about how each sandbox is made.
type Manner struct {
	ImagePullPolicy string // where a sandbox doesn't say; "" sends none
	SkipHealthCheck bool   // wins over a sandbox's own setting
	Probe           lifecycle.Probe
}

// Spec is the sandbox that the lifecycle is to make, and the hashes of the local files that went into it.
type Spec struct {
	lifecycle.Spec
	SourceHashes map[string]string
}

// Spec puts together the request and the work in the new sandbox, of arguments whose values are all known. Contents and
// write-only values come from config, since no plan holds them. stamped is all of the metadata.
func (a Arguments) Spec(ctx context.Context, config Arguments, stamped map[string]string, by Manner, diags *diag.Diagnostics) Spec {
	request := a.request(ctx, config, stamped, by.ImagePullPolicy, diags)
	files := upload.Files(config.Files, diags)
	spec := Spec{SourceHashes: upload.SourceHashes(files)}
	spec.Spec = lifecycle.Spec{
		Request:         request.CreateRequest,
		Secrets:         request.Secrets,
		SkipHealthCheck: by.SkipHealthCheck || a.SkipHealthCheck.ValueBool(),
		ReadyTimeout:    a.ReadyTimeoutSeconds.Seconds(),
		Probe:           by.Probe,
		SetupScript:     a.SetupScript.ValueString(),
		Ports:           a.PortNumbers(),
		VNCPort:         a.VNCPort.ValueInt64(),
	}
	for _, file := range files {
		spec.Files = append(spec.Files, api.File{Path: file.Path, Content: file.Data, Mode: file.Mode, Owner: file.Owner, Group: file.Group})
	}
	return spec
}
