package gpuvm_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/gpuvm"
)

const hostile = `{"image":"<script>alert(1)</script>","cpu":1,"memory_mb":1,"disk_gb":1,"ttl_seconds":60,"ports":[8080],"labels":{"<i>k":"<b>v"},"priority":5}`

// page gets a page as a browser does: without a token.
func (b *bench) page(path string) reply {
	b.t.Helper()
	return b.do("GET", path, "", "Authorization", "")
}

func (a reply) holds(t *testing.T, what string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(a.text, text) {
			t.Errorf("%s lacks %q:\n%s", what, text, a.text)
		}
	}
}

func (a reply) lacks(t *testing.T, what string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if strings.Contains(a.text, text) {
			t.Errorf("%s should not hold %q:\n%s", what, text, a.text)
		}
	}
}

func TestStatusPage(t *testing.T) {
	t.Parallel()
	b := newBench(t, gpuvm.Options{BootDelay: time.Second})
	b.page("/").holds(t, "the empty page", "No machine is here", `http-equiv="refresh"`)
	id := b.create(hostile)
	b.clock.Advance(10 * time.Second)
	got := b.page("/")
	got.holds(t, "the page", id, "&lt;script&gt;alert(1)&lt;/script&gt;", "&lt;i&gt;k=&lt;b&gt;v", "running", "10s", "50s",
		`href="/_fake/vms/`+id+`/ports/8080/"`, `href="/_fake/vms/`+id+`/display"`)
	got.lacks(t, "the page", "<script>alert", "<b>v", token, "://")
	if policy := got.header.Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'none'") {
		t.Errorf("policy %q", policy)
	}
}

func TestDisplay(t *testing.T) {
	t.Parallel()
	b := newBench(t, gpuvm.Options{BootDelay: 10 * time.Second})
	id := b.create(hostile)
	screen := "/_fake/vms/" + id + "/screen"
	b.clock.Advance(5 * time.Second)
	early := b.page(screen)
	early.holds(t, "the screen while booting", id, "&lt;script&gt;", "firmware: starting", "booting ...", "none yet")
	early.lacks(t, "the screen while booting", "ready", "network: up")
	b.clock.Advance(5 * time.Second)

	for _, body := range []string{
		argv("sudo", "bash", "-c", "export PASSWORD=hunter2\necho '<u>out</u>'; printf '\\033[31mred\\n'; exit 3"),
		argv("env", "TOKEN=hunter2", "true"), argv("whoami"),
	} {
		if got := b.do("POST", "/v1/vms/"+id+"/exec", body); got.status != 200 {
			t.Fatalf("%v: %d %s", body, got.status, got.text)
		}
	}
	for _, path := range []string{screen, "/_fake/vms/" + id + "/display"} {
		got := b.page(path)
		got.holds(t, path, "ready", "$ sudo bash -c (script, lines: 2)", "exit 3", "&lt;u&gt;out&lt;/u&gt;", "[31mred",
			"$ env (arguments: 2)", "$ whoami", "ubuntu")
		got.lacks(t, path, "hunter2", "<u>", "\x1b", token, "<script>alert")
	}
	b.page("/_fake/vms/"+id+"/display").holds(t, "the display", "fetch('screen'")
	b.service.Fail(id, "burnt <down>")
	b.page(screen).holds(t, "the screen of a failed machine", "failed: burnt &lt;down&gt;")
	b.service.Delete(id)
	for _, path := range []string{screen, "/_fake/vms/" + id + "/display", "/_fake/vms/%3Cb%3E/display"} {
		got := b.page(path)
		if got.status != 404 {
			t.Errorf("%s: %d", path, got.status)
		}
		got.holds(t, path, "There is no such machine")
		got.lacks(t, path, "<b>")
	}
}

// TestDisplayIsLive sees the output of a command that hasn't ended.
func TestDisplayIsLive(t *testing.T) {
	t.Parallel()
	b := newBench(t, gpuvm.Options{})
	id := b.create(plain)
	done := make(chan reply)
	go func() {
		done <- b.do("POST", "/v1/vms/"+id+"/exec", `{"argv":["sh","-c","echo so far; sleep 60; echo the end"]}`)
	}()
	b.waitForSleepers(1)
	b.page("/_fake/vms/"+id+"/screen").holds(t, "the screen", "running", "so far")
	b.clock.Advance(time.Minute)
	if got := <-done; !strings.Contains(got.text, "so far\\nthe end\\n") {
		t.Errorf("the command: %s", got.text)
	}
}

func TestPorts(t *testing.T) {
	t.Parallel()
	b := newBench(t, gpuvm.Options{BootDelay: time.Second})
	id := b.create(hostile)
	at := "/_fake/vms/" + id + "/ports/"
	if got := b.page(at + "8080/"); got.status != 503 || !strings.Contains(got.text, "The machine is booting") {
		t.Errorf("while booting: %d %s", got.status, got.text)
	}
	b.clock.Advance(time.Second)
	for _, path := range []string{at + "8080/", at + "8080/some/page?x=y"} {
		got := b.page(path)
		got.holds(t, path, "Port 8080 of "+id, "&lt;script&gt;")
		if got.status != 200 {
			t.Errorf("%s: %d", path, got.status)
		}
	}
	for _, path := range []string{at + "81/", at + "x/", "/_fake/vms/vm-0/ports/8080/"} {
		if got := b.page(path); got.status != 404 {
			t.Errorf("%s: %d", path, got.status)
		}
	}
	b.service.ClosePort(id, 8080)
	if got := b.page(at + "8080/"); got.status != 404 {
		t.Errorf("a closed port: %d", got.status)
	}
}

func TestOrdersOverHTTP(t *testing.T) {
	t.Parallel()
	b := newBench(t, gpuvm.Options{})
	if got := b.do("POST", "/_fake/fail-boots?n=1&error=no+disk", ""); got.status != 204 {
		t.Errorf("fail-boots: %d %s", got.status, got.text)
	}
	first, second := b.create(hostile), b.create(plain)
	list := b.page("/_fake/vms")
	var vms []map[string]any
	if err := json.Unmarshal([]byte(list.text), &vms); err != nil || len(vms) != 2 {
		t.Fatalf("%v %s", err, list.text)
	}
	if vms[0]["error"] != "no disk" || vms[0]["priority"] != 5.0 || vms[0]["created_at"] != "2026-03-01T12:00:00Z" ||
		vms[1]["expires_at"] != "2026-03-01T12:10:00Z" || vms[1]["cpu"] != 1.5 {
		t.Errorf("%s", list.text)
	}
	for _, test := range []struct {
		method, path string
		status       int
	}{
		{"POST", "/_fake/vms/" + second + "/fail?error=burnt", 204},
		{"DELETE", "/_fake/vms/" + first, 204},
		{"DELETE", "/_fake/vms/" + first, 404},
		{"POST", "/_fake/vms/" + first + "/fail", 404},
		{"POST", "/_fake/fail-boots?n=x", 400},
		{"GET", "/_fake/none", 404},
	} {
		if got := b.do(test.method, test.path, ""); got.status != test.status {
			t.Errorf("%s %s: %d %s", test.method, test.path, got.status, got.text)
		}
	}
	if vms := b.service.VMs(); len(vms) != 1 || vms[0].Error != "burnt" || b.service.Created() != 2 {
		t.Errorf("left: %+v", vms)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, b.url+"/_fake/faults", strings.NewReader("DELETE status=503"))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil || resp.Body.Close() != nil || resp.StatusCode != http.StatusCreated {
		t.Fatalf("%v %v", resp, err)
	}
	if got := b.do("DELETE", "/v1/vms/"+second, ""); got.status != 503 {
		t.Errorf("the ordered fault: %d", got.status)
	}
}
