package gpuvm_test

import (
	"encoding/json"
	"io"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/clock"
	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice"
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
	return a.field("id")
}

// field gives a field that is text, "" when there is none.
func (a reply) field(name string) string {
	text, _ := a.fields[name].(string)
	return text
}

// argv is the body of an exec.
func argv(words ...string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = strconv.Quote(word)
	}
	return `{"argv":[` + strings.Join(quoted, ",") + `]}`
}

func (a reply) want(t *testing.T, what string, status int, text string) {
	t.Helper()
	if a.status != status || a.text != text {
		t.Errorf("%s:\ngot  %d %s\nwant %d %s", what, a.status, a.text, status, text)
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
