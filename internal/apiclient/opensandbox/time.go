package opensandbox

import (
	"encoding/json"
	"fmt"
	"time"
)

// Time is a time in an answer. Its zero value stands for one that is absent, null or empty.
type Time struct{ time.Time }

// timeLayouts are RFC 3339 and, for back ends that leave the zone out, the same without one, meant in UTC.
var timeLayouts = []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999"}

// UnmarshalJSON reads a time in one of the forms that servers send.
func (t *Time) UnmarshalJSON(data []byte) error {
	var text *string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	if text == nil || *text == "" {
		*t = Time{}
		return nil
	}
	for _, layout := range timeLayouts {
		if parsed, err := time.Parse(layout, *text); err == nil {
			*t = Time{parsed.UTC()}
			return nil
		}
	}
	return fmt.Errorf("%q is no time of RFC 3339", *text)
}

// MarshalJSON writes RFC 3339 in UTC.
func (t Time) MarshalJSON() ([]byte, error) {
	if t.IsZero() {
		return []byte("null"), nil
	}
	return json.Marshal(t.UTC().Format(time.RFC3339Nano))
}
