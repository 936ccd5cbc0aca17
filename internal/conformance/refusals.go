package conformance

import (
	"context"
	"fmt"
)

// route is one way into the service.
type route struct {
	name string
	ask  func(id string) request
}

const (
	execBody = `{"argv":["true"]}`
	jsonType = "application/json"
	byteType = "application/octet-stream"
)

// ofOne are the routes of one machine.
func ofOne() []route {
	return []route{
		{"GET", func(id string) request { return request{method: "GET", path: []string{id}} }},
		{"exec", func(id string) request {
			return request{method: "POST", path: []string{id, "exec"}, body: []byte(execBody), contentType: jsonType}
		}},
		{"PUT of a file", func(id string) request {
			return request{method: "PUT", path: []string{id, "files"}, query: "path=%2Ftmp%2Fx", body: []byte("x"), contentType: byteType}
		}},
		{"DELETE", func(id string) request { return request{method: "DELETE", path: []string{id}} }},
	}
}

// Names of steps that others refer to.
const (
	stepToken         = "a token is asked for"
	stepUnknown       = "GET of an unknown id"
	stepUnknownExec   = "exec of an unknown id"
	stepUnknownDelete = "DELETE of an unknown id"
)

// refusals are what the service has to refuse.
func refusals() []step {
	all := []step{{
		name:     stepToken,
		contract: "Every request carries Authorization: Bearer <api_token>. A missing or wrong token is answered with 401.",
		ready: func(r *run) string {
			if r.Token == "" {
				return "no token was given"
			}
			return ""
		},
		do: checkToken,
	}}
	for _, to := range ofOne() {
		all = append(all, step{
			name:     to.name + " of an unknown id",
			contract: `An unknown id is 404 with {"error": "no such vm"}.`,
			do: func(ctx context.Context, r *run) outcome {
				return wantStatus(r.do(ctx, to.ask(r.unknownID())), 404)
			},
		})
	}
	return append(all,
		step{
			name:     "odd ids are unknown, not odd paths",
			contract: "id is any text but . and .., escaped as one segment of a path. An unknown id is 404.",
			ready:    after(stepUnknown),
			do:       checkOddIDs,
		},
		step{
			name:     "a create that isn't JSON is refused",
			contract: `An error is {"error": "text"} with a 4xx or 5xx status.`,
			do:       checkNotJSON,
		})
}

func wantStatus(x *exchange, status int) outcome {
	if !x.is(status) {
		return fail(x, "no %d", status)
	}
	return pass(x)
}

// checkToken tries every route without a token and with a wrong one. A create that gets through is cleaned up like any other.
func checkToken(ctx context.Context, r *run) outcome {
	for _, how := range []struct {
		text string
		as   request
	}{{"without a token", request{anonymous: true}}, {"with a wrong token", request{token: "wrong-" + r.tag}}} {
		for _, to := range ofOne() {
			q := to.ask(r.unknownID())
			q.anonymous, q.token = how.as.anonymous, how.as.token
			if x := r.do(ctx, q); !x.is(401) {
				return fail(x, "%s %s got no 401", to.name, how.text)
			}
		}
		if _, x := r.postAs(ctx, r.newCreate(r.Image, r.ttl()), how.as); !x.is(401) {
			return fail(x, "POST %s got no 401", how.text)
		}
	}
	return pass(nil)
}

// checkOddIDs: a router that cleans or unescapes paths too early redirects, or takes a part of the id for a route.
func checkOddIDs(ctx context.Context, r *run) outcome {
	var last *exchange
	for _, odd := range []string{"../" + r.tag, "a/" + r.tag, r.tag + "/exec", "a b?c#" + r.tag, "100%" + r.tag, "ü-" + r.tag} {
		if last = r.get(ctx, odd, 0); !last.is(404) {
			return fail(last, "no 404")
		}
	}
	return pass(last)
}

func checkNotJSON(ctx context.Context, r *run) outcome {
	refused := create{key: uuid(), body: []byte("image: " + r.Image)}
	made, x := r.post(ctx, refused)
	r.lost = dropLost(r.lost, refused.key)
	if made != nil || x.err != nil || x.status < 400 || x.status > 499 {
		return fail(x, "no 4xx")
	}
	r.refused = x
	return pass(x)
}

// dropLost: a body that asks for nothing can't have made a machine, so nobody needs to look for one.
func dropLost(lost []create, key string) []create {
	var kept []create
	for _, c := range lost {
		if c.key != key {
			kept = append(kept, c)
		}
	}
	return kept
}

// looks are judged by everything that came in the whole check.
func looks() []step {
	return []step{
		{
			name:     "errors are JSON with a text",
			contract: `An error is {"error": "text"} with a 4xx or 5xx status; the text is shown to the user as it is.`,
			do:       checkErrorShape,
		},
		{
			name:     "the text of an unknown id",
			contract: `An unknown id is 404 with {"error": "no such vm"}.`,
			do:       checkErrorText,
		},
		{
			name:     "X-Request-ID",
			contract: "X-Request-ID, where an answer has it, is shown in errors.",
			do: func(_ context.Context, r *run) outcome {
				for _, x := range r.errors {
					if x.header.Get("X-Request-ID") == "" {
						return notOffered("an error that a user sees can't be found in the service's log")
					}
				}
				return pass(nil)
			},
		},
		{
			name:     "Retry-After",
			contract: "429 and 503 with Retry-After, in seconds or as a date (RFC 9110 section 10.2.3), are obeyed in full.",
			do:       checkRetryAfter,
		},
	}
}

func checkErrorShape(_ context.Context, r *run) outcome {
	for _, x := range r.errors {
		fields, err := x.object()
		if err != nil {
			return fail(x, "%v", err)
		}
		if text, isText := fields["error"].(string); !isText || text == "" {
			return fail(x, "no text under the key error")
		}
	}
	return pass(nil)
}

func checkErrorText(_ context.Context, r *run) outcome {
	for _, x := range r.errors {
		if text := x.text("error"); x.is(404) && text != "" && text != "no such vm" {
			return fail(x, "the text isn't \"no such vm\"")
		}
	}
	return pass(nil)
}

func checkRetryAfter(_ context.Context, r *run) outcome {
	if len(r.pushback) == 0 {
		return notChecked("no 429 and no 503 came")
	}
	for _, x := range r.pushback {
		given := x.header.Get("Retry-After")
		if given == "" {
			return notOffered(fmt.Sprintf("%s got 429 without it, so it is asked again at intervals that nobody chose", x.asked()))
		}
		if _, err := retryAfter(given, x.ended); err != nil {
			return fail(x, "%v", err)
		}
	}
	return pass(r.pushback[0])
}
