package conformance

import (
	"context"
	"strings"
	"time"
)

const (
	// askedWait is how long a service is asked to hold an answer.
	askedWait = 10 * time.Second
	// slack is how much shorter or longer it may come.
	slack = 2 * time.Second
	// earlyGone is how long after POST a GET may still be 404.
	earlyGone = 10 * time.Second
)

// waited is a GET that would have waited for the status to change.
type waited struct {
	*exchange
	status  string
	applied bool // it says that it waited
}

func boot() []step {
	return []step{
		{
			name: stepBoot, ready: made, do: checkBoot,
			contract: "status is booting, running or failed; any other value is taken as not final. GET may be 404 for 10 seconds after POST.",
		},
		{
			name: "Prefer: wait", ready: made, do: checkHeld,
			contract: "While a machine boots, GET carries Prefer: wait=<seconds> (RFC 7240). A service that can holds the answer until the status changes, for that long at most, and says Preference-Applied: wait.",
		},
	}
}

func checkBoot(ctx context.Context, r *run) outcome {
	for {
		x := r.get(ctx, r.main.id, askedWait)
		age := x.ended.Sub(r.main.made)
		if x.is(200) {
			r.booting = append(r.booting, waited{x, x.text("status"), saysWaited(x)})
		}
		switch status := x.text("status"); {
		case x.is(404) && age < earlyGone:
		case !x.is(200):
			return fail(x, "no 200")
		case status == "":
			return notChecked("see " + stepShape)
		case status == "running":
			r.running = x
			return pass(x)
		case status == "failed":
			return fail(x, "the machine failed")
		case age >= r.BootTimeout:
			return fail(x, "the machine doesn't run %s after POST", r.BootTimeout)
		}
		next := pause(age)
		if saysWaited(x) && x.took >= askedWait-slack {
			next = pause(0)
		}
		if r.Clock.Sleep(ctx, next) != nil {
			return fail(x, "interrupted")
		}
	}
}

func saysWaited(x *exchange) bool {
	for _, value := range x.header.Values(appliedHeader) {
		for preference := range strings.SplitSeq(value, ",") {
			name, _, _ := strings.Cut(preference, "=")
			if strings.EqualFold(strings.TrimSpace(name), "wait") {
				return true
			}
		}
	}
	return false
}

func checkHeld(_ context.Context, r *run) outcome {
	var last *exchange
	for _, x := range r.booting {
		switch {
		case !x.applied:
			continue
		case x.status == "booting" && x.took < askedWait-slack:
			return fail(x.exchange, "it was asked to wait %s and says that it did, but it answered after %s and nothing had changed", askedWait, x.took.Round(time.Millisecond))
		case x.took > askedWait+slack:
			return fail(x.exchange, "it was asked to wait %s at most and answered after %s", askedWait, x.took.Round(time.Millisecond))
		}
		last = x.exchange
	}
	if last == nil {
		return notOffered("the end of a boot is noticed up to 2 seconds late, and costs more requests")
	}
	return pass(last)
}
