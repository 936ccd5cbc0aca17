package opensandbox

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
)

// answer is what came back.
type answer struct {
	t      *testing.T
	status int
	header http.Header
	body   []byte
}

func (a answer) String() string { return string(a.body) }

// json decodes the body; numbers stay as they are.
func (a answer) json() map[string]any {
	a.t.Helper()
	var object map[string]any
	if err := json.Unmarshal(a.body, &object); err != nil {
		a.t.Fatalf("no JSON object: %v in %q", err, a.body)
	}
	return object
}

func (a answer) text(path ...string) string {
	a.t.Helper()
	var value any = a.json()
	for _, step := range path {
		object, ok := value.(map[string]any)
		if !ok {
			a.t.Fatalf("no object on the way to %v in %s", path, a.body)
		}
		value = object[step]
	}
	text, _ := value.(string) // absent and null read as ""
	return text
}

// object gives an object within the answer; absent and null read as an empty one.
func (a answer) object(path ...string) object {
	a.t.Helper()
	value := a.json()
	for _, step := range path {
		value, _ = value[step].(object)
	}
	return value
}

// objects gives a list of objects within the answer.
func (a answer) objects(key string) []object {
	a.t.Helper()
	list, ok := a.json()[key].([]any)
	if !ok {
		a.t.Fatalf("no list %q in %s", key, a.body)
	}
	objects := make([]object, len(list))
	for i, item := range list {
		objects[i], _ = item.(object)
	}
	return objects
}

// ids gives the ids of a list answer's items.
func (a answer) ids() []string {
	a.t.Helper()
	var ids []string
	for _, item := range a.objects("items") {
		ids = append(ids, fmt.Sprint(item["id"]))
	}
	return ids
}

// want ends the test unless the answer has the status.
func (a answer) want(status int) answer {
	a.t.Helper()
	if a.status != status {
		a.t.Fatalf("status %d, want %d: %s", a.status, status, a.body)
	}
	return a
}

// wantError also holds the error's code against the answer's.
func (a answer) wantError(status int, code string) answer {
	a.t.Helper()
	a.want(status)
	if got := a.text("code"); got != code {
		a.t.Fatalf("code %q, want %q: %s", got, code, a.body)
	}
	if a.text("message") == "" {
		a.t.Fatalf("no message: %s", a.body)
	}
	return a
}
