package opensandbox

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	api "github.com/agentenv/terraform-provider-gpuvm/internal/apiclient/opensandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/faults"
	fake "github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/opensandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/poll"
)

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
		"a runtime that can't do without an expiry": {
			spec:   func(s *Spec) { s.Request.TimeoutSeconds = nil },
			faults: []faults.Fault{{Method: "POST", Path: "/v1/sandboxes", Status: 400, Body: `{"code":"SANDBOX::INVALID_PARAMETER","message":"timeout is required by this workload provider"}`}},
			stage:  StageCreate, fate: FateNeverMade, says: []string{"HTTP 400", "never expire: set ttl_seconds"}, posts: 1,
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
		"an entrypoint that ends well": {
			options: fake.Options{ExitDelay: time.Second, ExecdDelay: 5 * time.Second},
			spec:    func(s *Spec) { s.Request.Entrypoint = []string{"true"} },
			stage:   StageHealth, fate: FateDeleted, says: []string{"Terminated", "lasts as long as its entrypoint", "deleted again"}, posts: 1,
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
