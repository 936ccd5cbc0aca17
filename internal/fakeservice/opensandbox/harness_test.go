package opensandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/clock"
	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/faults"
)

// start is the time at which every test's clock begins.
var start = time.Date(2026, 6, 15, 12, 0, 0, 123456000, time.UTC)

// client talks to one fake as a user of the API would, and ends the test on any surprise of the network.
type client struct {
	t       *testing.T
	service *Service
	url     string
	clock   *clock.Fake
	key     string
}

// serve starts a fake on a clock that only the test moves, unless the options bring one.
func serve(t *testing.T, options Options) *client {
	t.Helper()
	c := &client{t: t, clock: clock.NewManual(start), key: options.APIKey}
	switch given := options.Clock.(type) {
	case nil:
		options.Clock = c.clock
	case *clock.Fake:
		c.clock = given
	}
	if options.Seed == 0 {
		options.Seed = 1
	}
	c.service = New(options)
	server := httptest.NewServer(c.service)
	c.url = server.URL
	t.Cleanup(func() {
		c.service.Close()
		server.Close()
	})
	return c
}

func (c *client) request(method, target string, body any, header ...string) *http.Request {
	c.t.Helper()
	var reader io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		reader = strings.NewReader(b)
	default:
		text, err := json.Marshal(b)
		if err != nil {
			c.t.Fatal(err)
		}
		reader = bytes.NewReader(text)
	}
	if !strings.Contains(target, "://") {
		target = c.url + target
	}
	request, err := http.NewRequestWithContext(c.t.Context(), method, target, reader)
	if err != nil {
		c.t.Fatal(err)
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if c.key != "" {
		request.Header.Set(apiKeyHeader, c.key)
	}
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	return request
}

// noRedirects shows a redirect instead of following it.
var noRedirects = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// try sends a request that may fail on the network.
func (c *client) try(request *http.Request) (answer, error) {
	response, err := noRedirects.Do(request)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	got := answer{c.t, response.StatusCode, response.Header, body}
	if err == nil {
		conform(c.t, request, got)
	}
	return got, err
}

func (c *client) do(method, target string, body any, header ...string) answer {
	c.t.Helper()
	got, err := c.try(c.request(method, target, body, header...))
	if err != nil {
		c.t.Fatalf("%s %s: %v", method, target, err)
	}
	return got
}

func (c *client) get(target string, header ...string) answer {
	c.t.Helper()
	return c.do(http.MethodGet, target, nil, header...)
}

// object is a JSON object.
type object = map[string]any

// plain is a create that any server takes, with more laid over it; a nil member is left out.
func plain(more object) object {
	request := object{
		"image":          object{"uri": "python:3.11"},
		"entrypoint":     []string{"tail", "-f", "/dev/null"},
		"resourceLimits": object{"cpu": "1", "memory": "2Gi"},
	}
	maps.Copy(request, more)
	maps.DeleteFunc(request, func(_ string, value any) bool { return value == nil })
	return request
}

// create makes a sandbox and gives its id.
func (c *client) create(more object) string {
	c.t.Helper()
	return c.do("POST", "/v1/sandboxes", plain(more)).want(http.StatusAccepted).text("id")
}

func (c *client) state(id string) string {
	c.t.Helper()
	return c.get("/v1/sandboxes/"+id).want(http.StatusOK).text("status", "state")
}

// endpoint gives the URL and headers of a port.
func (c *client) endpoint(id, port string) (url string, header []string) {
	c.t.Helper()
	got := c.get("/v1/sandboxes/" + id + "/endpoints/" + port).want(http.StatusOK)
	headers, _ := got.json()["headers"].(object)
	for name := range headers {
		header = append(header, name, got.text("headers", name))
	}
	return "http://" + got.text("endpoint"), header
}

// direct is the client for what lies inside a sandbox: it never has the API key.
func (c *client) direct() *client {
	other := *c
	other.key = ""
	return &other
}

// events runs a command and gives the frames of its stream.
func (c *client) events(url string, request object) []event {
	c.t.Helper()
	got := c.do("POST", url+"/command", request).want(http.StatusOK)
	if kind := got.header.Get("Content-Type"); kind != "text/event-stream" {
		c.t.Fatalf("content type %q", kind)
	}
	var events []event
	for frame := range strings.SplitSeq(strings.TrimSuffix(got.String(), "\n\n"), "\n\n") {
		var e event
		if err := json.Unmarshal([]byte(frame), &e); err != nil {
			c.t.Fatalf("frame %q: %v", frame, err)
		}
		events = append(events, e)
	}
	return events
}

// run runs a shell command and gives its output and exit code as a client reads them from the stream.
func (c *client) run(url, command string) (output, code string) {
	c.t.Helper()
	for _, e := range c.events(url, object{"command": command}) {
		switch e.Type {
		case "stdout", "stderr":
			output += e.Text + "\n"
		case "execution_complete":
			code = "0"
		case "error":
			code = e.Error.Value
		}
	}
	return output, code
}

// moment reads a time of an answer.
func moment(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// waitUntil waits for what another goroutine is about to do, by asking again and again; a test that waits for ever ends by go test.
func waitUntil(t *testing.T, done func() bool) {
	t.Helper()
	for !done() {
		if t.Context().Err() != nil {
			t.Fatal("it never came")
		}
		runtime.Gosched()
	}
}

// printed is a value in all the forms in which a test might print it.
func printed(value any) string {
	text, err := json.Marshal(value)
	return fmt.Sprintf("%v %+v %#v %s %v", value, value, value, text, err)
}

type faultsRecord = faults.Record

func withCancel(t *testing.T) (context.Context, context.CancelFunc) {
	return context.WithCancel(t.Context())
}
