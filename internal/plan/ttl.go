package plan

import (
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentenv/terraform-provider-gpuvm/internal/wholenumber"
)

// Span is how long something may take, and the setting that says so.
type Span struct {
	Length  time.Duration
	Setting string
}

// CreateSpan is the whole of a create, where the timeouts block bounds it; else the zero value.
func CreateSpan(block types.Object) Span {
	text, ok := block.Attributes()["create"].(types.String)
	if !ok || text.IsNull() {
		return Span{}
	}
	length, _ := time.ParseDuration(text.ValueString()) // 0 while it isn't known; what is no duration is refused elsewhere
	return Span{length, "timeouts.create"}
}

// WarnShortTTL warns of an object that is to be made and may end before it is usable: what was paid for it and done in it until
// then is lost. It is said where it is made, not at each refresh of one that has become usable in time.
func WarnShortTTL(what string, ttl wholenumber.Value, needs Span, diags *diag.Diagnostics) {
	if ttl.IsNull() || ttl.IsUnknown() || needs.Length <= ttl.Seconds() {
		return
	}
	seconds := int64(needs.Length / time.Second)
	diags.AddAttributeWarning(path.Root("ttl_seconds"), "ttl_seconds is less than the create may take",
		fmt.Sprintf("The %s ends %d s after it is asked for, and it may take %d s until it is usable (%s). One that needs longer than its ttl ends in the middle of its set-up, and is paid for in vain.\n\n"+
			"What to do: raise ttl_seconds to %d or more, or lower what lets it take so long.", what, ttl.ValueInt64(), seconds, needs.Setting, seconds))
}
