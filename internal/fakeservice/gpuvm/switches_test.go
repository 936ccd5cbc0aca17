package gpuvm_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/faults"
	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/gpuvm"
)

func TestBootFailures(t *testing.T) {
	t.Parallel()
	b := newBench(t, gpuvm.Options{FailBoot: func(spec gpuvm.Spec) string {
		if spec.CPU > 100 {
			return "no host is that large"
		}
		return ""
	}})
	b.service.FailNextBoots(1, "bad disk")
	ordered := b.create(plain)
	byImage := b.create(strings.Replace(plain, "ubuntu", "x-fail-boot", 1))
	byOption := b.create(strings.Replace(plain, "1.5", "101", 1))
	hanging := b.create(strings.Replace(plain, "ubuntu", "hang-boot", 1))
	b.clock.Advance(time.Minute)
	for id, want := range map[string]string{
		ordered: "failed bad disk", byImage: `failed boot failed: the image "x-fail-boot" does not boot`,
		byOption: "failed no host is that large", hanging: "booting ",
	} {
		fields := b.do("GET", "/v1/vms/"+id, "").fields
		text, _ := fields["error"].(string)
		if got := fmt.Sprint(fields["status"], " ", text); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	later := b.create(plain)
	if !b.service.Fail(later, "burnt") || b.service.Fail("vm-0", "") {
		t.Error("Fail should tell whether there is such a machine")
	}
	if vm, _ := b.service.VM(later); vm.Status != gpuvm.Failed || vm.Error != "burnt" {
		t.Errorf("after Fail: %+v", vm)
	}
}

func TestIdempotencyKeys(t *testing.T) {
	t.Parallel()
	b := newBench(t, gpuvm.Options{IdempotencyKeys: true})
	send := func(body, key string) (string, string) {
		got := b.do("POST", "/v1/vms", body, "Idempotency-Key", key)
		return fmt.Sprint(got.status, got.fields["id"]), got.header.Get("Idempotency-Replayed")
	}
	first, replayed := send(plain, "k1")
	again, replayedAgain := send(plain, "k1")
	if replayed != "false" || replayedAgain != "true" || first != again {
		t.Errorf("first %s %s, again %s %s", first, replayed, again, replayedAgain)
	}
	if other, replayed := send(plain, "k2"); other == first || replayed != "false" {
		t.Errorf("another key: %s %s", other, replayed)
	}
	if status, replayed := send(strings.Replace(plain, "ubuntu", "debian", 1), "k1"); !strings.HasPrefix(status, "422") || replayed != "false" {
		t.Errorf("another body: %s %s", status, replayed)
	}
	if status, replayed := send("{}", "k3"); !strings.HasPrefix(status, "400") || replayed != "false" {
		t.Errorf("a bad request: %s %s", status, replayed)
	}
	if vms := b.service.VMs(); len(vms) != 2 || vms[0].IdempotencyKey != "k1" {
		t.Errorf("machines: %+v", vms)
	}

	ignoring := newBench(t, gpuvm.Options{})
	one, two := ignoring.create(plain, "Idempotency-Key", "k"), ignoring.create(plain, "Idempotency-Key", "k")
	if one == two {
		t.Error("a service that doesn't know keys should make two machines")
	}
}

func TestLongPoll(t *testing.T) {
	t.Parallel()
	b := newBench(t, gpuvm.Options{LongPoll: true, BootDelay: 20 * time.Second})
	status := func(id, prefer string) chan string {
		arrived, answered := make(chan struct{}), make(chan string, 1)
		remove := b.service.Faults().OnRequest(func(faults.Record) { close(arrived) })
		go func() {
			got := b.do("GET", "/v1/vms/"+id, "", "Prefer", prefer)
			answered <- fmt.Sprint(got.fields["status"], " ", got.header.Get("Preference-Applied"))
		}()
		<-arrived
		remove()
		return answered
	}
	id := b.create(plain)
	waiting := status(id, "respond-async, WAIT=10; x=y")
	b.waitForSleepers(1)
	b.clock.Advance(10 * time.Second)
	if got := <-waiting; got != "booting wait" {
		t.Errorf("after the wait: %s", got)
	}
	waiting = status(id, `wait="60"`)
	b.waitForSleepers(2)
	b.clock.Advance(10 * time.Second)
	if got := <-waiting; got != "running wait" {
		t.Errorf("after the boot: %s", got)
	}
	second := b.create(plain)
	waiting = status(second, "wait=60")
	b.waitForSleepers(3)
	b.service.Fail(second, "burnt") // no time passes: the change itself must end the wait
	if got := <-waiting; got != "failed wait" {
		t.Errorf("after a failure: %s", got)
	}
	third := b.create(plain)
	waiting = status(third, "wait=60")
	b.waitForSleepers(4)
	b.service.Delete(third)
	if got := <-waiting; got != "<nil> wait" {
		t.Errorf("after a deletion: %s", got)
	}
	deaf := newBench(t, gpuvm.Options{BootDelay: time.Second})
	if got := deaf.do("GET", "/v1/vms/"+deaf.create(plain), "", "Prefer", "wait=60"); got.header.Get("Preference-Applied") != "" {
		t.Error("a service without the switch should not say that it waited")
	}
}

func TestSwitches(t *testing.T) {
	t.Parallel()
	b := newBench(t, gpuvm.Options{
		BootDelay: time.Second, PortsAtOnce: true, VNC: gpuvm.VNCAbsent, URL: "https://vm.example/", Prefix: "/team/gpu/", Seed: 9,
		ForeignLabels: map[string]string{"zone": "x"}, RewriteLabel: func(_, v string) string { return strings.ToUpper(v) },
		RewriteImage: func(image string) string { return "registry/" + image },
		AppearDelay:  time.Second, DeleteDelay: 3 * time.Second, MaxVMs: 1, EchoSecrets: true,
	})
	got := b.do("POST", "/team/gpu/v1/vms", plain)
	id := got.field("id")
	got.want(t, "create", 201, fmt.Sprintf(`{"id":%q,"status":"booting","image":"registry/ubuntu","ports":{"22":"https://vm.example/_fake/vms/%s/ports/22/","8080":"https://vm.example/_fake/vms/%s/ports/8080/"},"labels":{"team":"A","zone":"x"}}`, id, id, id))
	if got := b.do("GET", "/v1/vms/"+id, ""); got.status != 404 || !strings.Contains(got.text, "no such route") {
		t.Errorf("without the prefix: %d %s", got.status, got.text)
	}
	if got := b.do("POST", "/team/gpu/v1/vms", plain); got.status != 503 || !strings.Contains(got.text, "Bearer "+token) {
		t.Errorf("one too many: %d %s", got.status, got.text)
	}
	at := "/team/gpu/v1/vms/" + id
	if got := b.do("GET", at, ""); got.status != 404 {
		t.Errorf("before it appears: %d", got.status)
	}
	b.clock.Advance(time.Second)
	if got := b.do("GET", at, ""); got.status != 200 {
		t.Errorf("once it appears: %d", got.status)
	}
	b.service.SetLabels(id, nil)
	b.service.ClosePort(id, 22)
	if got := b.do("GET", at, ""); strings.Contains(got.text, "ports/22/") || !strings.Contains(got.text, `"labels":{"zone":"x"}`) {
		t.Errorf("after outside changes: %s", got.text)
	}
	for range 2 {
		b.do("DELETE", at, "").want(t, "delete", 204, "")
	}
	if got := b.do("GET", at, ""); got.status != 200 || len(b.service.VMs()) != 0 {
		t.Errorf("while it goes: %d, living %d", got.status, len(b.service.VMs()))
	}
	b.clock.Advance(3 * time.Second)
	if got := b.do("GET", at, ""); got.status != 404 {
		t.Errorf("once it has gone: %d", got.status)
	}
	null := newBench(t, gpuvm.Options{VNC: gpuvm.VNCNull})
	if got := null.do("GET", "/v1/vms/"+null.create(plain), ""); !strings.Contains(got.text, `"vnc_url":null`) {
		t.Errorf("null: %s", got.text)
	}
}

func TestSeed(t *testing.T) {
	t.Parallel()
	ids := func(seed int64) string {
		s := newBench(t, gpuvm.Options{Seed: seed})
		return s.create(plain) + s.create(plain)
	}
	if a, b, c := ids(3), ids(3), ids(4); a != b || a == c {
		t.Errorf("seed 3: %s %s, seed 4: %s", a, b, c)
	}
}
