package main

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// program is a run of the command in this process.
type program struct {
	environment map[string]string
	stop        context.CancelFunc
	code        chan int
	stderr      *strings.Builder // to be read once code has spoken
	rest        chan string      // what came on standard output after the ready line
}

func start(t *testing.T, args ...string) *program {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	p := &program{stop: cancel, code: make(chan int, 1), stderr: &strings.Builder{}, rest: make(chan string, 1)}
	reader, writer := io.Pipe()
	go func() {
		p.code <- run(ctx, args, writer, p.stderr)
		_ = writer.Close() // a pipe's never fails
	}()
	lines := bufio.NewReader(reader)
	line, err := lines.ReadString('\n')
	if err != nil {
		t.Fatalf("no ready line: %v, exit %d: %s", err, <-p.code, p.stderr)
	}
	p.environment = parseReady(t, line)
	go func() {
		rest, _ := io.ReadAll(lines) // a pipe that ends is what is waited for
		p.rest <- string(rest)
	}()
	t.Cleanup(cancel)
	return p
}

func parseReady(t *testing.T, line string) map[string]string {
	t.Helper()
	exported, found := strings.CutPrefix(line, "ready: export ")
	if !found {
		t.Fatalf("the first line is %q", line)
	}
	environment := map[string]string{}
	for _, variable := range strings.Fields(exported) {
		name, value, _ := strings.Cut(variable, "=")
		environment[name] = value
	}
	return environment
}

// end stops the program and gives its exit code and what else it wrote.
func (p *program) end() (code int, stdout, stderr string) {
	p.stop()
	code = <-p.code
	return code, <-p.rest, p.stderr.String()
}

func call(t *testing.T, method, url, body string, header ...string) (int, string, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(text), err
}

const create = `{"image":"client","cpu":1,"memory_mb":1024,"disk_gb":10,"ttl_seconds":600,"ports":[8080],"labels":{},"priority":null}`

func (p *program) create(t *testing.T) (int, string, error) {
	t.Helper()
	return call(t, "POST", p.environment["GPU_VM_URL"]+"/v1/vms", create,
		"Authorization", "Bearer "+p.environment["GPU_VM_TOKEN"], "Content-Type", "application/json")
}

func TestBothServices(t *testing.T) {
	t.Parallel()
	p := start(t, "--seed", "3", "--fault", "POST /v1/vms status=503 retry-after=2", "--latency", "1ms", "--ports-at-once", "--foreign-label", "zone=x")
	if status, text, err := p.create(t); status != 503 || err != nil {
		t.Errorf("the ordered fault: %d %s %v", status, text, err)
	}
	status, text, err := p.create(t)
	if status != 201 || err != nil || !strings.Contains(text, `"8080":"`+p.environment["GPU_VM_URL"]) || !strings.Contains(text, `"zone":"x"`) {
		t.Errorf("create: %d %s %v", status, text, err)
	}
	domain := "http://" + p.environment["OPEN_SANDBOX_DOMAIN"]
	if status, text, err := call(t, "GET", domain+"/v1/sandboxes", "", "OPEN-SANDBOX-API-KEY", p.environment["OPEN_SANDBOX_API_KEY"]); status != 200 || err != nil {
		t.Errorf("sandboxes: %d %s %v", status, text, err)
	}
	if status, _, _ := call(t, "GET", domain+"/v1/sandboxes", ""); status != 401 {
		t.Errorf("without the key: %d", status)
	}
	sandbox := `{"image":{"uri":"busybox"},"entrypoint":["sleep","1d"],"resourceLimits":{"cpu":"1"}}`
	if status, text, err := call(t, "POST", domain+"/v1/sandboxes", sandbox, "OPEN-SANDBOX-API-KEY", p.environment["OPEN_SANDBOX_API_KEY"], "Content-Type", "application/json"); status != 202 || err != nil {
		t.Errorf("sandbox: %d %s %v", status, text, err)
	}
	for _, page := range []string{p.environment["GPU_VM_URL"], domain} { // each shows both
		status, text, err := call(t, "GET", page+"/", "")
		if status != 200 || err != nil || !strings.Contains(text, "client") || !strings.Contains(text, "busybox") {
			t.Errorf("page of %s: %d %s %v", page, status, text, err)
		}
		for _, secret := range []string{p.environment["GPU_VM_TOKEN"], p.environment["OPEN_SANDBOX_API_KEY"]} {
			if strings.Contains(text, secret) {
				t.Errorf("page of %s shows a secret", page)
			}
		}
	}
	code, stdout, stderr := p.end()
	if code != exitOK || stdout != "" || stderr != "" {
		t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
	if _, _, err := p.create(t); err == nil {
		t.Error("it should no longer answer")
	}
}

func TestOnly(t *testing.T) {
	t.Parallel()
	p := start(t, "-only", "gpuvm", "-token", "it's a token")
	if len(p.environment) < 2 || p.environment["OPEN_SANDBOX_DOMAIN"] != "" {
		t.Errorf("environment: %v", p.environment)
	}
	if code, _, _ := p.end(); code != exitOK {
		t.Errorf("exit %d", code)
	}
	p = start(t, "-only", "opensandbox", "-api-key", "key")
	if len(p.environment) != 2 || p.environment["OPEN_SANDBOX_API_KEY"] != "key" {
		t.Errorf("environment: %v", p.environment)
	}
	p.end()
}

func TestSeedRepeats(t *testing.T) {
	t.Parallel()
	var ids [2]string
	for i := range ids {
		p := start(t, "-only", "gpuvm", "-seed", "11")
		_, ids[i], _ = p.create(t)
		p.end()
	}
	if ids[0] == "" || ids[0] != ids[1] {
		t.Errorf("%v", ids)
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	taken, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, test := range []struct {
		args           []string
		code           int
		stdout, stderr string
	}{
		{[]string{"-help"}, exitOK, "ready: export GPU_VM_URL=", ""},
		{[]string{"-h"}, exitOK, "POST /v1/vms status=503 retry-after=2 times=3", ""},
		{[]string{"-version"}, exitOK, version, ""},
		{[]string{"-boom"}, exitUsage, "", "flag provided but not defined: -boom"},
		{[]string{"boom"}, exitUsage, "", `unexpected argument "boom"`},
		{[]string{"-only", "x"}, exitUsage, "", `-only is gpuvm or opensandbox, not "x"`},
		{[]string{"-fault", "POST boom"}, exitUsage, "", `unknown kind "boom"`},
		{[]string{"-vnc", "x"}, exitUsage, "", "it is one of absent, given, null"},
		{[]string{"-foreign-label", "x"}, exitUsage, "", "it needs the form key=value"},
		{[]string{"-boot-delay", "-1s"}, exitUsage, "", "-boot-delay can't be negative"},
		{[]string{"-gpuvm-address", "x"}, exitUsage, "", `-gpuvm-address "x" is no host:port`},
		{[]string{"-opensandbox-address", taken.Addr().String()}, exitFailed, "", "opensandbox: listen at " + taken.Addr().String()},
	} {
		var stdout, stderr strings.Builder
		code := run(t.Context(), test.args, &stdout, &stderr)
		if code != test.code || !strings.Contains(stdout.String(), test.stdout) || !strings.Contains(stderr.String(), test.stderr) {
			t.Errorf("%v: exit %d, stdout %q, stderr %q", test.args, code, &stdout, &stderr)
		}
	}
}

func TestQuote(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{"": "''", "http://127.0.0.1:1": "http://127.0.0.1:1", "a b": "'a b'", "it's $x": `'it'\''s $x'`} {
		if got := quote(value); got != want {
			t.Errorf("%q: %s, want %s", value, got, want)
		}
	}
}
