package conformance

import (
	"bytes"
	"context"
	"encoding/json"
)

// Names of steps that others refer to.
const (
	stepCreate      = "create"
	stepReplay      = "Idempotency-Key: a repetition gets the first answer"
	stepAnother     = "Idempotency-Key: another one makes another machine"
	stepEndBooting  = "a machine that boots can be deleted"
	stepBoot        = "boot"
	replayedHeader  = "Idempotency-Replayed"
	appliedHeader   = "Preference-Applied"
	idempotencyText = "A service that honours Idempotency-Key answers a repetition with its first answer and Idempotency-Replayed: true, and says Idempotency-Replayed: false on every other answer to a POST."
)

func creation() []step {
	return []step{{
		name:     stepCreate,
		contract: "POST /v1/vms answers 201 and the machine.",
		do: func(ctx context.Context, r *run) outcome {
			r.main, r.first = r.post(ctx, r.newCreate(r.Image, r.ttl()))
			switch {
			case r.first.err != nil:
				return fail(r.first, "no usable answer")
			case r.main == nil && r.first.ok():
				return fail(r.first, "the answer has no id that can be a part of a path")
			case !r.first.is(201):
				return fail(r.first, "no 201")
			}
			return pass(r.first)
		},
	}}
}

// made says why a step that needs the main machine can't be taken.
func made(r *run) string {
	if r.main == nil {
		return "see " + stepCreate
	}
	return ""
}

func idempotency() []step {
	return []step{
		{name: stepReplay, contract: idempotencyText, ready: made, do: checkReplay},
		{
			name: "Idempotency-Replayed on a create that is refused", contract: idempotencyText, ready: after(stepReplay),
			do: func(_ context.Context, r *run) outcome {
				if r.refused == nil {
					return notChecked("none was refused")
				}
				if said := r.refused.header.Get(replayedHeader); said != "false" {
					return fail(r.refused, "it says %q, not false", said)
				}
				return pass(r.refused)
			},
		},
		{
			name: stepAnother, ready: made,
			contract: "Idempotency-Key is one fresh UUID for each machine: another key is another machine, whatever the service makes of keys.",
			do:       checkAnother,
		},
		{
			name: stepEndBooting, contract: "DELETE /v1/vms/{id} answers 204. After it the provider asks until GET answers 404.",
			ready: after(stepAnother, stepUnknown),
			do: func(ctx context.Context, r *run) outcome {
				if x := r.remove(ctx, r.other.id); !x.ok() {
					return fail(x, "it isn't deleted")
				}
				if x := r.untilGone(ctx, r.other.id); !x.is(404) {
					return fail(x, "it is still told %s after its DELETE", graceOfEnd)
				}
				return pass(nil)
			},
		},
	}
}

// checkReplay repeats the first create only where its answer says that the service knows keys: another one would make another
// machine of it, and may.
func checkReplay(ctx context.Context, r *run) outcome {
	switch said := r.first.header.Get(replayedHeader); said {
	case "":
		return notOffered("a lost answer to a create can cost a second machine")
	case "false":
	default:
		return fail(r.first, "the first answer says %s: %s", replayedHeader, said)
	}
	_, x := r.post(ctx, r.main.by)
	switch {
	case !x.is(r.first.status):
		return fail(x, "the first answer was %d", r.first.status)
	case x.text("id") != r.main.id:
		return fail(x, "the first answer's machine is %s", r.main.id)
	case x.header.Get(replayedHeader) != "true":
		return fail(x, "it says %s: %q, not true", replayedHeader, x.header.Get(replayedHeader))
	case !sameJSON(x.body, r.first.body):
		return fail(x, "the first answer was %s", shorten(string(r.first.body)))
	}
	return pass(x)
}

// sameJSON compares what two bodies say, not how they are written.
func sameJSON(a, b []byte) bool {
	canonical := func(body []byte) []byte {
		var value any
		if json.Unmarshal(body, &value) != nil {
			return body
		}
		text, err := json.Marshal(value)
		if err != nil {
			return body
		}
		return text
	}
	return bytes.Equal(canonical(a), canonical(b))
}

func checkAnother(ctx context.Context, r *run) outcome {
	other, x := r.post(ctx, r.newCreate(r.Image, r.ttl()))
	switch said := x.header.Get(replayedHeader); { // its absence, or its mistakes, are the first step's to tell
	case other == nil:
		return fail(x, "no second machine was made")
	case other.id == r.main.id:
		return fail(x, "it is the first machine")
	case said != "false" && r.verdicts[stepReplay] == OK:
		return fail(x, "it says %s: %s", replayedHeader, said)
	}
	r.other = other
	return pass(x)
}
