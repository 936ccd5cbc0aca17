package opensandboxsandbox_test

import (
	"context"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/agentenv/terraform-provider-gpuvm/internal/acctest"
	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/faults"
	fake "github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/opensandbox"
)

func sameRequest(a, b fake.CreateRequest) bool { return reflect.DeepEqual(a, b) }

// A setup that takes longer than the time to live is renewed by the provider itself: Terraform asks only once Open has answered.
func TestLongSetupIsRenewed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var commands, asked atomic.Int32
	script, renewed, release := make(chan struct{}), make(chan struct{}), make(chan struct{})
	b.server.Faults().OnRequest(func(r faults.Record) {
		switch {
		case strings.HasSuffix(r.Path, "/command") && commands.Add(1) == 2: // after the probe
			close(script)
			<-release
		case strings.HasSuffix(r.Path, "/renew-expiration"):
			asked.Add(1)
		case r.Method == "GET" && strings.HasPrefix(r.Path, "/v1/sandboxes/") && asked.Load() > 0 && commands.Load() == 2:
			renewed <- struct{}{} // a renewal is read back once it is done
		}
	})
	type answer struct {
		opened      acctest.Opened
		diagnostics []*tfprotov6.Diagnostic
	}
	done := make(chan answer, 1)
	go func() {
		opened, diagnostics := b.OpenEphemeral(context.WithoutCancel(t.Context()), kind, values{"image": "busybox", "setup_script": "true"})
		done <- answer{opened, diagnostics}
	}()
	<-script
	for range 5 {
		b.clock.Advance(150 * time.Second)
		<-renewed
	}
	close(release)
	a := <-done
	if len(a.diagnostics) > 0 || asked.Load() != 5 {
		t.Fatalf("renewed %d times\n%s", asked.Load(), acctest.Text(a.diagnostics))
	}
	if expires := b.only(t).Expires; !expires.Equal(b.clock.Now().Add(300*time.Second)) || a.opened.RenewAt.After(expires.Add(-150*time.Second)) {
		t.Errorf("it expires at %s, and is renewed next at %s; it is %s", expires, a.opened.RenewAt, b.clock.Now())
	}
}

// A renewal that fails for a while is tried again before the sandbox ends: Terraform doesn't ask again after an error.
func TestRenewalThatFailsForAWhile(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	opened := b.mustOpen(t, values{"image": "busybox", "ttl_seconds": 3600})
	b.server.Faults().Order(faults.Fault{Method: "POST", Path: "/v1/sandboxes/*/renew-expiration", Status: 503, Times: -1})
	later, diagnostics := b.Renew(t.Context(), opened)
	if len(diagnostics) != 1 || diagnostics[0].Severity != tfprotov6.DiagnosticSeverityWarning {
		t.Fatal(acctest.Text(diagnostics))
	}
	if wait := later.RenewAt.Sub(b.clock.Now()); wait <= 0 || wait > 5*time.Minute {
		t.Errorf("it is tried again in %s", wait)
	}
	b.server.Faults().Clear()
	again, diagnostics := b.Renew(t.Context(), later)
	if len(diagnostics) > 0 || again.RenewAt.Sub(b.clock.Now()) != 30*time.Minute {
		t.Errorf("renewed next at %s\n%s", again.RenewAt, acctest.Text(diagnostics))
	}
	// With no time left it is an error.
	b.server.Faults().Order(faults.Fault{Method: "POST", Path: "/v1/sandboxes/*/renew-expiration", Status: 503, Times: -1})
	b.clock.Advance(2 * time.Hour)
	if _, diagnostics = b.Renew(t.Context(), again); len(diagnostics) != 1 || diagnostics[0].Severity != tfprotov6.DiagnosticSeverityError {
		t.Error(acctest.Text(diagnostics))
	}
}

func TestRenewalOfASandboxThatIsGone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	opened := b.mustOpen(t, values{"image": "busybox"})
	b.server.Kill(b.only(t).ID)
	_, diagnostics := b.Renew(t.Context(), opened)
	says(t, diagnostics, "was not renewed", "HTTP 404")
	if diagnostics := b.CloseEphemeral(t.Context(), opened); len(diagnostics) > 0 {
		t.Errorf("closing it: %s", acctest.Text(diagnostics))
	}
}

// Terraform may be interrupted while it closes; nobody else would delete the sandbox before its time.
func TestInterruptDoesNotStopAClose(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	opened := b.mustOpen(t, values{"image": "busybox"})
	ctx, interrupt := context.WithCancel(t.Context())
	b.server.Faults().OnRequest(func(r faults.Record) {
		if r.Method == "DELETE" {
			interrupt()
		}
	})
	if diagnostics := b.CloseEphemeral(ctx, opened); len(diagnostics) > 0 {
		t.Error(acctest.Text(diagnostics))
	}
	b.left(t, "after an interrupted close")
}

// Terraform doesn't close what is open when the user of it fails.
func TestTheEndOfTheProgramEndsWhatIsOpen(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for range 20 {
		b.mustOpen(t, values{"image": "busybox"})
	}
	closed := b.mustOpen(t, values{"image": "busybox"})
	if diagnostics := b.CloseEphemeral(t.Context(), closed); len(diagnostics) > 0 {
		t.Fatal(acctest.Text(diagnostics))
	}
	b.server.Faults().Reset()
	b.end(t.Context())
	b.left(t, "after the program's end")
	if sent := len(b.server.Faults().Requests()); sent != 20 {
		t.Errorf("%d requests were sent", sent)
	}
}

// A sandbox of which neither Open nor Close could get rid is tried once more as the program ends.
func TestWhatCouldNotBeDeletedIsTriedAgainAtTheEnd(t *testing.T) {
	t.Parallel()
	for title, config := range map[string]values{
		"open":  {"image": "busybox", "setup_script": "exit 1"},
		"close": {"image": "busybox"},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.server.Faults().Order(faults.Fault{Method: "DELETE", Status: 403, Times: -1})
			opened, diagnostics := b.OpenEphemeral(t.Context(), kind, config)
			if opened.Attributes != nil {
				diagnostics = b.CloseEphemeral(t.Context(), opened)
			}
			if len(diagnostics) == 0 || len(b.server.Sandboxes()) != 1 {
				t.Fatalf("the server holds %d\n%s", len(b.server.Sandboxes()), acctest.Text(diagnostics))
			}
			b.server.Faults().Clear()
			b.end(t.Context())
			b.left(t, "after the program's end")
		})
	}
}
