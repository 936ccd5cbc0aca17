package gpuvm_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/clock"
	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice"
	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/faults"
	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/gpuvm"
)

const token = "the-token"

var start = time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)

// bench is a fake with a clock that the test moves.
type bench struct {
	t       *testing.T
	service *gpuvm.Service
	clock   *clock.Fake
	url     string
}

func newBench(t *testing.T, o gpuvm.Options) *bench {
	t.Helper()
	c := clock.NewManual(start)
	o.Token, o.Clock = token, c
	if o.Seed == 0 {
		o.Seed = 7
	}
	s := gpuvm.New(o)
	url, stop, err := fakeservice.Serve(s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	t.Cleanup(s.Close)
	return &bench{t, s, c, url}
}

type reply struct {
	status int
	header http.Header
	text   string
	fields map[string]any
}

// do sends one request with the token; header holds pairs.
func (b *bench) do(method, path, body string, header ...string) reply {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), method, b.url+path, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		b.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		b.t.Fatalf("%s %s: %v", method, path, err)
	}
	answer := reply{status: resp.StatusCode, header: resp.Header, text: string(data)}
	_ = json.Unmarshal(data, &answer.fields) // not every answer is JSON
	return answer
}

const plain = `{"image":"ubuntu","cpu":1.5,"memory_mb":8192,"disk_gb":10,"ttl_seconds":600,"ports":[8080,22],"labels":{"team":"a"},"priority":null}`

func (b *bench) create(body string, header ...string) string {
	b.t.Helper()
	a := b.do("POST", "/v1/vms", body, header...)
	if a.status != 201 {
		b.t.Fatalf("create: %d %s", a.status, a.text)
	}
	return a.fields["id"].(string)
}

func (a reply) want(t *testing.T, what string, status int, text string) {
	t.Helper()
	if a.status != status || a.text != text {
		t.Errorf("%s:\ngot  %d %s\nwant %d %s", what, a.status, a.text, status, text)
	}
}

func TestLife(t *testing.T) {
	t.Parallel()
	b := newBench(t, gpuvm.Options{BootDelay: 5 * time.Second})
	id := b.create(plain)
	booting := fmt.Sprintf(`{"id":%q,"status":"booting","image":"ubuntu","ports":{},"vnc_url":null,"labels":{"team":"a"}}`, id)
	b.do("GET", "/v1/vms/"+id, "").want(t, "while booting", 200, booting)
	b.do("POST", "/v1/vms/"+id+"/exec", `{"argv":["true"]}`).want(t, "exec while booting", 409, `{"error":"vm is booting, not running"}`)

	b.clock.Advance(5 * time.Second)
	at := b.url + "/_fake/vms/" + id
	running := fmt.Sprintf(`{"id":%q,"status":"running","image":"ubuntu","ports":{"22":"%s/ports/22/","8080":"%s/ports/8080/"},"vnc_url":"%s/display","labels":{"team":"a"}}`, id, at, at, at)
	got := b.do("GET", "/v1/vms/"+id, "")
	got.want(t, "running", 200, running)
	if date := got.header.Get("Date"); date != "Sun, 01 Mar 2026 12:00:05 GMT" {
		t.Errorf("Date is %q: it should follow the clock", date)
	}
	if got.header.Get("X-Request-Id") == "" {
		t.Error("no X-Request-ID")
	}

	put := b.do("PUT", "/v1/vms/"+id+"/files?path=/etc/env%20file", "DISPLAY=:0\n")
	put.want(t, "put", 204, "")
	script, _ := json.Marshal(map[string]any{"argv": []string{"sudo", "bash", "-c", "whoami; cat '/etc/env file'; echo no >&2; exit 3"}})
	b.do("POST", "/v1/vms/"+id+"/exec", string(script)).want(t, "exec", 200, `{"exit_code":3,"stdout":"root\nDISPLAY=:0\n","stderr":"no\n"}`)
	b.do("POST", "/v1/vms/"+id+"/exec", `{"argv":["whoami"]}`).want(t, "exec as user", 200, `{"exit_code":0,"stdout":"ubuntu\n","stderr":""}`)

	b.do("DELETE", "/v1/vms/"+id, "").want(t, "delete", 204, "")
	b.do("DELETE", "/v1/vms/"+id, "").want(t, "delete again", 404, `{"error":"no such vm"}`)
	b.do("GET", "/v1/vms/"+id, "").want(t, "get after delete", 404, `{"error":"no such vm"}`)
	if left := b.service.VMs(); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

func TestExpiry(t *testing.T) {
	t.Parallel()
	b := newBench(t, gpuvm.Options{})
	first, second := b.create(plain), b.create(strings.Replace(plain, "600", "1200", 1))
	b.clock.Advance(600*time.Second - 1)
	if got := b.do("GET", "/v1/vms/"+first, ""); got.status != 200 {
		t.Errorf("just before its time: %d", got.status)
	}
	b.clock.Advance(1)
	b.do("GET", "/v1/vms/"+first, "").want(t, "after its time", 404, `{"error":"no such vm"}`)
	if left := b.service.VMs(); len(left) != 1 || left[0].ID != second || !left[0].Expires.Equal(start.Add(1200*time.Second)) {
		t.Errorf("left: %+v", left)
	}
}

func TestStrictness(t *testing.T) {
	t.Parallel()
	b := newBench(t, gpuvm.Options{})
	with := func(old, replacement string) string { return strings.Replace(plain, old, replacement, 1) }
	for name, test := range map[string]struct{ body, text string }{
		"malformed":       {`{"image":`, "the body is not a JSON object: unexpected end of JSON input"},
		"list":            {`[]`, "the body is not a JSON object: json: cannot unmarshal array into Go value of type map[string]json.RawMessage"},
		"null":            {`null`, "the body is not a JSON object: it is null"},
		"two":             {plain + plain, "the body is not a JSON object: invalid character '{' after top-level value"},
		"unknown":         {with(`"cpu"`, `"gpu":1,"cpu"`), `unknown field "gpu"`},
		"case":            {with(`"image"`, `"Image"`), `unknown field "Image"`},
		"missing":         {with(`"ttl_seconds":600,`, ``), `missing field "ttl_seconds"`},
		"null image":      {with(`"ubuntu"`, `null`), "image must not be null"},
		"empty image":     {with(`"ubuntu"`, `""`), "image must not be empty"},
		"string cpu":      {with(`1.5`, `"1.5"`), "cpu has the wrong type: json: cannot unmarshal string into Go value of type float64"},
		"fraction":        {with(`8192`, `8192.5`), "memory_mb has the wrong type: json: cannot unmarshal number 8192.5 into Go value of type int64"},
		"zero cpu":        {with(`1.5`, `0`), "cpu must be greater than 0"},
		"negative ttl":    {with(`600`, `-1`), "ttl_seconds must be greater than 0"},
		"port 0":          {with(`8080`, `0`), "ports: 0 is not within 1 to 65535"},
		"port twice":      {with(`8080`, `22`), "ports: 22 stands there twice"},
		"port text":       {with(`8080`, `"8080"`), "ports has the wrong type: json: cannot unmarshal string into Go value of type int"},
		"port null":       {with(`8080`, `null`), "ports must not be null"},
		"label number":    {with(`"a"`, `1`), "labels has the wrong type: json: cannot unmarshal number into Go value of type string"},
		"label null":      {with(`"a"`, `null`), "labels must not be null"},
		"priority object": {with(`"priority":null`, `"priority":{}`), "priority has the wrong type: json: cannot unmarshal object into Go value of type int64"},
	} {
		got := b.do("POST", "/v1/vms", test.body)
		want, _ := json.Marshal(map[string]string{"error": test.text})
		got.want(t, name, 400, string(want))
	}
	id := b.create(with(`,"priority":null`, ``))
	b.do("GET", "/v1/vms/"+id, "") // running now
	for name, test := range map[string]struct {
		method, path, body string
		status             int
	}{
		"exec unknown field": {"POST", "/v1/vms/" + id + "/exec", `{"argv":["true"],"x":1}`, 400},
		"exec empty":         {"POST", "/v1/vms/" + id + "/exec", `{"argv":[]}`, 400},
		"exec string":        {"POST", "/v1/vms/" + id + "/exec", `{"argv":"true"}`, 400},
		"exec elsewhere":     {"POST", "/v1/vms/vm-0/exec", `{"argv":["true"]}`, 404},
		"file without path":  {"PUT", "/v1/vms/" + id + "/files", "x", 400},
		"file relative":      {"PUT", "/v1/vms/" + id + "/files?path=a", "x", 400},
		"file directory":     {"PUT", "/v1/vms/" + id + "/files?path=/etc", "x", 400},
		"file elsewhere":     {"PUT", "/v1/vms/vm-0/files?path=/a", "x", 404},
		"file too large":     {"PUT", "/v1/vms/" + id + "/files?path=/a", strings.Repeat("x", 32<<20+1), 413},
		"method":             {"PATCH", "/v1/vms/" + id, "", 405},
		"list":               {"GET", "/v1/vms", "", 405},
		"route":              {"GET", "/v1/other", "", 404},
		"slash":              {"GET", "/v1/vms/", "", 404},
		"id with a slash":    {"GET", "/v1/vms/a%2Fb", "", 404},
		"dots":               {"GET", "/v1/vms/%2e%2e", "", 404},
	} {
		if got := b.do(test.method, test.path, test.body); got.status != test.status || got.fields["error"] == nil {
			t.Errorf("%s: %d %s, want %d with an error", name, got.status, got.text, test.status)
		}
	}
	if got := b.do("POST", "/v1/vms", plain, "Content-Type", "text/plain"); got.status != 415 {
		t.Errorf("content type: %d", got.status)
	}
}

func TestAuthorization(t *testing.T) {
	t.Parallel()
	b := newBench(t, gpuvm.Options{})
	for _, header := range []string{"", "Bearer", "Bearer wrong", "Basic " + token, token, "Bearer " + token + "\t"} {
		got := b.do("GET", "/v1/vms/vm-1", "", "Authorization", header)
		if header == "Bearer "+token+"\t" { // trimmed by HTTP itself
			got.want(t, header, 404, `{"error":"no such vm"}`)
			continue
		}
		got.want(t, header, 401, `{"error":"the bearer token is missing or wrong"}`)
		if got.header.Get("WWW-Authenticate") != "Bearer" {
			t.Error("no WWW-Authenticate")
		}
	}
}

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
		if got := fields["status"].(string) + " " + text; got != want {
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

// waitForSleepers returns once so many waits have begun on the clock.
func (b *bench) waitForSleepers(n int) {
	for len(b.clock.Slept()) < n {
		if b.t.Context().Err() != nil {
			b.t.Fatal("no wait began")
		}
		runtime.Gosched()
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
	id := got.fields["id"].(string)
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
	if got := null.do("GET", "/v1/vms/"+null.create(plain), ""); !bytes.Contains([]byte(got.text), []byte(`"vnc_url":null`)) {
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
