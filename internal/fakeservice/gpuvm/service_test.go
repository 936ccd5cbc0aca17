package gpuvm_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/gpuvm"
)

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
	b.do("POST", "/v1/vms/"+id+"/exec", argv("sudo", "bash", "-c", "whoami; cat '/etc/env file'; echo no >&2; exit 3")).want(t, "exec", 200, `{"exit_code":3,"stdout":"root\nDISPLAY=:0\n","stderr":"no\n"}`)
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
		if got.status != 400 || got.field("error") != test.text {
			t.Errorf("%s:\ngot  %d %s\nwant 400 %s", name, got.status, got.text, test.text)
		}
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
