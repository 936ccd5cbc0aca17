package connection_test

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-log/tflogtest"

	"github.com/agentenv/terraform-provider-gpuvm/internal/acctest"
	"github.com/agentenv/terraform-provider-gpuvm/internal/clock"
	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/faults"
	fakegpuvm "github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/gpuvm"
	fakeopensandbox "github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/opensandbox"
	providers "github.com/agentenv/terraform-provider-gpuvm/internal/provider"
)

// log is what a provider writes to its log. It is safe for concurrent use.
type log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *log) Write(data []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(data)
}

// told gives the messages of level INFO as "message field=value ...", and the whole text.
func (l *log) told(t *testing.T) (lines []string, whole string) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	whole = l.text.String()
	entries, err := tflogtest.MultilineJSONDecode(strings.NewReader(whole))
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if entry["@level"] != "info" {
			continue
		}
		line := fmt.Sprint(entry["@message"])
		for _, field := range []string{"id", "files", "elapsed", "last"} {
			if value, given := entry[field]; given {
				line += fmt.Sprintf(" %s=%v", field, value)
			}
		}
		lines = append(lines, line)
	}
	return lines, whole
}

// wantInOrder sees that the lines hold the wanted parts, in that order; others may stand between them.
func wantInOrder(t *testing.T, lines []string, parts ...string) {
	t.Helper()
	rest := lines
	for _, part := range parts {
		at := 0
		for at < len(rest) && !strings.Contains(rest[at], part) {
			at++
		}
		if at == len(rest) {
			t.Fatalf("the log doesn't say %q at its place:\n%s", part, strings.Join(lines, "\n"))
		}
		rest = rest[at+1:]
	}
}

// create makes an object through the protocol and destroys it again, and gives what was logged.
func create(t *testing.T, p provider.Provider, block acctest.Values, kind string, config acctest.Values) (lines []string, whole string) {
	t.Helper()
	var written log
	ctx := tflogtest.RootLogger(t.Context(), &written)
	protocol := acctest.NewProtocol(t, p, block)
	object, diagnostics := protocol.Apply(ctx, protocol.PlanChange(ctx, kind, acctest.Object{}, config))
	if len(diagnostics) > 0 {
		t.Fatal(acctest.Text(diagnostics))
	}
	if _, diagnostics := protocol.Apply(ctx, protocol.PlanChange(ctx, kind, object, nil)); len(diagnostics) > 0 {
		t.Fatal(acctest.Text(diagnostics))
	}
	return written.told(t)
}

// TestLongCreatesSayWhatTheyWaitFor: at INFO, with the time that it has taken, and without a secret.
func TestLongCreatesSayWhatTheyWaitFor(t *testing.T) {
	t.Parallel()
	const script = "echo 'a secret of the script'"
	t.Run("gpuvm_instance", func(t *testing.T) {
		t.Parallel()
		boot := clock.NewManual(time.Now())
		service := acctest.NewGPUVM(t, func(o *fakegpuvm.Options) { o.Clock, o.BootDelay, o.LongPoll = boot, time.Minute, false })
		var reads atomic.Int32
		service.Faults().OnRequest(func(r faults.Record) {
			if r.Method == "GET" && reads.Add(1) == 2 {
				boot.Advance(time.Minute)
			}
		})
		lines, whole := create(t, providers.GPUVM("test")(), acctest.Values{"base_url": service.URL, "api_token": service.Token},
			"gpuvm_instance", acctest.Values{
				"image": "client", "readiness_command": []string{"true"}, "setup_script": script, "teardown_script": script,
				"files": acctest.Values{"/etc/a": acctest.Values{"content": "a secret of the file"}},
			})
		wantInOrder(t, lines,
			"the service has accepted the machine id=vm-", "to run elapsed=0s last=booting", "uploading files id=vm-", "running the setup script id=vm-",
			"the machine is ready id=vm-", "running the teardown script id=vm-")
		for _, secret := range []string{service.Token, "a secret of"} {
			if strings.Contains(whole, secret) {
				t.Errorf("the log holds %q", secret)
			}
		}
	})
	t.Run("opensandbox_sandbox", func(t *testing.T) {
		t.Parallel()
		start := clock.NewManual(time.Now())
		server := acctest.NewOpenSandbox(t, func(o *fakeopensandbox.Options) { o.Clock, o.ExecdDelay = start, time.Minute })
		var asked atomic.Bool
		server.Faults().OnRequest(func(r faults.Record) {
			switch {
			case strings.HasSuffix(r.Path, "/ping"):
				asked.Store(true)
			case asked.Load(): // the agent hasn't answered, so the sandbox is looked at: that is worth a word
				start.Advance(time.Minute)
			}
		})
		lines, whole := create(t, providers.OpenSandbox("test")(), acctest.Values{
			"domain": server.URL, "api_key": server.APIKey, "operations": acctest.Values{"retries": 0}, // or the client would ask again by itself
		},
			"opensandbox_sandbox", acctest.Values{
				"image": "client", "ttl_seconds": 3600, "setup_script": script, "teardown_script": script,
				"files": acctest.Values{"/etc/a": acctest.Values{"content": "a secret of the file"}},
			})
		wantInOrder(t, lines,
			"the server has accepted the sandbox id=", "waiting for the agent of sandbox", "uploading files id=", "running the setup script id=",
			"the sandbox is ready id=", "running the teardown script id=", "deleting the sandbox id=")
		for _, secret := range []string{server.APIKey, "a secret of"} {
			if strings.Contains(whole, secret) {
				t.Errorf("the log holds %q", secret)
			}
		}
	})
}
