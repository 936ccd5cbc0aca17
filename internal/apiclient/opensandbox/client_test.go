package opensandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/apiclient"
)

func TestBaseURL(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ domain, protocol, want, fault string }{
		{"localhost:8080", "http", "http://localhost:8080/v1", ""},
		{"sandbox.example.com", "https", "https://sandbox.example.com/v1", ""},
		{"https://sandbox.example.com/", "http", "https://sandbox.example.com/v1", ""},
		{"HTTP://sandbox.example.com", "https", "http://sandbox.example.com/v1", ""},
		{"gateway.example.com/team/sandboxes//", "https", "https://gateway.example.com/team/sandboxes/v1", ""},
		{"gateway.example.com/v1", "http", "http://gateway.example.com/v1", ""},
		{"  localhost:8080\n", "http", "http://localhost:8080/v1", ""},
		{"[::1]:8080", "http", "http://[::1]:8080/v1", ""},
		{"ftp://host", "http", "", "http or https"},
		{"https://", "http", "", "no host"},
		{"http://user:secret@host", "http", "", "no user"},
		{"host?x=1", "http", "", "no user, query"},
		{"ho st", "http", "", "no address"},
	} {
		got, err := BaseURL(test.domain, test.protocol)
		if got != test.want || (err != nil) != (test.fault != "") {
			t.Errorf("BaseURL(%q, %q) = %q, %v; want %q", test.domain, test.protocol, got, err, test.want)
		}
		if err != nil && (!strings.Contains(err.Error(), test.fault) || strings.Contains(err.Error(), "secret")) {
			t.Errorf("BaseURL(%q): error %q; want one with %q and without the password", test.domain, err, test.fault)
		}
	}
}

const sandboxJSON = `{"id":"sb-1","status":{"state":"Running"},"metadata":{"a":"b"},"createdAt":"2026-06-15T10:00:00.123456Z","entrypoint":[]}`

func TestCalls(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	red := "red"
	for name, test := range map[string]struct {
		answer string
		call   func(*Client) error
		want   string // method path?query body
	}{
		"create": {sandboxJSON, func(c *Client) error {
			ttl := int64(600)
			_, err := c.CreateSandbox(ctx, CreateRequest{Image: &Image{URI: "busybox"}, TimeoutSeconds: &ttl, Entrypoint: []string{"sh"}}, time.Minute)
			return err
		}, `POST /v1/sandboxes? {"image":{"uri":"busybox"},"timeout":600,"entrypoint":["sh"]}`},
		"get": {sandboxJSON, func(c *Client) error { _, err := c.Sandbox(ctx, "a/b c"); return err }, `GET /v1/sandboxes/a%2Fb%20c? `},
		"patch": {sandboxJSON, func(c *Client) error {
			_, err := c.PatchMetadata(ctx, "sb-1", map[string]*string{"gone": nil, "hue": &red})
			return err
		}, `PATCH /v1/sandboxes/sb-1/metadata? {"gone":null,"hue":"red"}`},
		"renew": {`{"expiresAt":"2026-06-15T11:00:00Z"}`, func(c *Client) error {
			got, err := c.Renew(ctx, "sb-1", time.Date(2026, 6, 15, 13, 0, 0, 0, time.FixedZone("", 7200)))
			if err == nil && !got.Equal(time.Date(2026, 6, 15, 11, 0, 0, 0, time.UTC)) {
				err = fmt.Errorf("renewed until %s", got)
			}
			return err
		}, `POST /v1/sandboxes/sb-1/renew-expiration? {"expiresAt":"2026-06-15T11:00:00Z"}`},
		"pause":  {``, func(c *Client) error { return c.Pause(ctx, "sb-1") }, `POST /v1/sandboxes/sb-1/pause? `},
		"resume": {``, func(c *Client) error { return c.Resume(ctx, "sb-1") }, `POST /v1/sandboxes/sb-1/resume? `},
		"delete": {``, func(c *Client) error { return c.DeleteSandbox(ctx, "sb-1") }, `DELETE /v1/sandboxes/sb-1? `},
		"snapshot": {`{"id":"sn-1","sandboxId":"sb-1","status":{"state":"Creating"},"createdAt":"2026-06-15T10:00:00Z"}`,
			func(c *Client) error { _, err := c.CreateSnapshot(ctx, "sb-1", "before"); return err },
			`POST /v1/sandboxes/sb-1/snapshots? {"name":"before"}`},
		"unnamed snapshot": {`{"id":"sn-1","sandboxId":"sb-1","status":{"state":"Creating"},"createdAt":"2026-06-15T10:00:00Z"}`,
			func(c *Client) error { _, err := c.CreateSnapshot(ctx, "sb-1", ""); return err },
			`POST /v1/sandboxes/sb-1/snapshots? {}`},
		"delete snapshot": {``, func(c *Client) error { return c.DeleteSnapshot(ctx, "sn-1") }, `DELETE /v1/snapshots/sn-1? `},
		"pool": {`{"name":"warm","capacitySpec":{"bufferMax":1}}`, func(c *Client) error {
			_, err := c.CreatePool(ctx, "warm", json.RawMessage(`{"spec":{}}`), Capacity{BufferMax: 1, PoolMax: 2})
			return err
		}, `POST /v1/pools? {"name":"warm","template":{"spec":{}},"capacitySpec":{"bufferMax":1,"bufferMin":0,"poolMax":2,"poolMin":0}}`},
		"resize pool": {`{"name":"warm"}`, func(c *Client) error { _, err := c.UpdatePool(ctx, "warm", Capacity{}); return err },
			`PUT /v1/pools/warm? {"capacitySpec":{"bufferMax":0,"bufferMin":0,"poolMax":0,"poolMin":0}}`},
		"signed endpoint": {`{"endpoint":"gw.example.com/x"}`, func(c *Client) error {
			_, err := c.Endpoint(ctx, "sb-1", 8080, Route{Expires: time.Unix(1750000000, 5)})
			return err
		}, `GET /v1/sandboxes/sb-1/endpoints/8080?expires=1750000000 `},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, server := serve(t, answer(http.StatusOK, jsonType, test.answer))
			if err := test.call(client); err != nil {
				t.Fatal(err)
			}
			r := server.last(t)
			if got := fmt.Sprintf("%s %s?%s %s", r.Method, r.Path, r.Query, r.Body); got != test.want {
				t.Errorf("asked\n%s\nwant\n%s", got, test.want)
			}
			if key := r.Header.Get(KeyHeader); key != testKey {
				t.Errorf("key %q", key)
			}
		})
	}
}

func TestCreateIsSentOnce(t *testing.T) {
	t.Parallel()
	for _, status := range []int{429, 500, 502, 503, 504} {
		client, server := serve(t, answer(status, jsonType, `{}`))
		_, err := client.WithRetry(5, 0, 0).CreateSandbox(context.Background(), CreateRequest{}, time.Minute)
		if err == nil || server.count() != 1 {
			t.Errorf("%d: sent %d times, error %v", status, server.count(), err)
		}
	}
}

func TestAnswersOfAnotherShapeAreErrors(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for name, test := range map[string]struct {
		answer string
		call   func(*Client) error
	}{
		"no id":       {`{"status":{"state":"Running"}}`, func(c *Client) error { _, err := c.Sandbox(ctx, "x"); return err }},
		"odd id":      {`{"id":"..","status":{"state":"Running"}}`, func(c *Client) error { _, err := c.Sandbox(ctx, "x"); return err }},
		"no state":    {`{"id":"sb-1"}`, func(c *Client) error { _, err := c.CreateSandbox(ctx, CreateRequest{}, 0); return err }},
		"null":        {`null`, func(c *Client) error { _, err := c.CreateSandbox(ctx, CreateRequest{}, 0); return err }},
		"no items":    {`{}`, func(c *Client) error { _, err := collect(c.Sandboxes(ctx, SandboxFilter{})); return err }},
		"null items":  {`{"items":null}`, func(c *Client) error { _, err := collect(c.Snapshots(ctx, SnapshotFilter{})); return err }},
		"no endpoint": {`{}`, func(c *Client) error { _, err := c.Endpoint(ctx, "x", 1, Route{}); return err }},
		"odd scheme":  {`{"endpoint":"file:///etc/passwd"}`, func(c *Client) error { _, err := c.Endpoint(ctx, "x", 1, Route{}); return err }},
		"no expiry":   {`{}`, func(c *Client) error { _, err := c.Renew(ctx, "x", time.Now()); return err }},
		"no pool":     {`{}`, func(c *Client) error { _, err := c.Pool(ctx, "x"); return err }},
		"no snapshot": {`{"id":""}`, func(c *Client) error { _, err := c.Snapshot(ctx, "x"); return err }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, _ := serve(t, answer(http.StatusOK, jsonType, test.answer))
			err := test.call(client)
			var malformed *MalformedError
			if !errors.As(err, &malformed) {
				t.Errorf("error %v; want a *MalformedError", err)
			}
		})
	}
}

func TestListAllPages(t *testing.T) {
	t.Parallel()
	pages := []string{
		`{"items":[{"id":"a"},{"id":"b"}],"pagination":{"hasNextPage":true}}`,
		`{"items":[{"id":"b"},{"id":"c"}],"pagination":{"hasNextPage":true}}`, // b has moved down a page meanwhile
		`{"items":[{"id":"c"}],"pagination":{"hasNextPage":true}}`,            // a server that never says it is done
	}
	client, server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		var page int
		_, _ = fmt.Sscan(r.URL.Query().Get("page"), &page)
		answer(http.StatusOK, jsonType, pages[page-1])(w, r)
	})
	found, err := collect(client.Sandboxes(context.Background(), SandboxFilter{
		States:   []string{"Running", "Paused"},
		Metadata: map[string]string{"k": "a b&c=d"},
	}))
	if err != nil || fmt.Sprint(found) != "[a b c]" {
		t.Errorf("found %v, %v", found, err)
	}
	query, _ := url.ParseQuery(server.last(t).Query)
	if fmt.Sprint(query["state"]) != "[Running Paused]" || query.Get("pageSize") != "200" {
		t.Errorf("asked %v", query)
	}
	// The server decodes the parameter once with the query, and once more on its own.
	if inner, err := url.ParseQuery(query.Get("metadata")); err != nil || inner.Get("k") != "a b&c=d" {
		t.Errorf("metadata filter %q", query.Get("metadata"))
	}
}

func TestListStopsWhenAskedTo(t *testing.T) {
	t.Parallel()
	client, server := serve(t, answer(http.StatusOK, jsonType, `{"items":[{"id":"a"},{"id":"b"}],"pagination":{"hasNextPage":true}}`))
	for range client.Sandboxes(context.Background(), SandboxFilter{}) {
		break
	}
	if server.count() != 1 {
		t.Errorf("%d pages were asked for", server.count())
	}
}

func collect[T any](items func(func(T, error) bool)) (ids []string, err error) {
	for item, err := range items {
		if err != nil {
			return ids, err
		}
		switch item := any(item).(type) {
		case Sandbox:
			ids = append(ids, item.ID)
		case Snapshot:
			ids = append(ids, item.ID)
		}
	}
	return ids, nil
}

func TestTimes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`"2026-06-15T10:00:00.123456Z"`: "2026-06-15T10:00:00.123456Z",
		`"2026-06-15T12:00:00+02:00"`:   "2026-06-15T10:00:00Z",
		`"2026-06-15T10:00:00.5"`:       "2026-06-15T10:00:00.5Z",
		`null`:                          "0001-01-01T00:00:00Z",
		`""`:                            "0001-01-01T00:00:00Z",
		`"yesterday"`:                   "error",
		`17`:                            "error",
	} {
		var got Time
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			if want != "error" {
				t.Errorf("%s: %v", text, err)
			}
			continue
		}
		if got.Format(time.RFC3339Nano) != want {
			t.Errorf("%s: %s, want %s", text, got.Format(time.RFC3339Nano), want)
		}
	}
}

func TestEndpoints(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ told, want string }{
		{"10.0.0.7:49153/proxy/8080", "http://10.0.0.7:49153/proxy/8080"},
		{"https://sb-1-8080.example.com", "https://sb-1-8080.example.com"},
		{"localhost:8080/sandboxes/sb-1/proxy/8080", "http://localhost:8080/sandboxes/sb-1/proxy/8080"},
	} {
		client, server := serve(t, answer(http.StatusOK, jsonType, `{"endpoint":"`+test.told+`","headers":{"X-Token":"geheim"}}`))
		got, err := client.Endpoint(context.Background(), "sb-1", 8080, Route{ServerProxy: true})
		if err != nil || got.URL != test.want || got.Headers["X-Token"] != "geheim" {
			t.Errorf("%s: %+v, %v", test.told, got, err)
		}
		if server.last(t).Query != "use_server_proxy=true" {
			t.Errorf("asked with %q", server.last(t).Query)
		}
		if text := fmt.Sprintf("%v %s", got, got); strings.Contains(text, "geheim") {
			t.Errorf("it prints as %s", text)
		}
	}
}

func TestDiagnostics(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	client, server := serve(t, answer(http.StatusOK, "text/plain", "line 1\nline 2\n"))
	if got, err := client.Logs(ctx, "sb-1", 50); err != nil || got != "line 1\nline 2\n" || server.last(t).Query != "tail=50" {
		t.Errorf("%q, %v, asked with %q", got, err, server.last(t).Query)
	}
	client, _ = serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("scope") != "runtime" {
			answer(http.StatusBadRequest, jsonType, `{"code":"X","message":"scope is required"}`)(w, r)
			return
		}
		answer(http.StatusOK, jsonType, `{"kind":"events","content":"Pulled"}`)(w, r)
	})
	if got, err := client.Events(ctx, "sb-1", 20); err != nil || got != "Pulled" {
		t.Errorf("%q, %v", got, err)
	}
	client, _ = serve(t, answer(http.StatusNotImplemented, jsonType, `{"code":"DIAGNOSTICS_NOT_IMPLEMENTED","message":"no"}`))
	var failed *apiclient.Error
	if _, err := client.Logs(ctx, "sb-1", 50); !errors.As(err, &failed) || failed.Status != http.StatusNotImplemented {
		t.Errorf("error %v", err)
	}
}
