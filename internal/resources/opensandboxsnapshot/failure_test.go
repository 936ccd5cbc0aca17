package opensandboxsnapshot_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/agentenv/terraform-provider-gpuvm/internal/acctest"
	"github.com/agentenv/terraform-provider-gpuvm/internal/clock"
	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/faults"
	fake "github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/opensandbox"
)

type values = acctest.Values

const kind = "opensandbox_snapshot"

// bench is the provider at protocol level and a server with one sandbox, on one clock that no wait of either holds up.
type bench struct {
	*acctest.Protocol
	server  *acctest.OpenSandbox
	sandbox string
}

func newBench(t *testing.T, set ...func(*fake.Options)) *bench {
	t.Helper()
	instant := clock.NewInstant(time.Now().Truncate(time.Second))
	server := acctest.NewOpenSandbox(t, append(set, func(o *fake.Options) { o.Clock = instant })...)
	protocol := acctest.NewProtocol(t, acctest.OpenSandboxClocked(instant), values{"domain": server.URL, "api_key": server.APIKey})
	return &bench{protocol, server, server.Make(t, `{"image":{"uri":"busybox"},"entrypoint":["tail"],"resourceLimits":{"cpu":"1"}}`)}
}

func (b *bench) take(ctx context.Context, t *testing.T) (acctest.Object, []*tfprotov6.Diagnostic) {
	t.Helper()
	return b.Apply(ctx, b.PlanChange(ctx, kind, acctest.Object{}, values{"sandbox_id": b.sandbox, "name": "daily"}))
}

// None of these faults makes a second snapshot or loses the first.
func TestExactlyOneSnapshotIsTaken(t *testing.T) {
	t.Parallel()
	for title, fault := range map[string]faults.Fault{
		"answer lost":     {Kind: faults.ResetAfter},
		"answer cut":      {Kind: faults.Cut},
		"no JSON":         {Kind: faults.Garbage},
		"empty answer":    {Kind: faults.Empty},
		"reset before":    {Kind: faults.ResetBefore},
		"gateway timeout": {Kind: faults.StatusAfter, Status: 504},
		"overloaded":      {Status: 503, RetryAfter: "1"},
		"trouble":         {Status: 500},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, func(o *fake.Options) { o.SnapshotDelay = 5 * time.Second })
			fault.Method, fault.Path = "POST", "/v1/sandboxes/*/snapshots"
			b.server.Faults().Order(fault)
			made, diagnostics := b.take(t.Context(), t)
			held := b.server.Snapshots()
			if len(diagnostics) > 0 || !made.Exists() || len(held) != 1 {
				t.Fatalf("the server holds %v\n%s", held, acctest.Text(diagnostics))
			}
			var id string
			if err := made.Attributes["id"].As(&id); err != nil || id != held[0].ID {
				t.Errorf("the state has %s, the server %s", id, held[0].ID)
			}
		})
	}
}

func TestFailedSnapshots(t *testing.T) {
	t.Parallel()
	for title, c := range map[string]struct {
		options func(*fake.Options)
		prepare func(*bench)
		says    []string
		stands  bool
	}{
		"sandbox is gone": {
			prepare: func(b *bench) { b.server.Kill(b.sandbox) },
			says:    []string{"Snapshot was not taken", "no snapshot was made", "plan again"},
		},
		"sandbox has ended": {
			prepare: func(b *bench) { b.server.Exit(b.sandbox, 0) },
			says:    []string{"Snapshot was not taken", "can only be created from a Running sandbox"},
		},
		"not on this server": {
			options: func(o *fake.Options) { o.NoSnapshots = true },
			says:    []string{"HTTP 501", "can't do that"},
		},
		"never ready": {
			options: func(o *fake.Options) { o.SnapshotDelay = 24 * time.Hour },
			says:    []string{"snapshot ", "to be ready", "could NOT be deleted"}, stands: true,
		},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			if c.options == nil {
				c.options = func(*fake.Options) {}
			}
			b := newBench(t, c.options)
			if c.prepare != nil {
				c.prepare(b)
			}
			made, diagnostics := b.take(t.Context(), t)
			for _, words := range c.says {
				if !strings.Contains(acctest.Text(diagnostics), words) {
					t.Errorf("%q is missing in\n%s", words, acctest.Text(diagnostics))
				}
			}
			if made.Exists() != c.stands || len(b.server.Snapshots()) > 0 != c.stands {
				t.Errorf("the state holds it: %t, the server: %v", made.Exists(), b.server.Snapshots())
			}
		})
	}
}

// Interrupted while it is made, a snapshot stays known: a server doesn't delete one that isn't ready.
func TestInterruptedSnapshotIsKnown(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(o *fake.Options) { o.SnapshotDelay = 24 * time.Hour })
	ctx, interrupt := context.WithCancel(t.Context())
	b.server.Faults().OnRequest(func(r faults.Record) {
		if r.Method == "GET" && strings.HasPrefix(r.Path, "/v1/snapshots/") {
			interrupt()
		}
	})
	made, diagnostics := b.take(ctx, t)
	if !made.Exists() || !strings.Contains(acctest.Text(diagnostics), "could NOT be deleted") {
		t.Errorf("state %v\n%s", made, acctest.Text(diagnostics))
	}
}

func TestFailedSnapshotIsReplaced(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	made, diagnostics := b.take(t.Context(), t)
	if len(diagnostics) > 0 {
		t.Fatal(acctest.Text(diagnostics))
	}
	id := b.server.Snapshots()[0].ID
	b.server.Faults().Order(faults.Fault{
		Method: "GET", Path: "/v1/snapshots/*", Status: 200,
		Body: `{"id":"` + id + `","sandboxId":"` + b.sandbox + `","name":"daily","status":{"state":"Failed"},"createdAt":"2026-01-02T03:04:05Z"}`,
	})
	refreshed, diagnostics := b.Refresh(t.Context(), kind, made)
	if len(diagnostics) > 0 {
		t.Fatal(acctest.Text(diagnostics))
	}
	change := b.PlanChange(t.Context(), kind, refreshed, values{"sandbox_id": b.sandbox, "name": "daily"})
	if len(change.Replace) != 1 || change.Replace[0] != "status" {
		t.Errorf("replaced for %v", change.Replace)
	}
}

// Only "not found" drops it from the state.
func TestRefreshThatFailsKeepsTheSnapshot(t *testing.T) {
	t.Parallel()
	for status, kept := range map[int]bool{401: true, 403: true, 500: true, 404: false, 410: false} {
		b := newBench(t)
		made, _ := b.take(t.Context(), t)
		b.server.Faults().Order(faults.Fault{Method: "GET", Path: "/v1/snapshots/*", Status: status, Times: -1})
		after, diagnostics := b.Refresh(t.Context(), kind, made)
		if after.Exists() != kept || len(diagnostics) > 0 != kept {
			t.Errorf("HTTP %d: kept %t, want %t; %s", status, after.Exists(), kept, acctest.Text(diagnostics))
		}
	}
}
