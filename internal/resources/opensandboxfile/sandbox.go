package opensandboxfile

import (
	"context"
	"errors"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentenv/terraform-provider-gpuvm/internal/apiclient"
	api "github.com/agentenv/terraform-provider-gpuvm/internal/apiclient/opensandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/diagnose"
	lifecycle "github.com/agentenv/terraform-provider-gpuvm/internal/lifecycle/opensandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/private"
	"github.com/agentenv/terraform-provider-gpuvm/internal/redact"
	"github.com/agentenv/terraform-provider-gpuvm/internal/upload"
)

// unknownSize stands for that of a file of which no note tells it: 64 MiB, which bounds the memory of a refresh.
const unknownSize = 64 << 20

// upload puts the configured content into the sandbox, and says whether it stands there now.
func (r *Resource) upload(ctx context.Context, planned *model, config model, notes private.State, diags *diag.Diagnostics) bool {
	service := r.service.Lifecycle(diags)
	data := config.Load(diags)
	if diags.HasError() {
		return false
	}
	ctx, cancel := context.WithTimeout(redact.Within(ctx, string(data)), uploadTimeout)
	defer cancel()
	id, at := planned.SandboxID.ValueString(), planned.Path.ValueString()
	err := service.Upload(ctx, id, api.File{
		Path: at, Content: data, Mode: planned.Mode.ValueString(), Owner: planned.Owner.ValueString(), Group: planned.Group.ValueString(),
	})
	if err != nil {
		diagnose.OpenSandbox.AttributeError(diags, path.Root("path"), "File "+at+" was not uploaded to sandbox "+id, err)
		return false
	}
	planned.Uploaded(config.Sole, data)
	private.Set(ctx, notes, private.UploadedSize, len(data), diags)
	return true
}

// sight is what a look at a file gave.
type sight struct {
	gone   bool
	read   bool         // it could be compared
	sha256 types.String // null where it is longer than what was uploaded
}

// look sees whether the file stands and, unless its content is write-only, what it holds. A file in a sandbox that doesn't
// run is believed to be as it was: nobody can look.
func look(ctx context.Context, service *lifecycle.Lifecycle, state model, size int64) (sight, error) {
	id := state.SandboxID.ValueString()
	sandbox, err := service.API.Sandbox(ctx, id)
	switch {
	case apiclient.IsGone(err):
		return sight{gone: true}, nil
	case err != nil:
		return sight{}, err
	case sandbox.Status.State != api.StateRunning, state.SHA256.IsNull():
		return sight{}, nil
	}
	data, err := service.Download(ctx, id, state.Path.ValueString(), max(size, 1)) // 0 would not be a bound
	switch {
	case err == nil:
		return sight{read: true, sha256: types.StringValue(upload.Hash(data))}, nil
	case errors.Is(err, apiclient.ErrTooLong):
		return sight{read: true, sha256: types.StringNull()}, nil
	case apiclient.IsGone(err):
		return sight{gone: true}, nil
	}
	// A folder, or a file in the place of one on the way: what was uploaded isn't what stands there. The upload that puts it right
	// says why it can't, and meanwhile neither a plan nor a destroy is held up.
	if _, refused := errors.AsType[*api.AgentError](err); refused {
		return sight{read: true, sha256: types.StringNull()}, nil
	}
	// It ran a moment ago: it may have ended, or been paused, since.
	if unreachable, ok := errors.AsType[*lifecycle.UnreachableError](err); ok {
		return sight{gone: unreachable.Status.State == ""}, nil
	}
	return sight{}, err
}

// remove deletes the file. left says why it stays, where it can't be deleted.
func remove(ctx context.Context, service *lifecycle.Lifecycle, id, at string) (left string, err error) {
	sandbox, err := service.API.Sandbox(ctx, id)
	switch {
	case apiclient.IsGone(err):
		return "", nil
	case err != nil:
		return "", err
	case sandbox.Status.State != api.StateRunning:
		return "is " + sandbox.Status.String(), nil
	}
	err = service.RemoveFile(ctx, id, at)
	if refused, ok := errors.AsType[*api.AgentError](err); ok && otherwise(ctx, service, id, at) {
		return "holds something else in its place (" + refused.Reason + ")", nil
	}
	if unreachable, ok := errors.AsType[*lifecycle.UnreachableError](err); ok {
		return "is " + unreachable.Status.String(), nil
	}
	return "", err
}

// otherwise says whether no file can stand at a path now: a folder does, or a file in the place of a folder on the way.
func otherwise(ctx context.Context, service *lifecycle.Lifecycle, id, at string) bool {
	info, err := service.FileInfo(ctx, id, at)
	_, refused := errors.AsType[*api.AgentError](err)
	return refused || err == nil && info.Type == "directory"
}
