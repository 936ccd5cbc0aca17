// Package gpuvm speaks the VM service's HTTP API: one method a request. The contract stands in the provider's guide
// "VM service"; its source is the seed page on sandbox provider plugins.
package gpuvm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/apiclient"
)

// Client calls one VM service.
type Client struct{ http *apiclient.Client }

// New gives a client over a transport that carries the service's base URL and bearer token.
func New(http *apiclient.Client) *Client { return &Client{http: http} }

// Redact takes the secrets that the transport knows out of text.
func (c *Client) Redact(text string) string { return c.http.Redact(text) }

// Statuses of a VM, as the contract has them. Any other is taken as not final.
const (
	StatusBooting = "booting"
	StatusRunning = "running"
	StatusFailed  = "failed"
)

// VM is the service's answer about one machine.
type VM struct {
	ID     string            `json:"id"`
	Status string            `json:"status"`
	Image  string            `json:"image"`
	Ports  map[string]string `json:"ports"`
	VNCURL string            `json:"vnc_url"` // "" where the answer has none or null
	Labels map[string]string `json:"labels"`
	Error  string            `json:"error"`

	Answered time.Time `json:"-"` // the service's clock: the answer's Date header (RFC 9110, section 6.6.1), zero where absent
}

// CreateRequest is the body of POST /v1/vms.
type CreateRequest struct {
	Image      string            `json:"image"`
	CPU        float64           `json:"cpu"`
	MemoryMB   int64             `json:"memory_mb"`
	DiskGB     float64           `json:"disk_gb"`
	TTLSeconds int64             `json:"ttl_seconds"`
	Ports      []int64           `json:"ports"`
	Labels     map[string]string `json:"labels"`
	Priority   *int64            `json:"priority"`
}

// Replay is what a service says of the Idempotency-Key that a POST carried.
type Replay int

// What a service says: nothing, that the key was new, or that this is the first answer once more.
const (
	ReplayUnknown  Replay = iota // no header: the service doesn't know keys
	ReplayFirst                  // Idempotency-Replayed: false, the key was new
	ReplayRepeated               // Idempotency-Replayed: true, the first answer once more
)

// MalformedError is an answer that isn't the shape the contract gives it. VM holds what could be read of it, above all
// the id of a machine that may now exist.
type MalformedError struct {
	Asked  string // "GET /v1/vms/vm-1"
	VM     VM
	Reason string
}

func (e *MalformedError) Error() string {
	return e.Asked + ": the VM service's answer isn't what its contract says: " + e.Reason
}

// Is says that it counts as an answer of another form.
func (e *MalformedError) Is(target error) bool { return target == apiclient.ErrGarbled }

// Create asks for a VM under the idempotency key. It is sent once where the service may have acted on it: what an open
// outcome means is the caller's to find out. A *MalformedError may carry the id of a machine that was made.
func (c *Client) Create(ctx context.Context, key string, body CreateRequest) (VM, Replay, error) {
	request := apiclient.Request{
		Method: http.MethodPost,
		Path:   []string{"v1", "vms"},
		Header: http.Header{"Idempotency-Key": {key}},
		JSON:   body,
	}
	answer, err := c.http.Do(ctx, request, nil)
	if err != nil {
		return VM{}, ReplayUnknown, err
	}
	vm, err := decode(request, answer)
	return vm, replayOf(answer.Header), err
}

func replayOf(h http.Header) Replay {
	switch strings.ToLower(h.Get("Idempotency-Replayed")) {
	case "true":
		return ReplayRepeated
	case "false":
		return ReplayFirst
	}
	return ReplayUnknown
}

// Get reads a VM.
func (c *Client) Get(ctx context.Context, id string) (VM, error) {
	vm, _, err := c.get(ctx, apiclient.Request{Method: http.MethodGet, Path: vmPath(id)})
	return vm, err
}

// GetWait reads a VM and lets a service that can (RFC 7240, section 4.3) hold the answer up to wait, until the status
// changes. It reports whether the service did.
func (c *Client) GetWait(ctx context.Context, id string, wait, timeout time.Duration) (VM, bool, error) {
	request := apiclient.Request{Method: http.MethodGet, Path: vmPath(id), Timeout: timeout}
	if wait >= time.Second {
		request.Header = http.Header{"Prefer": {"wait=" + strconv.Itoa(int(wait.Seconds()))}}
	}
	return c.get(ctx, request)
}

func (c *Client) get(ctx context.Context, r apiclient.Request) (VM, bool, error) {
	var raw json.RawMessage // an answer that isn't JSON at all is worth another attempt
	answer, err := c.http.Do(ctx, r, &raw)
	if err != nil {
		return VM{}, false, err
	}
	vm, err := decode(r, answer)
	return vm, held(answer.Header), err
}

// held says whether the service has applied the preference "wait"; it may say so with the value, and beside others (RFC 7240,
// section 3).
func held(h http.Header) bool {
	for _, applied := range strings.Split(strings.Join(h.Values("Preference-Applied"), ","), ",") {
		name, _, _ := strings.Cut(applied, "=")
		if strings.EqualFold(strings.TrimSpace(name), "wait") {
			return true
		}
	}
	return false
}

// ExecResult is how a command ended.
type ExecResult struct {
	ExitCode int    `json:"exit_code"`
	Stdout   string `json:"stdout"`
	Stderr   string `json:"stderr"`
}

// maxExecAnswer bounds what one command may print: 64 MiB of JSON.
const maxExecAnswer = 64 << 20

// Exec runs a command in the VM and waits for its end, however long: only ctx bounds it.
func (c *Client) Exec(ctx context.Context, id string, argv []string) (ExecResult, error) {
	var raw struct {
		ExitCode *int   `json:"exit_code"`
		Stdout   string `json:"stdout"`
		Stderr   string `json:"stderr"`
	}
	request := apiclient.Request{
		Method:    http.MethodPost,
		Path:      append(vmPath(id), "exec"),
		JSON:      map[string][]string{"argv": argv},
		Timeout:   apiclient.NoTimeout,
		MaxAnswer: maxExecAnswer,
	}
	_, err := c.http.Do(ctx, request, &raw)
	if err != nil {
		return ExecResult{}, err
	}
	if raw.ExitCode == nil {
		return ExecResult{}, &MalformedError{Asked: asked(request), Reason: "it has no exit_code, so whether the command succeeded is unknown"}
	}
	return ExecResult{ExitCode: *raw.ExitCode, Stdout: raw.Stdout, Stderr: raw.Stderr}, nil
}

// WriteFile puts data at path in the VM, over what stands there.
func (c *Client) WriteFile(ctx context.Context, id, path string, data []byte) error {
	_, err := c.http.Do(ctx, apiclient.Request{
		Method:      http.MethodPut,
		Path:        append(vmPath(id), "files"),
		Query:       url.Values{"path": {path}},
		Body:        data,
		ContentType: "application/octet-stream",
	}, nil)
	return err
}

// Delete asks for the VM's end. A VM that is gone already answers 404, which is an error here.
func (c *Client) Delete(ctx context.Context, id string) error {
	_, err := c.http.Do(ctx, apiclient.Request{Method: http.MethodDelete, Path: vmPath(id)}, nil)
	return err
}

func vmPath(id string) []string { return []string{"v1", "vms", id} }

// asked is a request as its user knows it.
func asked(r apiclient.Request) string { return r.Method + " /" + strings.Join(r.Path, "/") }

// decode reads a VM. An answer of another shape is a *MalformedError with the id wherever one can be made out.
func decode(r apiclient.Request, answer *apiclient.Answer) (VM, error) {
	var vm VM
	malformed := func(reason string) (VM, error) {
		return vm, &MalformedError{Asked: asked(r), VM: vm, Reason: reason}
	}
	if err := json.Unmarshal(answer.Body, &vm); err != nil {
		// encoding/json fills what fits before and after a field that doesn't: an id beside a wrong status is kept.
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) && wrong.Field != "" {
			return malformed(fmt.Sprintf("%s is a %s", wrong.Field, wrong.Value))
		}
		return malformed("it isn't a JSON object of a VM")
	}
	if date, err := http.ParseTime(answer.Header.Get("Date")); err == nil {
		vm.Answered = date
	}
	switch {
	case vm.ID == "." || vm.ID == "..": // such a path can't be asked for
		id := vm.ID
		vm = VM{}
		return malformed(fmt.Sprintf("its id %q can't stand in a URL", id))
	case vm.ID == "":
		return malformed("it has no id")
	case vm.Status == "":
		return malformed("it has no status")
	}
	return vm, nil
}
