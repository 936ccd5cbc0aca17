// Package nullable writes what a service may leave out of an answer.
package nullable

import (
	"time"

	"github.com/hashicorp/terraform-plugin-framework/types"
)

// Text is null where the service told none.
func Text(text string) types.String {
	if text == "" {
		return types.StringNull()
	}
	return types.StringValue(text)
}

// Time is in UTC and RFC 3339, to the second: services round a time differently from one answer to the next.
func Time(t time.Time) types.String {
	if t.IsZero() {
		return types.StringNull()
	}
	return types.StringValue(t.UTC().Format(time.RFC3339))
}
