package conformance_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/clock"
	"github.com/agentenv/terraform-provider-gpuvm/internal/conformance"
	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/gpuvm"
)

const token = "token-of-the-test"

// bench is a fake service and the check of it, on one clock that no wait of either holds up.
type bench struct {
	service *gpuvm.Service
	clock   *clock.Fake
	options conformance.Options
	lines   []conformance.Line
}

// newBench serves a fake; wrap, unless nil, stands between it and the check.
func newBench(t *testing.T, o gpuvm.Options, wrap func(http.Handler) http.Handler) *bench {
	t.Helper()
	b := &bench{clock: clock.NewInstant(time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC))}
	o.Clock, o.Token = b.clock, token
	b.service = gpuvm.New(o)
	var handler http.Handler = b.service
	if wrap != nil {
		handler = wrap(handler)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(func() { b.service.Close(); server.Close() })
	b.options = conformance.Options{
		BaseURL: server.URL + o.Prefix, Token: token, Image: "ubuntu", FailingImage: "fail-boot",
		LongCommand: 65 * time.Second, Expiry: time.Minute, Clock: b.clock,
	}
	return b
}

// complete is a service with everything that the contract lets it add.
func complete() gpuvm.Options {
	return gpuvm.Options{BootDelay: 30 * time.Second, IdempotencyKeys: true, LongPoll: true}
}

func (b *bench) check(ctx context.Context, t *testing.T) conformance.Report {
	t.Helper()
	report, err := conformance.Check(ctx, b.options, func(l conformance.Line) { b.lines = append(b.lines, l) })
	if err != nil {
		t.Fatal(err)
	}
	if len(b.lines) != len(report.Lines) {
		t.Errorf("%d lines were told, the report has %d", len(b.lines), len(report.Lines))
	}
	for _, line := range b.lines {
		if text := line.String(); strings.Contains(text, token) {
			t.Errorf("the token stands in %s", text)
		}
	}
	return report
}

// with gives the names of the lines of a verdict.
func (b *bench) with(verdict conformance.Verdict) []string {
	var names []string
	for _, line := range b.lines {
		if line.Verdict == verdict {
			names = append(names, line.Name)
		}
	}
	return names
}

func (b *bench) all() string {
	var text strings.Builder
	for _, line := range b.lines {
		text.WriteString(line.String() + "\n")
	}
	return text.String()
}
