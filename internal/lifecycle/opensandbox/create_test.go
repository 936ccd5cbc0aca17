package opensandbox

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	api "github.com/agentenv/terraform-provider-gpuvm/internal/apiclient/opensandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/faults"
	fake "github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/opensandbox"
)

func TestCreateMakesAUsableSandbox(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]fake.Options{
		"docker":     {ExecdDelay: 2 * time.Second},
		"kubernetes": {Kubernetes: true, ReadyDelay: 8 * time.Second, AllocatedFor: 3 * time.Second},
		"accepted":   {Async: true, PullDelay: 90 * time.Second},
	} {
		for _, proxy := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, proxy %t", name, proxy), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, options, func(s *Settings) { s.ServerProxy = proxy })
				spec := w.spec()
				spec.Probe.StableCount, spec.Probe.StableDelay = 3, time.Second
				spec.Files = []api.File{{Path: "/w/b", Content: []byte("later")}, {Path: "/w/a", Content: []byte("first"), Mode: "644"}}
				spec.SetupScript = "cat /w/a /w/b > /w/c; echo -n $EXTRA >> /w/c"
				spec.Request.Env = map[string]string{"EXTRA": "!"}
				spec.Ports, spec.VNCPort = []int64{8080, 9000}, 6080
				usable, err := w.Create(t.Context(), spec)
				if err != nil {
					t.Fatal(err)
				}
				id := usable.Sandbox.ID
				if ids := w.ids(); !slices.Equal(ids, []string{id}) || w.lastNoted() != id || usable.Sandbox.Status.State != api.StateRunning {
					t.Errorf("the server holds %v, noted %q, made %+v", ids, w.lastNoted(), usable.Sandbox)
				}
				if file, err := w.server.Machine(id).ReadFile("/w/c"); err != nil || string(file.Data) != "firstlater!" {
					t.Errorf("the setup script made %q, %v", file.Data, err)
				}
				if len(usable.Ports) != 2 || !strings.HasPrefix(usable.Ports[8080], "http://") || usable.VNCURL == "" || usable.VNCURL == usable.Ports[8080] {
					t.Errorf("ports %v, vnc %q", usable.Ports, usable.VNCURL)
				}
				sandbox, _ := w.server.Sandbox(id)
				if sandbox.Metadata[CreateIDKey] != usable.CreateID || sandbox.Metadata["team"] != "red" {
					t.Errorf("metadata %v", sandbox.Metadata)
				}
				if leaks := w.server.KeyLeaks(); len(leaks) > 0 {
					t.Errorf("the API key went into the sandbox: %v", leaks)
				}
			})
		}
	}
}

func TestCreateAsksForLittle(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fake.Options{})
	spec := w.spec()
	spec.SkipHealthCheck, spec.Probe.Line, spec.Ports = true, "", []int64{8080}
	if _, err := w.Create(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	want := []string{"POST /v1/sandboxes", "GET /v1/sandboxes/{id}", "GET /v1/sandboxes/{id}/endpoints/8080"}
	if asked := w.asked(); !slices.Equal(asked, want) {
		t.Errorf("asked\n%s", strings.Join(asked, "\n"))
	}
}

func TestUnreachableServerIsToldAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fake.Options{})
	w.Lifecycle = New(clientOf(t, "http://127.0.0.1:1", w.clock), w.settings)
	failure := w.mustFail(t.Context(), t, w.spec())
	if failure.Fate != FateNeverMade || !strings.Contains(failure.Error(), "POST /v1/sandboxes") {
		t.Errorf("%v", failure)
	}
}

func TestRetryAfterIsObeyed(t *testing.T) {
	t.Parallel()
	for _, status := range []int{429, 503} {
		w := newWorld(t, fake.Options{})
		w.server.Faults().Order(faults.Fault{Method: "POST", Path: "/v1/sandboxes", Status: status, RetryAfter: "77"})
		before := w.clock.Now()
		if _, err := w.Create(t.Context(), w.spec()); err != nil {
			t.Fatal(err)
		}
		if waited := w.clock.Now().Sub(before); waited < 77*time.Second {
			t.Errorf("%d: waited %s", status, waited)
		}
		if w.count(http.MethodGet) != 0 {
			t.Errorf("%d: looked for a sandbox that the server hadn't made", status)
		}
	}
}

func TestRetryAfterBeyondTheDeadlineFailsAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fake.Options{})
	w.server.Faults().Order(faults.Fault{Method: "POST", Path: "/v1/sandboxes", Status: 429, RetryAfter: "7200", Times: -1})
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	failure := w.mustFail(ctx, t, w.spec())
	if failure.Fate != FateNeverMade || !strings.Contains(failure.Error(), "2h0m0s") || w.count(http.MethodPost) != 1 {
		t.Errorf("asked %d times: %v", w.count(http.MethodPost), failure)
	}
}

func TestLongPullBehindAShortGateway(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fake.Options{})
	// The gateway gives up while the server goes on, and answers nothing else meanwhile.
	w.server.Faults().Order(
		faults.Fault{Method: "POST", Path: "/v1/sandboxes", Kind: faults.StatusAfter, Status: 504, Body: "gateway timeout"},
		faults.Fault{Method: "GET", Path: "/v1/sandboxes", Kind: faults.HTML, Status: 504, Times: 40},
	)
	usable, err := w.Create(t.Context(), w.spec())
	if err != nil {
		t.Fatal(err)
	}
	if ids := w.ids(); !slices.Equal(ids, []string{usable.Sandbox.ID}) || w.count(http.MethodPost) != 1 {
		t.Errorf("the server holds %v after %d requests", ids, w.count(http.MethodPost))
	}
}

func TestPullFailuresAreRetried(t *testing.T) {
	t.Parallel()
	for _, async := range []bool{false, true} {
		w := newWorld(t, fake.Options{Async: async})
		w.server.FailPulls(2)
		usable, err := w.Create(t.Context(), w.spec())
		if err != nil {
			t.Fatal(err)
		}
		if ids := w.ids(); !slices.Equal(ids, []string{usable.Sandbox.ID}) || w.lastNoted() != ids[0] {
			t.Errorf("async %t: the server holds %v, noted %q", async, ids, w.lastNoted())
		}
	}
}

func TestPodsThatDontComeUpAreRetried(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fake.Options{Kubernetes: true, DeleteDelay: 3 * time.Second})
	w.server.FailReadiness(2)
	usable, err := w.Create(t.Context(), w.spec())
	if err != nil {
		t.Fatal(err)
	}
	if ids := w.ids(); !slices.Equal(ids, []string{usable.Sandbox.ID}) {
		t.Errorf("the server holds %v, made %s", ids, usable.Sandbox.ID)
	}
}

func TestUnknownStatesArentFinal(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fake.Options{})
	spec := w.spec()
	noted := spec.Noted
	spec.Noted = func(id string) {
		noted(id)
		w.server.SetStatus(id, fake.Status{State: "Defrosting"})
	}
	polls := 0
	remove := w.server.Faults().OnRequest(func(r faults.Record) {
		if r.Method == http.MethodGet && r.Path == "/v1/sandboxes/"+w.lastNoted() {
			if polls++; polls == 30 {
				w.server.SetStatus(w.lastNoted(), fake.Status{})
			}
		}
	})
	defer remove()
	if _, err := w.Create(t.Context(), spec); err != nil {
		t.Error(err)
	}
}

func TestEndpointsMayComeALittleLate(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fake.Options{Kubernetes: true})
	w.server.Faults().Order(faults.Fault{Method: "GET", Path: "/v1/sandboxes/*/endpoints/*", Status: 404, Body: `{"code":"KUBERNETES::POD_IP_NOT_AVAILABLE","message":"no address yet"}`, Times: 5})
	spec := w.spec()
	spec.SkipHealthCheck, spec.Probe.Line, spec.Ports = true, "", []int64{8080}
	if usable, err := w.Create(t.Context(), spec); err != nil || usable.Ports[8080] == "" {
		t.Errorf("%+v, %v", usable, err)
	}
}

func TestProbeFailureResetsTheCount(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fake.Options{})
	spec := w.spec()
	spec.Probe = Probe{Line: "echo x >> /n; case $(wc -l < /n) in 3) exit 1;; esac; echo ok", Expected: "ok", StableCount: 3, Deadline: time.Minute, Timeout: 10 * time.Second}
	usable, err := w.Create(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	if file, _ := w.server.Machine(usable.Sandbox.ID).ReadFile("/n"); string(file.Data) != strings.Repeat("x\n", 6) {
		t.Errorf("the probe ran %d times, want 6: two, a failure, three", strings.Count(string(file.Data), "x"))
	}
}
