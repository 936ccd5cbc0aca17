package gpuvm_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/apiclient"
	api "github.com/agentenv/terraform-provider-gpuvm/internal/apiclient/gpuvm"
	"github.com/agentenv/terraform-provider-gpuvm/internal/clock"
	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice"
	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/faults"
	fake "github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/gpuvm"
	lifecycle "github.com/agentenv/terraform-provider-gpuvm/internal/lifecycle/gpuvm"
)

const token = "token-of-the-test"

// world is a fake service, and a lifecycle that talks to it over loopback.
func world(t *testing.T, by clock.Clock) (*lifecycle.Lifecycle, *fake.Service) {
	t.Helper()
	service := fake.New(fake.Options{Token: token, IdempotencyKeys: true})
	url, stop, err := fakeservice.Serve(service)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	client, err := apiclient.New(apiclient.Config{
		BaseURL: url, Credential: apiclient.Credential{Header: "Authorization", Scheme: "Bearer ", Secret: token},
		RequestTimeout: time.Minute, MaxRetries: 4, RetryMinDelay: time.Second, RetryMaxDelay: 30 * time.Second, Clock: by,
	})
	if err != nil {
		t.Fatal(err)
	}
	return &lifecycle.Lifecycle{API: api.New(client), Clock: by, Retries: 4, Backoff: client.Backoff, RequestTimeout: time.Minute}, service
}

func spec() lifecycle.Spec {
	return lifecycle.Spec{Request: api.CreateRequest{
		Image: "client", CPU: 1, MemoryMB: 1024, DiskGB: 10, TTLSeconds: 600, Ports: []int64{}, Labels: map[string]string{},
	}}
}

func posted(service *fake.Service) int {
	count := 0
	for _, request := range service.Faults().Requests() {
		if request.Method == http.MethodPost {
			count++
		}
	}
	return count
}

func mustFail(ctx context.Context, t *testing.T, l *lifecycle.Lifecycle) *lifecycle.CreateError {
	t.Helper()
	_, err := l.Create(ctx, spec())
	var failure *lifecycle.CreateError
	if !errors.As(err, &failure) {
		t.Fatalf("it ended with %v", err)
	}
	return failure
}

// The answer of a create is waited for beyond the end of the operation; a pause before the next attempt isn't.
func TestRetryAfterBeyondTheDeadlineFailsAtOnce(t *testing.T) {
	t.Parallel()
	l, service := world(t, clock.NewInstant(time.Now()))
	service.Faults().Order(faults.Fault{Method: "POST", Path: "/v1/vms", Kind: faults.Status, Status: 429, RetryAfter: "7200", Times: -1})
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	failure := mustFail(ctx, t, l)
	if failure.Fate != lifecycle.FateNeverMade || !strings.Contains(failure.Error(), "2h0m0s") || posted(service) != 1 {
		t.Errorf("asked %d times: %v", posted(service), failure)
	}
}

func TestAnInterruptEndsThePauseBeforeTheNextAttempt(t *testing.T) {
	t.Parallel()
	by := clock.NewManual(time.Now())
	l, service := world(t, by)
	service.Faults().Order(faults.Fault{Method: "POST", Path: "/v1/vms", Kind: faults.Status, Status: 429, RetryAfter: "7200", Times: -1})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	service.Faults().OnRequest(func(faults.Record) { cancel() })
	failure := mustFail(ctx, t, l)
	if failure.Fate != lifecycle.FateNeverMade || !errors.Is(failure, context.Canceled) || posted(service) != 1 {
		t.Errorf("asked %d times: %v", posted(service), failure)
	}
}

func TestNothingIsAskedForAfterAnInterrupt(t *testing.T) {
	t.Parallel()
	l, service := world(t, clock.NewInstant(time.Now()))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	failure := mustFail(ctx, t, l)
	if failure.Fate != lifecycle.FateNeverMade || posted(service) != 0 {
		t.Errorf("asked %d times: %v", posted(service), failure)
	}
}
