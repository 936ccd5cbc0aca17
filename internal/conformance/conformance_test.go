package conformance_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/conformance"
	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/faults"
	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/gpuvm"
)

// TestFakeConforms: our own fake keeps the contract in whatever way it is switched.
func TestFakeConforms(t *testing.T) {
	t.Parallel()
	for title, test := range map[string]struct {
		change     func(*gpuvm.Options)
		notOffered string
		faults     []faults.Fault
	}{
		"complete":             {},
		"boots at once":        {change: func(o *gpuvm.Options) { o.BootDelay = 0 }},
		"boots for long":       {change: func(o *gpuvm.Options) { o.BootDelay = 9 * time.Minute }},
		"no keys":              {change: func(o *gpuvm.Options) { o.IdempotencyKeys = false }, notOffered: "Idempotency-Key: a repetition gets the first answer"},
		"no held answers":      {change: func(o *gpuvm.Options) { o.LongPoll = false }, notOffered: "Prefer: wait"},
		"no display":           {change: func(o *gpuvm.Options) { o.VNC = gpuvm.VNCNull }, notOffered: "display"},
		"display left out":     {change: func(o *gpuvm.Options) { o.VNC = gpuvm.VNCAbsent }, notOffered: "display"},
		"ports at once":        {change: func(o *gpuvm.Options) { o.PortsAtOnce = true }},
		"under a prefix":       {change: func(o *gpuvm.Options) { o.Prefix = "/team/gpu" }},
		"labels of its own":    {change: func(o *gpuvm.Options) { o.ForeignLabels = map[string]string{"zone": "x"} }},
		"other values":         {change: func(o *gpuvm.Options) { o.RewriteLabel = func(_, v string) string { return "x" + v } }},
		"another image":        {change: func(o *gpuvm.Options) { o.RewriteImage = func(image string) string { return "registry/" + image } }},
		"appears late":         {change: func(o *gpuvm.Options) { o.AppearDelay = 5 * time.Second }},
		"goes late":            {change: func(o *gpuvm.Options) { o.DeleteDelay = 30 * time.Second }},
		"URLs of another host": {change: func(o *gpuvm.Options) { o.URL = "https://vms.example.com/" }},
		"busy": {faults: []faults.Fault{
			{Method: "POST", Kind: faults.Status, Status: 429, RetryAfter: "3", Skip: 5, Times: 3},
			{Method: "GET", Kind: faults.Status, Status: 503, RetryAfter: "Sun, 01 Mar 2026 12:02:00 GMT", Skip: 3},
		}},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			o := complete()
			if test.change != nil {
				test.change(&o)
			}
			b := newBench(t, o, nil)
			b.service.Faults().Order(test.faults...)
			report := b.check(t.Context(), t)
			if !report.Conforms() {
				t.Errorf("%s\n%s", b.all(), report.Summary())
			}
			if got := strings.Join(b.with(conformance.NotOffered), ", "); got != test.notOffered {
				t.Errorf("not offered: %q, want %q", got, test.notOffered)
			}
			if vms := b.service.VMs(); len(vms) > 0 {
				t.Errorf("%d machines are left", len(vms))
			}
			unchecked := b.with(conformance.NotChecked)
			if keysKnown := o.IdempotencyKeys; keysKnown && fmt.Sprint(unchecked) != "[Retry-After]" && test.faults == nil {
				t.Errorf("not checked: %q", unchecked)
			}
		})
	}
}

// TestNothingIsLeft interrupts the check at each kind of request, as it comes in, in the middle of the run and after it.
func TestNothingIsLeft(t *testing.T) {
	t.Parallel()
	requests := 0
	whole := newBench(t, complete(), nil)
	whole.check(t.Context(), t)
	requests = whole.service.Faults().Total()
	if requests < 40 {
		t.Fatalf("only %d requests", requests)
	}
	for at := 1; at <= requests; at++ {
		t.Run(fmt.Sprintf("request %d", at), func(t *testing.T) {
			t.Parallel()
			b := newBench(t, complete(), nil)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			b.service.Faults().OnRequest(func(faults.Record) {
				if b.service.Faults().Total() == at {
					cancel()
				}
			})
			report, err := conformance.Check(ctx, b.options, func(conformance.Line) {})
			if err == nil && !report.Interrupted && at < requests-10 {
				t.Error("the report doesn't say that the check was interrupted")
			}
			for _, line := range report.Lines {
				if line.Verdict == conformance.Fail {
					t.Errorf("an interrupt is no fault of the service: %s", line)
				}
			}
			if vms := b.service.VMs(); len(vms) > 0 || len(report.Left) > 0 {
				t.Errorf("%d machines are left, left behind: %q", len(vms), report.Left)
			}
		})
	}
}

// TestLostAnswersLeaveNothing loses the answers to creates, which may have made a machine.
func TestLostAnswersLeaveNothing(t *testing.T) {
	t.Parallel()
	for _, kind := range []faults.Kind{faults.ResetAfter, faults.Cut, faults.StatusAfter} {
		for skip := range 5 {
			b := newBench(t, complete(), nil)
			b.service.Faults().Order(faults.Fault{Method: "POST", Path: "/v1/vms", Kind: kind, Status: 504 * btoi(kind == faults.StatusAfter), Skip: skip})
			report := b.check(t.Context(), t)
			if vms := b.service.VMs(); len(vms) > 0 || len(report.Left) > 0 {
				t.Errorf("%s after %d creates: %d machines are left, left behind: %q\n%s", kind, skip, len(vms), report.Left, b.all())
			}
		}
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestWhatCanNotBeFoundIsSaid: a service that knows no keys and loses an answer leaves a machine whose id nobody knows.
func TestWhatCanNotBeFoundIsSaid(t *testing.T) {
	t.Parallel()
	b := newBench(t, gpuvm.Options{}, nil)
	b.service.Faults().Order(faults.Fault{Method: "POST", Path: "/v1/vms", Kind: faults.ResetAfter, Skip: 3})
	report := b.check(t.Context(), t)
	if report.Conforms() || len(report.Left) != 1 || !strings.Contains(report.Summary(), "Idempotency-Key") {
		t.Errorf("left behind: %q", report.Left)
	}
	vms := b.service.VMs()
	if len(vms) != 1 || !strings.Contains(report.Left[0], "run="+vms[0].Spec.Labels["run"]) {
		t.Errorf("%d machines, left behind: %q", len(vms), report.Left)
	}
}

// TestUndeletable: a machine that the service doesn't let go is named.
func TestUndeletable(t *testing.T) {
	t.Parallel()
	b := newBench(t, complete(), nil)
	b.service.Faults().Order(faults.Fault{Method: "DELETE", Path: "/v1/vms/vm-*", Kind: faults.Status, Status: 500, Times: -1})
	report := b.check(t.Context(), t)
	for _, vm := range b.service.VMs() {
		if !strings.Contains(report.Summary(), "LEFT BEHIND: "+vm.ID+" may still stand: DELETE got 500") {
			t.Errorf("%s isn't named:\n%s", vm.ID, report.Summary())
		}
	}
	if report.Conforms() {
		t.Error("it should not conform")
	}
}

func TestUnusable(t *testing.T) {
	t.Parallel()
	for want, o := range map[string]conformance.Options{
		"no http or https URL":       {BaseURL: "vms.example.com", Image: "x"},
		"nothing else":               {BaseURL: "http://user:word@127.0.0.1", Image: "x"},
		"an image":                   {BaseURL: "http://127.0.0.1"},
		"the service can't be reach": {BaseURL: "http://127.0.0.1:1", Image: "x"},
	} {
		_, err := conformance.Check(t.Context(), o, func(conformance.Line) { t.Error("a line was told") })
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// TestRefusedToken: with a token that the service refuses, every line would say the same.
func TestRefusedToken(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{"": "asks for a token", "not-the-token": "refuses the token"} {
		b := newBench(t, complete(), nil)
		b.options.Token = given
		_, err := conformance.Check(t.Context(), b.options, func(conformance.Line) { t.Error("a line was told") })
		if err == nil || !strings.Contains(err.Error(), want) || given != "" && strings.Contains(err.Error(), given) {
			t.Errorf("%q: %v", given, err)
		}
	}
}

// TestWithoutToken: a service that asks for no token can be checked, but for that.
func TestWithoutToken(t *testing.T) {
	t.Parallel()
	b := newBench(t, complete(), func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r.Header.Set("Authorization", "Bearer "+token)
			next.ServeHTTP(w, r)
		})
	})
	b.options.Token = ""
	if report := b.check(t.Context(), t); !report.Conforms() || b.with(conformance.NotChecked)[0] != "a token is asked for" {
		t.Error(b.all())
	}
}

// TestTextFromOutsideIsHarmless: what a service sends can't move the cursor of the terminal that shows it.
func TestTextFromOutsideIsHarmless(t *testing.T) {
	t.Parallel()
	b := newBench(t, complete(), spoil("GET", "", func(_ *http.Request, a *answer) {
		if a.status == 404 {
			a.body = "\x1b[2J\r\n" + strings.Repeat("x", 10_000) + token
		}
	}))
	b.check(t.Context(), t)
	for _, line := range b.lines {
		if text := line.String(); strings.ContainsAny(text, "\x1b\r") || len(text) > 2000 {
			t.Errorf("%q", text)
		}
	}
}
