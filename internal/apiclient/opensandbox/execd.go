package opensandbox

import (
	"context"
	"errors"
	"io"
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
	// What is left of the stream after the last event is read on without whoever waits for the command, and so without ctx.
	following, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	release := context.AfterFunc(ctx, func() { stop(context.Cause(ctx)) })
	//nolint:contextcheck // it ends with ctx, by release, for as long as the command is followed
	answer, err := e.http.Stream(sameDeadline{following, ctx}, apiclient.Request{
		Method:  http.MethodPost,
		Path:    []string{"command"},
		Header:  http.Header{"Accept": {"text/event-stream"}},
		JSON:    body,
		Timeout: apiclient.NoTimeout,
	})
	if err != nil {
		release()
		stop(nil)
		return Result{}, err
	}
	result, err := follow(answer.Body, listen)
	release()
	if err == nil {
		go drain(answer.Body, stop)
		return result, nil
	}
	_ = answer.Body.Close()
	stop(nil)
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	return result, &InterruptedError{ID: result.ID, Err: err}
}

// lingering is how long the agent may hold a stream open after its last event; it takes 1 s.
const lingering = 3 * time.Second

// drain reads a stream to its end where it comes soon. The agent holds one open for a while after the last event, which is the
// one that counts; closed meanwhile, it counts as broken off, and an agent that is reached through its own proxy, as on Docker,
// then writes a crash report into the sandbox's log for every command.
func drain(stream io.ReadCloser, stop context.CancelCauseFunc) {
	late := time.AfterFunc(lingering, func() { stop(nil) })
	_, _ = io.Copy(io.Discard, io.LimitReader(stream, maxEvent))
	_ = stream.Close()
	late.Stop()
	stop(nil)
}

// sameDeadline is a context that tells the deadline of another, for whoever plans by it, and doesn't end at it by itself.
type sameDeadline struct {
	context.Context
	other context.Context
}

func (c sameDeadline) Deadline() (time.Time, bool) { return c.other.Deadline() }

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
// One that has ended is an *AgentError.
func (e *Execd) Interrupt(ctx context.Context, commandID string) error {
	return e.ask(ctx, apiclient.Request{Method: http.MethodDelete, Path: []string{"command"}, Query: url.Values{"id": {commandID}}}, nil)
}

// AgentError is what the agent could not do with what it found in the sandbox. It answers so with 500, and yet it is in good
// health: asked again, it says the same.
type AgentError struct {
	Asked  string // "POST /files/upload"
	Reason string // its words: "error chmoding file /a. failed to lookup user app: user: unknown user app"
}

func (e *AgentError) Error() string { return e.Asked + ": the sandbox's agent says: " + e.Reason }

// ask does a request once. Whoever repeats it has to tell an *AgentError apart, which the transport doesn't.
func (e *Execd) ask(ctx context.Context, r apiclient.Request, out any) error {
	r.Retry = apiclient.RetryNever
	_, err := e.http.Do(ctx, r, out)
	return agentError(err, r)
}

func agentError(err error, r apiclient.Request) error {
	failed, ok := errors.AsType[*apiclient.Error](err)
	if !ok || failed.Status != http.StatusInternalServerError || failed.Code != "RUNTIME_ERROR" {
		return err
	}
	return &AgentError{Asked: asked(r.Method, r.Path...), Reason: failed.Text}
}
