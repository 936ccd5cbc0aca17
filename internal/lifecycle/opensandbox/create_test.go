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

	api "github.com/agentenv/terraform-provider-gpuvm/internal/apiclient/opensandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/faults"
	fake "github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/opensandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/poll"
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

// mustFail makes what can't be made and looks at what every failure has to hold.
func (w *world) mustFail(ctx context.Context, t *testing.T, spec Spec) *CreateError {
	t.Helper()
	usable, err := w.Create(ctx, spec)
	var failure *CreateError
	if usable != nil || !errors.As(err, &failure) {
		t.Fatalf("made %+v, error %v", usable, err)
	}
	if failure.CreateID == "" || failure.Err == nil || failure.Fate == "" {
		t.Errorf("the error doesn't say all: %+v", failure)
	}
	if strings.Contains(err.Error(), testKey) {
		t.Errorf("the key shows in %v", err)
	}
	return failure
}

func TestCreateThatFails(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		options fake.Options
		change  func(*Settings)
		spec    func(*Spec)
		faults  []faults.Fault
		stage   Stage
		fate    Fate
		says    []string
		posts   int
	}{
		"refused": {
			spec:  func(s *Spec) { ttl := int64(5); s.Request.TimeoutSeconds = &ttl },
			stage: StageCreate, fate: FateNeverMade, says: []string{"HTTP 422", "timeout", "no sandbox was made"}, posts: 1,
		},
		"quota": {
			options: fake.Options{Kubernetes: true, Newer: true},
			faults:  []faults.Fault{{Method: "POST", Path: "/v1/sandboxes", Status: 403, Body: `{"code":"KUBERNETES::QUOTA_EXCEEDED","message":"no more"}`}},
			stage:   StageCreate, fate: FateNeverMade, says: []string{"QUOTA_EXCEEDED", "quota behind the api_key"}, posts: 1,
		},
		"quota as 504": {
			faults: []faults.Fault{{Method: "POST", Path: "/v1/sandboxes", Status: 504, Body: `{"code":"KUBERNETES::QUOTA_EXCEEDED","message":"no more"}`}},
			stage:  StageCreate, fate: FateNeverMade, says: []string{"HTTP 504", "QUOTA_EXCEEDED"}, posts: 1,
		},
		"wrong key": {
			faults: []faults.Fault{{Method: "POST", Path: "/v1/sandboxes", Status: 401, Body: `{"code":"INVALID_API_KEY","message":"no"}`}},
			stage:  StageCreate, fate: FateNeverMade, says: []string{"HTTP 401", "INVALID_API_KEY"}, posts: 1,
		},
		"no such image": {
			spec:  func(s *Spec) { s.Request.Image.URI = "no-such-image" },
			stage: StageCreate, fate: FateNeverMade, says: []string{"IMAGE_PULL_FAILED", "image_auth"}, posts: 3,
		},
		"no such image, told by its state": {
			options: fake.Options{Async: true},
			spec:    func(s *Spec) { s.Request.Image.URI = "no-such-image" },
			stage:   StageBoot, fate: FateDeleted, says: []string{"Failed", "no-such-image", "deleted again"}, posts: 3,
		},
		"too little memory": {
			spec:  func(s *Spec) { s.Request.ResourceLimits["memory"] = "1Ki" },
			stage: StageCreate, fate: FateNeverMade, says: []string{"SANDBOX_START_FAILED", "memory limit"}, posts: 3,
		},
		"no such pool": {
			options: fake.Options{Kubernetes: true},
			spec: func(s *Spec) {
				s.Request = api.CreateRequest{Extensions: map[string]string{api.PoolRefExtension: "warm"}}
			},
			stage: StagePool, fate: FateNeverMade, says: []string{`pool_ref "warm"`, "POOL_NOT_FOUND", "create the pool first"}, posts: 0,
		},
		"an entrypoint that ends": {
			options: fake.Options{ExitDelay: time.Second, ExecdDelay: 5 * time.Second},
			spec:    func(s *Spec) { s.Request.Entrypoint = []string{"no-such-command"} },
			stage:   StageHealth, fate: FateDeleted, says: []string{"Failed", "127", "What the server tells", "deleted again"}, posts: 1,
		},
		"pending for ever": {
			options: fake.Options{Async: true, PullDelay: 24 * time.Hour},
			stage:   StageBoot, fate: FateDeleted, says: []string{"waiting for sandbox", "Pending", "deleted again", "can't be pulled"}, posts: 1,
		},
		"no agent": {
			options: fake.Options{ExecdDelay: time.Hour},
			stage:   StageHealth, fate: FateDeleted, says: []string{"the agent of sandbox", "tried at http://127.0.0.1", "use_server_proxy = true"}, posts: 1,
		},
		"no agent behind the proxy": {
			options: fake.Options{ExecdDelay: time.Hour}, change: serverProxy,
			stage: StageHealth, fate: FateDeleted, says: []string{"HTTP 502", "skip_health_check"}, posts: 1,
		},
		"an agent that refuses": {
			faults: []faults.Fault{{Method: "GET", Path: "/direct/**", Status: 401, Times: -1}},
			stage:  StageHealth, fate: FateDeleted, says: []string{"HTTP 401", "use_server_proxy"}, posts: 1,
		},
		"a probe that fails": {
			spec:  func(s *Spec) { s.Probe = Probe{Line: "echo almost; exit 4", Deadline: 20 * time.Second} },
			stage: StageProbe, fate: FateDeleted, says: []string{"exit code 4", "almost", "probe"}, posts: 1,
		},
		"a probe that prints something else": {
			spec:  func(s *Spec) { s.Probe.Line = "echo hello" },
			stage: StageProbe, fate: FateDeleted, says: []string{`doesn't print "opensandbox-ready"`, "hello"}, posts: 1,
		},
		"a probe that never was there": {
			options: fake.Options{Images: map[string]fake.Image{"busybox": {NoShell: true}}},
			stage:   StageProbe, fate: FateDeleted, says: []string{"exit code 125", "executable file not found"}, posts: 1,
		},
		"a file with an odd mode": {
			spec:  func(s *Spec) { s.Files = []api.File{{Path: "/w/a", Mode: "rwx"}} },
			stage: StageFiles, fate: FateDeleted, says: []string{"uploading /w/a", `mode "rwx"`}, posts: 1,
		},
		"a script that fails": {
			spec:  func(s *Spec) { s.SetupScript = "echo step one; echo oops >&2; exit 3" },
			stage: StageSetup, fate: FateDeleted, says: []string{"Script failed (exit 3)", "step one", "oops", "deleted again"}, posts: 1,
		},
		"a port out of range": {
			spec:  func(s *Spec) { s.Ports = []int64{70000} },
			stage: StagePorts, fate: FateDeleted, says: []string{"port 70000", "INVALID_PORT"}, posts: 1,
		},
		"kept": {
			spec:  func(s *Spec) { s.SetupScript = "exit 3"; s.KeepFailed = true },
			stage: StageSetup, fate: FateKept, says: []string{"Script failed (exit 3)", "kept for debugging"}, posts: 1,
		},
		"not to be deleted": {
			spec:   func(s *Spec) { s.SetupScript = "exit 3" },
			faults: []faults.Fault{{Method: "DELETE", Path: "/v1/sandboxes/*", Status: 403, Times: -1}},
			stage:  StageSetup, fate: FateUndeleted, says: []string{"could NOT be deleted", "HTTP 403"}, posts: 1,
		},
		"vanished": {
			faults: []faults.Fault{{Method: "GET", Path: "/v1/sandboxes/*", Status: 404, Times: -1}},
			stage:  StageBoot, fate: FateDeleted, says: []string{"HTTP 404"}, posts: 3,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, test.options)
			if test.change != nil {
				test.change(&w.settings)
			}
			spec := w.spec()
			if test.spec != nil {
				test.spec(&spec)
			}
			w.server.Faults().Order(test.faults...)
			failure := w.mustFail(t.Context(), t, spec)
			text := failure.Error()
			if failure.Stage != test.stage || failure.Fate != test.fate {
				t.Errorf("stage %q, fate %q; want %q, %q", failure.Stage, failure.Fate, test.stage, test.fate)
			}
			for _, want := range test.says {
				if !strings.Contains(text, want) {
					t.Errorf("the error doesn't say %q:\n%s", want, text)
				}
			}
			left := 0
			if failure.Stands() {
				left = 1
			}
			if ids := w.ids(); len(ids) != left || left == 1 && ids[0] != failure.ID {
				t.Errorf("the server holds %v; want %d. The error:\n%s", ids, left, text)
			}
			if posts := w.count(http.MethodPost); posts != test.posts {
				t.Errorf("asked for a sandbox %d times, want %d", posts, test.posts)
			}
		})
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

func TestSecretsStayOutOfErrors(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fake.Options{})
	spec := w.spec()
	spec.Secrets = []string{"hunter2-hunter2"}
	spec.SetupScript = "echo the password is hunter2-hunter2; exit 1"
	failure := w.mustFail(t.Context(), t, spec)
	if text := failure.Error() + failure.ScriptOutput; strings.Contains(text, "hunter2") || !strings.Contains(text, "the password is (redacted)") {
		t.Errorf("%s", text)
	}
}

func TestTimeoutSaysWhatWasLastSeen(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fake.Options{ExecdDelay: time.Hour})
	spec := w.spec()
	spec.ReadyTimeout = 15 * time.Second
	failure := w.mustFail(t.Context(), t, spec)
	var timeout *poll.TimeoutError
	if !errors.As(failure, &timeout) || timeout.Waited < 15*time.Second || timeout.Waited > 20*time.Second || timeout.Last == "" {
		t.Errorf("%+v", timeout)
	}
}
