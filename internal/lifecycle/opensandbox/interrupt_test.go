package opensandbox

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/faults"
	fake "github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/opensandbox"
)

// interruptAt cancels a context when the n-th request that fits comes in.
func (w *world) interruptAt(t *testing.T, fits func(faults.Record) bool) context.Context {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	remove := w.server.Faults().OnRequest(func(r faults.Record) {
		if fits(r) {
			cancel(errors.New("interrupted by the user"))
		}
	})
	t.Cleanup(remove)
	return ctx
}

func isPost(r faults.Record) bool { return r.Method == http.MethodPost }

func TestInterruptAtEveryRequest(t *testing.T) {
	t.Parallel()
	for _, options := range []fake.Options{{}, {Async: true, PullDelay: 3 * time.Second, ListLag: 2 * time.Second}, {Kubernetes: true, ReadyDelay: 2 * time.Second}} {
		for n, more := 1, true; more; n++ {
			w := newWorld(t, options)
			spec := w.spec()
			spec.SetupScript, spec.Ports = "echo hi", []int64{8080}
			seen := 0
			ctx := w.interruptAt(t, func(faults.Record) bool { seen++; return seen == n })
			usable, err := w.Create(ctx, spec)
			if wrong := w.exactlyOne(usable, err); wrong != "" {
				t.Errorf("request %d: %s", n, wrong)
			}
			if more = ctx.Err() != nil; more && !strings.Contains(fmt.Sprint(err), "interrupted by the user") {
				t.Errorf("request %d: error %v", n, err)
			}
		}
	}
}

func TestInterruptWhileTheCreateIsUnderWay(t *testing.T) {
	t.Parallel()
	for _, kind := range []faults.Fault{{Kind: faults.ResetAfter}, {Kind: faults.Cut}, {Kind: faults.StatusAfter, Status: 504}, {Kind: faults.Delay, Delay: 40 * time.Second}} {
		w := newWorld(t, fake.Options{ListLag: 3 * time.Second})
		kind.Method, kind.Path = "POST", "/v1/sandboxes"
		w.server.Faults().Order(kind)
		ctx := w.interruptAt(t, isPost)
		usable, err := w.Create(ctx, w.spec())
		if wrong := w.exactlyOne(usable, err); err == nil || wrong != "" {
			t.Errorf("%s: %v, %s", kind.Kind, err, wrong)
		}
		if w.count(http.MethodPost) != 1 {
			t.Errorf("%s: asked again after the interrupt", kind.Kind)
		}
	}
}

func TestInterruptKeepsWhatIsToBeKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fake.Options{})
	spec := w.spec()
	spec.KeepFailed = true
	w.server.Faults().Order(faults.Fault{Method: "POST", Path: "/v1/sandboxes", Kind: faults.ResetAfter})
	failure := w.mustFail(w.interruptAt(t, isPost), t, spec)
	if ids := w.ids(); failure.Fate != FateKept || !slices.Equal(ids, []string{failure.ID}) || w.lastNoted() != failure.ID {
		t.Errorf("the server holds %v: %v", ids, failure)
	}
}

func TestPanicIsCleanedUpAfter(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fake.Options{})
	spec := w.spec()
	spec.Noted = func(string) { panic("a bug") }
	failure := w.mustFail(t.Context(), t, spec)
	var crash *PanicError
	if !errors.As(failure, &crash) || !strings.Contains(failure.Error(), "a bug") || crash.Stack == "" || len(w.ids()) > 0 || failure.Fate != FateDeleted {
		t.Errorf("the server holds %v: %v", w.ids(), failure)
	}
}
