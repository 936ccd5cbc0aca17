package conformance_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
)

// answer is one that the service gave, to be spoilt before it goes out.
type answer struct {
	status int
	header http.Header
	body   string
}

// spoil changes the answers to the requests of a method whose path ends as given.
func spoil(method, suffix string, change func(r *http.Request, a *answer)) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != method || !strings.HasSuffix(r.URL.Path, suffix) {
				next.ServeHTTP(w, r)
				return
			}
			kept := httptest.NewRecorder()
			next.ServeHTTP(kept, r)
			a := &answer{kept.Code, kept.Header(), kept.Body.String()}
			change(r, a)
			for name, values := range a.header {
				w.Header()[name] = values
			}
			w.WriteHeader(a.status)
			_, _ = w.Write([]byte(a.body)) // a client that has gone needs no answer
		})
	}
}

// instead handles the requests of a method whose path ends as given, with the service at hand.
func instead(method, suffix string, handle func(w http.ResponseWriter, r *http.Request, next http.Handler)) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == method && strings.HasSuffix(r.URL.Path, suffix) {
				handle(w, r, next)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// body takes a request's body and puts another one in its place.
func body(r *http.Request, change func(string) string) {
	var read bytes.Buffer
	_, _ = read.ReadFrom(r.Body) // what can't be read shows as a fault of another kind
	text := change(read.String())
	r.Body, r.ContentLength = http.NoBody, int64(len(text))
	if text != "" {
		r.Body = closing{strings.NewReader(text)}
	}
}

type closing struct{ *strings.Reader }

func (closing) Close() error { return nil }

type wrapper = func(http.Handler) http.Handler

// replace changes text in the bodies of answers.
func replace(method, suffix, was, is string) wrapper {
	return spoil(method, suffix, func(_ *http.Request, a *answer) { a.body = strings.ReplaceAll(a.body, was, is) })
}

// machines changes the answers that are machines.
func machines(change func(machine map[string]any)) wrapper {
	return func(next http.Handler) http.Handler {
		all := func(_ *http.Request, a *answer) {
			var machine map[string]any
			if json.Unmarshal([]byte(a.body), &machine) != nil || machine["id"] == nil {
				return
			}
			change(machine)
			text, err := json.Marshal(machine)
			if err != nil {
				panic(err)
			}
			a.body = string(text)
		}
		return spoil("POST", "/v1/vms", all)(spoil("GET", "", all)(next))
	}
}

// status answers with another status than the service's, where that is the given one.
func status(method, suffix string, was, is int) wrapper {
	return spoil(method, suffix, func(_ *http.Request, a *answer) {
		if a.status == was {
			a.status = is
		}
	})
}

// header sets a header of answers with that status; "" takes it away.
func header(method, suffix string, status int, name, value string) wrapper {
	return spoil(method, suffix, func(_ *http.Request, a *answer) {
		switch {
		case a.status != status:
		case value == "":
			a.header.Del(name)
		default:
			a.header[http.CanonicalHeaderKey(name)] = []string{value}
		}
	})
}

// argv changes the commands that are run.
func argv(change func([]string) []string) wrapper {
	return instead("POST", "/exec", func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		body(r, func(text string) string {
			var command struct {
				Argv []string `json:"argv"`
			}
			if json.Unmarshal([]byte(text), &command) != nil {
				return text
			}
			command.Argv = change(command.Argv)
			changed, err := json.Marshal(command)
			if err != nil {
				panic(err)
			}
			return string(changed)
		})
		next.ServeHTTP(w, r)
	})
}

// uploads changes what is uploaded.
func uploads(change func(r *http.Request, content string) string) wrapper {
	return instead("PUT", "/files", func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		body(r, func(text string) string { return change(r, text) })
		next.ServeHTTP(w, r)
	})
}

// letIn lets in who has no token, or a wrong one.
func letIn(method, suffix string) wrapper {
	return instead(method, suffix, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		r.Header.Set("Authorization", "Bearer "+token)
		next.ServeHTTP(w, r)
	})
}

func nowhere(w http.ResponseWriter, r *http.Request, next http.Handler) {
	query := r.URL.Query()
	query.Set("path", "/elsewhere"+query.Get("path"))
	r.URL.RawQuery = query.Encode()
	next.ServeHTTP(w, r)
}

func appending() func(http.ResponseWriter, *http.Request, http.Handler) {
	before := map[string]string{} // requests come one by one
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		body(r, func(text string) string {
			path := r.URL.Query().Get("path")
			before[path] += text
			return before[path]
		})
		next.ServeHTTP(w, r)
	}
}

// second answers so to whoever deletes a machine again.
func second(status int) func(http.ResponseWriter, *http.Request, http.Handler) {
	deleted := map[string]bool{} // requests come one by one
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if deleted[r.URL.Path] {
			w.WriteHeader(status)
			_, _ = w.Write([]byte(`{"error":"it is gone"}`)) // a client that has gone needs no answer
			return
		}
		deleted[r.URL.Path] = strings.Contains(r.URL.Path, "/vm-")
		next.ServeHTTP(w, r)
	}
}
