package matrix_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"

	"github.com/agentenv/terraform-provider-gpuvm/internal/subject"
)

// answers is how a service tells what it may leave out.
type answers string

const (
	asEver  answers = "whole"
	absent  answers = "absent"
	null    answers = "null"
	emptied answers = "empty"
)

// spoil has a service tell of its objects in that way.
func (a answers) spoil(of *subject.Type) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		if a == asEver {
			return next
		}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !slices.ContainsFunc(of.Tells, func(kind subject.Request) bool { return kind.Matches(r.Method, r.URL.Path) }) {
				next.ServeHTTP(w, r)
				return
			}
			whole := httptest.NewRecorder()
			next.ServeHTTP(whole, r)
			body := whole.Body.Bytes()
			var told map[string]any
			if json.Unmarshal(body, &told) == nil && whole.Code < 300 {
				body, _ = json.Marshal(a.of(told, of.Needed)) // what was decoded can be encoded
			}
			for name, values := range whole.Header() {
				w.Header()[name] = values
			}
			w.Header().Set("Content-Length", strconv.Itoa(len(body)))
			w.WriteHeader(whole.Code)
			_, _ = w.Write(body) // a client that has gone needs no answer
		})
	}
}

// of takes away whatever isn't needed.
func (a answers) of(told map[string]any, needed []string) map[string]any {
	left := map[string]any{}
	for key, value := range told {
		inner, isObject := value.(map[string]any)
		switch {
		case slices.Contains(needed, key) && isObject:
			left[key] = a.of(inner, needed)
		case slices.Contains(needed, key):
			left[key] = value
		case a == null:
			left[key] = nil
		case a == emptied:
			left[key] = emptyLike(value)
		}
	}
	return left
}

func emptyLike(value any) any {
	switch value.(type) {
	case string:
		return ""
	case []any:
		return []any{}
	case map[string]any:
		return map[string]any{}
	case float64:
		return 0
	case bool:
		return false
	}
	return nil
}
