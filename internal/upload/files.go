package upload

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentenv/terraform-provider-gpuvm/internal/plan"
	"github.com/agentenv/terraform-provider-gpuvm/internal/private"
)

// File is a file to put into a machine. Mode, Owner and Group are "" where the user leaves them to the machine.
type File struct {
	Path               string
	Data               []byte
	Mode, Owner, Group string
	fromSource         bool
}

// Files reads the files attribute of a configuration whose values are all known, in path order.
func Files(files types.Map, diags *diag.Diagnostics) []File {
	var loaded []File
	for _, at := range slices.Sorted(maps.Keys(files.Elements())) {
		entry := entryOf(files, at)
		data, err := entry.content().Bytes()
		if err != nil {
			diags.AddAttributeError(path.Root("files").AtMapKey(at), "File for the machine can't be read", err.Error())
			continue
		}
		loaded = append(loaded, File{
			Path: at, Data: data, fromSource: !entry.text("source").IsNull(),
			Mode: entry.text("mode").ValueString(), Owner: entry.text("owner").ValueString(), Group: entry.text("group").ValueString(),
		})
	}
	return loaded
}

// SourceHashes gives the hash of each file that came from a local one: a later plan sees by it that it changed.
func SourceHashes(files []File) map[string]string {
	hashes := map[string]string{}
	for _, file := range files {
		if file.fromSource {
			hashes[file.Path] = Hash(file.Data)
		}
	}
	return hashes
}

// Contents gives the contents that a configuration holds as such: they are sensitive, and no message may show them.
func Contents(files types.Map) []string {
	var secrets []string
	for at := range files.Elements() {
		content := entryOf(files, at).content()
		if !content.Source.IsNull() {
			continue
		}
		if data, err := content.Bytes(); err == nil && len(data) > 0 {
			secrets = append(secrets, string(data))
		}
		if !content.Base64.IsNull() {
			secrets = append(secrets, content.Base64.ValueString())
		}
	}
	return secrets
}

// PlanSources reads each local source whose path is known, as a plan does: one that is missing is an error now, not
// after a machine was made for it. It gives their hashes.
func PlanSources(files types.Map, diags *diag.Diagnostics) map[string]string {
	hashes := map[string]string{}
	if files.IsUnknown() {
		return hashes
	}
	for _, at := range slices.Sorted(maps.Keys(files.Elements())) {
		source := entryOf(files, at).text("source")
		if source.IsNull() || source.IsUnknown() {
			continue
		}
		data, err := ReadSource(source.ValueString())
		if err != nil {
			diags.AddAttributeError(path.Root("files").AtMapKey(at).AtName("source"), "Source file can't be read", err.Error())
			continue
		}
		hashes[at] = Hash(data)
	}
	return hashes
}

// Changed names the files whose planned hash differs from the uploaded one. One without a known hash counts as same.
func Changed(uploaded, planned map[string]string) []string {
	var changed []string
	for at, hash := range planned {
		if was, known := uploaded[at]; known && was != hash {
			changed = append(changed, at)
		}
	}
	slices.Sort(changed)
	return changed
}

// ReplaceChanged replaces a machine that holds an older content of a local file. sources are the hashes of a plan.
func ReplaceChanged(ctx context.Context, notes private.State, sources map[string]string, resp *resource.ModifyPlanResponse) {
	var uploaded map[string]string
	private.Get(ctx, notes, private.SourceHashes, &uploaded)
	changed := Changed(uploaded, sources)
	if len(changed) == 0 {
		return
	}
	plan.ReplaceByStatus(ctx, resp)
	resp.Diagnostics.AddAttributeWarning(path.Root("files"), "A source file changed, so the machine is replaced",
		"The machine was made with another content of "+strings.Join(changed, ", ")+" than the local source has now.")
}

// entry is one element of the files attribute, of either provider's shape.
type entry struct{ object types.Object }

func entryOf(files types.Map, at string) entry {
	object, _ := files.Elements()[at].(types.Object)
	return entry{object}
}

// text is the named attribute, null where the provider's shape has none of that name.
func (e entry) text(name string) types.String {
	if e.object.IsUnknown() {
		return types.StringUnknown()
	}
	text, ok := e.object.Attributes()[name].(types.String)
	if !ok {
		return types.StringNull()
	}
	return text
}

func (e entry) content() Content {
	return Content{Text: e.text("content"), Base64: e.text("content_base64"), WriteOnly: e.text("content_wo"), Source: e.text("source")}
}
