package opensandbox

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/apiclient"
)

// Execd calls the agent inside one sandbox.
type Execd struct {
	http *apiclient.Client
	// URL is the endpoint that it is reached at.
	URL string
}

// Execd gives a client of the agent behind an endpoint of ExecdPort.
func (c *Client) Execd(e Endpoint) (*Execd, error) {
	transport, err := c.at(e)
	if err != nil {
		return nil, err
	}
	return &Execd{http: transport, URL: e.URL}, nil
}

// Redact takes the secrets that the transport knows, the endpoint's headers among them, out of text.
func (e *Execd) Redact(text string) string { return e.http.Redact(text) }

// Ping asks whether the agent answers, once: whoever waits for it asks again.
func (e *Execd) Ping(ctx context.Context) error {
	_, err := e.http.Do(ctx, apiclient.Request{
		Method: http.MethodGet,
		Path:   []string{"ping"},
		Retry:  apiclient.RetryNever,
	}, nil)
	return err
}

// Command is a line for the sandbox's shell (bash where there is one, else sh), run in the foreground.
type Command struct {
	Line    string
	Cwd     string // "" = the agent's own
	Env     map[string]string
	UID     *uint32       // nil = the agent's own user
	Timeout time.Duration // after which the agent kills it, to the millisecond; 0 = never
}

// Stream is one of the two that a command prints to.
type Stream string

// The streams of a command.
const (
	Stdout Stream = "stdout"
	Stderr Stream = "stderr"
)

// Result is how a command ended, or how far it came where Run returns an error beside it.
type Result struct {
	ID       string // by which it can be interrupted; "" = it isn't known to have started
	ExitCode int    // -1 where a signal or its timeout ended it, CodeUnknown where the agent told no code
	Failure  string // the agent's words where it told no code: mostly that the command never started
	Stdout   Captured
	Stderr   Captured
}

// CodeUnknown is the exit code of a command of which the agent reports an error without a code.
const CodeUnknown = 125

// Run runs a command and follows it to its end, however long: only ctx bounds it. A command that may have started is never
// sent again. listen, unless nil, hears each line as it comes. Whatever ended the command, a Result comes with it.
func (e *Execd) Run(ctx context.Context, command Command, listen func(Stream, string)) (Result, error) {
	body := struct {
		Command   string            `json:"command"`
		Cwd       string            `json:"cwd,omitempty"`
		TimeoutMS int64             `json:"timeout,omitempty"`
		UID       *uint32           `json:"uid,omitempty"`
		Env       map[string]string `json:"envs,omitempty"`
	}{command.Line, command.Cwd, command.Timeout.Milliseconds(), command.UID, command.Env}
	answer, err := e.http.Stream(ctx, apiclient.Request{
		Method:  http.MethodPost,
		Path:    []string{"command"},
		Header:  http.Header{"Accept": {"text/event-stream"}},
		JSON:    body,
		Timeout: apiclient.NoTimeout,
	})
	if err != nil {
		return Result{}, err
	}
	// The agent holds the stream open for a while after the last event: what counts as the end is that event.
	defer func() { _ = answer.Body.Close() }()
	result, err := follow(answer.Body, listen)
	if err == nil {
		return result, nil
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	return result, &InterruptedError{ID: result.ID, Err: err}
}

// InterruptedError is a command whose events stopped before its end was told: it may have ended, or run on.
type InterruptedError struct {
	ID  string
	Err error
}

func (e *InterruptedError) Error() string {
	text := "POST /command: the events of the command stopped before its end was told"
	if e.ID != "" {
		text += " (command id " + e.ID + ")"
	}
	return text + ": " + e.Err.Error()
}

func (e *InterruptedError) Unwrap() error { return e.Err }

// Interrupt ends a command and all that it started: SIGTERM, and SIGKILL 3 s later. A command runs on when the connection
// of whoever follows it breaks, so giving up takes this call.
func (e *Execd) Interrupt(ctx context.Context, commandID string) error {
	_, err := e.http.Do(ctx, apiclient.Request{
		Method: http.MethodDelete,
		Path:   []string{"command"},
		Query:  url.Values{"id": {commandID}},
	}, nil)
	return err
}
