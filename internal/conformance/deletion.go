package conformance

import (
	"cmp"
	"context"
	"time"
)

// Names of steps that others refer to.
const (
	stepDelete = "delete"
	stepGone   = "a deleted machine is gone"
)

func deletion() []step {
	return []step{
		{
			name: stepDelete, contract: "DELETE /v1/vms/{id} answers 204.", ready: made,
			do: func(ctx context.Context, r *run) outcome { return wantStatus(r.remove(ctx, r.main.id), 204) },
		},
		{
			name: stepGone, contract: "After a DELETE the provider asks until GET answers 404, so a machine may take a while to go.",
			ready: func(r *run) string {
				if r.verdicts[stepEndBooting] == Fail {
					return "see " + stepEndBooting
				}
				return cmp.Or(made(r), after(stepUnknown)(r))
			},
			do: func(ctx context.Context, r *run) outcome {
				if x := r.untilGone(ctx, r.main.id); !x.is(404) {
					return fail(x, "it is still told %s after its DELETE", graceOfEnd)
				}
				return pass(nil)
			},
		},
		{
			name: "a second delete is harmless", contract: "DELETE answers 204; 404 where the machine is gone already.", ready: after(stepGone, stepUnknownDelete),
			do: func(ctx context.Context, r *run) outcome {
				if x := r.remove(ctx, r.main.id); !x.is(204) && !x.is(404) {
					return fail(x, "neither 204 nor 404")
				}
				return pass(nil)
			},
		},
		{
			name: "exec in a machine that is gone", contract: "An unknown id is 404.", ready: after(stepGone, stepUnknownExec),
			do: func(ctx context.Context, r *run) outcome { return wantStatus(r.exec(ctx, "true").exchange, 404) },
		},
	}
}

// onDemand are checks that somebody has to ask for: they need time, or to know something of the service.
func onDemand() []step {
	return []step{
		{
			name: "a boot that fails", contract: "failed is final, and error says why.",
			ready: func(r *run) string {
				if r.FailingImage == "" {
					return "no image was named whose machines fail to boot"
				}
				return after(stepBoot, stepAnother)(r)
			},
			do: checkFailing,
		},
		{
			name: "a machine ends by itself", contract: "The machine ends by itself after ttl_seconds.",
			ready: func(r *run) string {
				if r.Expiry <= 0 {
					return "no ttl was given to wait for"
				}
				return after(stepUnknown, stepAnother)(r)
			},
			do: checkExpiry,
		},
	}
}

func checkFailing(ctx context.Context, r *run) outcome {
	m, x := r.post(ctx, r.newCreate(r.FailingImage, r.ttl()))
	if m == nil {
		return fail(x, "no machine of image %q was made", r.FailingImage)
	}
	for {
		x = r.get(ctx, m.id, askedWait)
		age := x.ended.Sub(m.made)
		switch status := x.text("status"); {
		case status == "failed" && x.text("error") == "":
			return fail(x, "error doesn't say why")
		case status == "failed":
			return pass(x)
		case status == "running":
			return fail(x, "it runs")
		case age >= r.BootTimeout:
			return fail(x, "it hasn't failed %s after POST", r.BootTimeout)
		}
		if r.Clock.Sleep(ctx, max(time.Second, pause(age))) != nil {
			return fail(x, "interrupted")
		}
	}
}

func checkExpiry(ctx context.Context, r *run) outcome {
	m, x := r.post(ctx, r.newCreate(r.Image, r.Expiry))
	if m == nil {
		return fail(x, "no machine with ttl_seconds %d was made", int64(r.Expiry/time.Second))
	}
	if r.Clock.Sleep(ctx, r.Expiry) != nil {
		return fail(x, "interrupted")
	}
	if x := r.untilGone(ctx, m.id); !x.is(404) {
		return fail(x, "it is still told %s after its ttl_seconds", graceOfEnd)
	}
	return pass(nil)
}
