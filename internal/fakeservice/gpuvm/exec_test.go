package gpuvm_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/faults"
	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/gpuvm"
)

// TestExecIsBounded sees that the end of a long output is kept, and the last commands of many.
func TestExecIsBounded(t *testing.T) {
	t.Parallel()
	b := newBench(t, gpuvm.Options{})
	at := "/v1/vms/" + b.create(plain) + "/exec"
	got := b.do("POST", at, argv("sh", "-c", "yes | head -c 3000000; echo the end"))
	if out := got.field("stdout"); len(out) != 1<<20 || !strings.HasSuffix(out, "y\nthe end\n") {
		t.Errorf("%d bytes: %q", len(out), out[max(len(out)-20, 0):])
	}
	b.do("POST", at, argv("printf", `\xff\xfe`)).want(t, "bytes that aren't text", 200, "{\"exit_code\":0,\"stdout\":\"\uFFFD\",\"stderr\":\"\"}")
	for i := range 30 {
		b.do("POST", at, argv(fmt.Sprint("command-", i)))
	}
	screen := b.page("/_fake" + strings.TrimSuffix(strings.TrimPrefix(at, "/v1"), "exec") + "screen")
	screen.holds(t, "the screen", "$ command-10 ", "$ command-29 ")
	screen.lacks(t, "the screen", "$ command-9 ", "the end")
}

// TestExecEnds sees what becomes of a command whose machine is deleted, and of one whose client goes.
func TestExecEnds(t *testing.T) {
	t.Parallel()
	b := newBench(t, gpuvm.Options{})
	id := b.create(plain)
	answered := make(chan reply)
	go func() { answered <- b.do("POST", "/v1/vms/"+id+"/exec", argv("sleep", "60")) }()
	b.waitForSleepers(1)
	b.service.Delete(id)
	got := <-answered
	got.want(t, "a command whose machine is deleted", http.StatusNotFound, `{"error":"no such vm"}`)

	id = b.create(plain)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		b.waitForSleepers(2)
		cancel()
	}()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, b.url+"/v1/vms/"+id+"/exec", strings.NewReader(argv("sleep", "60")))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	if resp, err := http.DefaultClient.Do(r); !errors.Is(err, context.Canceled) {
		_ = resp.Body.Close() // the test has failed already
		t.Errorf("it should have been cut: %v", err)
	}
	for screen := ""; !strings.Contains(screen, "exit -1"); { // the command ends on the machine, too
		screen = b.page("/_fake/vms/" + id + "/screen").text
	}
}

// TestFaultsReachTheService is the one thing that a fake is for.
func TestFaultsReachTheService(t *testing.T) {
	t.Parallel()
	b := newBench(t, gpuvm.Options{IdempotencyKeys: true})
	b.service.Faults().Order(faults.Fault{Method: http.MethodPost, Path: "/v1/vms", Kind: faults.StatusAfter, Status: http.StatusGatewayTimeout})
	if got := b.do("POST", "/v1/vms", plain, "Idempotency-Key", "k"); got.status != http.StatusGatewayTimeout {
		t.Errorf("%d %s", got.status, got.text)
	}
	again := b.do("POST", "/v1/vms", plain, "Idempotency-Key", "k")
	if vms := b.service.VMs(); len(vms) != 1 || again.header.Get("Idempotency-Replayed") != "true" || again.field("id") != vms[0].ID {
		t.Errorf("%+v, again %d %s", vms, again.status, again.text)
	}
}
