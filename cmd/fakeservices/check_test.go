package main

import (
	"context"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/gpuvm"
)

// checking runs the check of a service.
func checking(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs strings.Builder
	code = run(t.Context(), append([]string{"check"}, args...), &out, &errs)
	return code, out.String(), errs.String()
}

func TestCheckOfTheFake(t *testing.T) {
	t.Parallel()
	p := start(t, "-only", "gpuvm")
	at, token := p.environment["GPU_VM_URL"], p.environment["GPU_VM_TOKEN"]
	code, stdout, stderr := checking(t, "--base-url", at, "--token", token, "--long-command", "1s", "--failing-image", "fail-boot")
	if code != exitOK || stderr != "" || !strings.Contains(stdout, ", 0 FAIL, 0 not offered, 2 not checked: the service keeps the contract") {
		t.Errorf("exit %d, stderr %q\n%s", code, stderr, stdout)
	}
	if strings.Contains(stdout, token) {
		t.Error("the token is shown")
	}
	if _, vms, err := call(t, "GET", at+"/_fake/vms", ""); err != nil || strings.TrimSpace(vms) != "[]" {
		t.Errorf("left: %s %v", vms, err)
	}
	if _, _, err := call(t, "POST", at+"/_fake/faults", "DELETE status=500"); err != nil {
		t.Fatal(err)
	}
	code, stdout, _ = checking(t, "--base-url", at, "--token", token, "--long-command", "0")
	if code != exitFailed || strings.Count(stdout, "FAIL   ") != 1 || !strings.Contains(stdout, "contract  ") {
		t.Errorf("with a fault: exit %d\n%s", code, stdout)
	}
}

func TestCheckIsInterrupted(t *testing.T) {
	t.Parallel()
	p := start(t, "-only", "gpuvm", "-boot-delay", "1h")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out := &watching{at: "boot", seen: cancel} // the line before the boot: "a machine that boots can be deleted"
	var errs strings.Builder
	at := p.environment["GPU_VM_URL"]
	code := run(ctx, []string{"check", "-base-url", at, "-token", p.environment["GPU_VM_TOKEN"]}, out, &errs)
	if code != exitFailed || !strings.Contains(errs.String(), "interrupted; deleting") || !strings.Contains(out.String(), "the check was interrupted") {
		t.Errorf("exit %d, stderr %q\n%s", code, &errs, out.String())
	}
	if _, vms, err := call(t, "GET", at+"/_fake/vms", ""); err != nil || strings.TrimSpace(vms) != "[]" {
		t.Errorf("left: %s %v", vms, err)
	}
}

// watching is an output whose reader does something at some word.
type watching struct {
	strings.Builder
	at   string
	seen func()
}

func (w *watching) Write(data []byte) (int, error) {
	if strings.Contains(string(data), w.at) {
		w.seen()
	}
	return w.Builder.Write(data)
}

func TestCheckOverTLS(t *testing.T) {
	t.Parallel()
	service := gpuvm.New(gpuvm.Options{Token: "token-of-the-test"})
	server := httptest.NewUnstartedServer(service)
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // it is to be refused
	server.StartTLS()
	t.Cleanup(func() { service.Close(); server.Close() })
	file := filepath.Join(t.TempDir(), "ca.pem")
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(file, certificate, 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"-base-url", server.URL + "/", "-token", "token-of-the-test", "-long-command", "0"}
	if code, stdout, stderr := checking(t, append(args, "-ca-certificate", file)...); code != exitOK {
		t.Errorf("exit %d, %s\n%s", code, stderr, stdout)
	}
	if code, _, stderr := checking(t, args...); code != exitFailed || !strings.Contains(stderr, "certificate") {
		t.Errorf("unknown authority: exit %d, %s", code, stderr)
	}
}

func TestCheckUsage(t *testing.T) {
	t.Setenv("GPU_VM_URL", "")
	t.Setenv("GPU_VM_TOKEN", "token-of-the-environment")
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	for _, test := range []struct {
		args           []string
		code           int
		stdout, stderr string
	}{
		{[]string{"-help"}, exitOK, "fakeservices check -base-url https://vms.example.com", ""},
		{nil, exitUsage, "", "-base-url is missing (or GPU_VM_URL)"},
		{[]string{"-base-url", ""}, exitUsage, "", "-base-url is missing (or GPU_VM_URL)"},
		{[]string{"-boom"}, exitUsage, "", "flag provided but not defined: -boom"},
		{[]string{"-base-url", server.URL, "boom"}, exitUsage, "", `unexpected argument "boom"`},
		{[]string{"-base-url", server.URL, "-expiry", "-1s"}, exitUsage, "", "-expiry can't be negative"},
		{[]string{"-base-url", server.URL, "-ca-certificate", empty}, exitUsage, "", "holds no PEM certificate"},
		{[]string{"-base-url", server.URL, "-ca-certificate", empty + "x"}, exitUsage, "", "no such file"},
		{[]string{"-base-url", "vms.example.com"}, exitFailed, "", "is no http or https URL"},
		{[]string{"-base-url", server.URL}, exitFailed, "FAIL         a token is asked for: GET without a token got no 401", ""},
	} {
		code, stdout, stderr := checking(t, test.args...)
		if code != test.code || !strings.Contains(stdout, test.stdout) || !strings.Contains(stderr, test.stderr) {
			t.Errorf("%v: exit %d, stdout %q, stderr %q", test.args, code, stdout, stderr)
		}
		if strings.Contains(stdout+stderr, "token-of-the-environment") {
			t.Errorf("%v: the token is shown", test.args)
		}
	}
}
