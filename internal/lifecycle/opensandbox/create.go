package opensandbox

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/apiclient"
	api "github.com/agentenv/terraform-provider-gpuvm/internal/apiclient/opensandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/redact"
	"github.com/agentenv/terraform-provider-gpuvm/internal/uuid"
)

// Spec is the sandbox that is wanted, and what has to be true of it before it counts as made.
type Spec struct {
	Request         api.CreateRequest // Create adds the metadata CreateIDKey
	SkipHealthCheck bool              // leaves out the wait for the agent; the probe still runs
	ReadyTimeout    time.Duration     // of that wait; 0 = 60 s
	Probe           Probe
	Files           []api.File // uploaded in the order of their paths
	SetupScript     string     // run by the sandbox's shell after the files; "" = none
	Ports           []int64    // whose endpoints are looked up
	VNCPort         int64      // the same, for the display; 0 = none
	Paused          bool       // once all else is done
	KeepFailed      bool       // leave a sandbox whose create failed, for debugging
	// Noted hears the id before anything else can fail. It is called again where a later attempt takes another's place.
	Noted func(id string)
	// Secrets are values that no message may show: passwords and the like that went into Request and Files.
	Secrets []string
}

// Usable is a sandbox that does what it was made for.
type Usable struct {
	Sandbox  api.Sandbox
	CreateID string
	Ports    map[int64]string // URLs
	VNCURL   string
	Warnings []string // what didn't stop it, and yet is to be known
}

// creation is one Create under way.
type creation struct {
	*Lifecycle
	spec    Spec
	failure *CreateError // what is known so far, for the case that it fails
	usable  *Usable
	// lost counts the attempts that got no answer of the server itself and of which nothing is known: each may have made, or may
	// yet make, a sandbox.
	lost      int
	forgotten string     // the id of an earlier attempt's sandbox, which is gone again
	agent     *api.Execd // once its endpoint is known
	reached   bool       // the agent has answered
}

// Create makes exactly one sandbox and sees it through to usable. On any failure, interrupt or panic the error is a
// *CreateError, which says what became of the sandbox.
func (l *Lifecycle) Create(ctx context.Context, spec Spec) (usable *Usable, err error) {
	// A server may repeat the script, too, which its own output may: it is what the user has to correct.
	ctx = redact.Within(ctx, append(slices.Clone(spec.Secrets), spec.SetupScript)...)
	c := &creation{Lifecycle: l, spec: spec}
	c.failure = &CreateError{Object: "sandbox", CreateID: uuid.New(), redact: c.redact}
	c.usable = &Usable{CreateID: c.failure.CreateID}
	start := c.clock.Now()
	defer func() {
		if crash := recover(); crash != nil {
			err = &PanicError{Value: crash, Stack: string(debug.Stack())}
		}
		if err != nil {
			usable, err = nil, c.giveUp(ctx, err)
		}
	}()

	for _, step := range []struct {
		stage Stage
		do    func(context.Context) error
	}{
		{StagePool, c.findPool},
		{StageCreate, c.make},
		{StageHealth, c.awaitAgent},
		{StageProbe, c.probe},
		{StageFiles, c.uploadFiles},
		{StageSetup, c.setUp},
		{StagePorts, c.lookUpPorts},
		{StagePause, c.pause},
		{StageCreate, c.removeStrays},
	} {
		c.failure.Stage = step.stage
		if err := step.do(ctx); err != nil {
			return nil, err
		}
	}
	c.progress(ctx, "the sandbox is ready", map[string]any{"id": c.failure.ID, "elapsed": shown(c.since(start))})
	return c.usable, context.Cause(ctx)
}

// findPool sees that the pool exists: a server that is asked for a missing one keeps its client waiting until it times out.
// Only a server that knows pools and not this one is an obstacle.
func (c *creation) findPool(ctx context.Context) error {
	name := c.spec.Request.Extensions[api.PoolRefExtension]
	if name == "" {
		return nil
	}
	_, err := c.API.Pool(ctx, name)
	if failed, ok := errors.AsType[*apiclient.Error](err); ok &&
		failed.Status == http.StatusNotFound && strings.Contains(failed.Code, "POOL_NOT_FOUND") {
		return fmt.Errorf("pool_ref %q: %w", name, err)
	}
	return context.Cause(ctx)
}

// make asks for the sandbox until there is one and it runs, as often as the settings allow.
func (c *creation) make(ctx context.Context) error {
	retry := c.settings.Create.Retry
	for n := 1; ; n++ {
		err := c.attempt(ctx)
		if err == nil {
			return nil
		}
		if cause := context.Cause(ctx); cause != nil && !errors.Is(err, cause) {
			return fmt.Errorf("%w (%w)", cause, err)
		}
		if n > retry.Times || !worthRepeating(err) || ctx.Err() != nil {
			return c.lastLook(ctx, err)
		}
		if undeleted := c.forget(ctx); undeleted != nil {
			return fmt.Errorf("%w; it isn't asked for again, because the one that failed could not be deleted: %w", err, undeleted)
		}
		c.progress(ctx, "asking for the sandbox again", map[string]any{"attempt": n + 1, "of": retry.Times + 1, "after": c.redact(err.Error())})
		if late := c.backOff(ctx, c.creates, n, err); late != nil {
			return c.lastLook(ctx, fmt.Errorf("%w (it isn't asked for again: %w)", err, late))
		}
	}
}

// attempt asks once, finds out what an open outcome means, and sees the sandbox run.
func (c *creation) attempt(ctx context.Context) error {
	c.failure.Stage = StageCreate
	sandbox, err := c.post(ctx)
	if err != nil && open(err) {
		sandbox, err = c.find(ctx, err)
	}
	if err != nil {
		return err
	}
	c.note(ctx, sandbox)
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	c.failure.Stage = StageBoot
	return c.awaitRunning(ctx)
}

// post sends the request. An interrupt lets it finish, for a while: cutting it would lose the id of what is being made.
func (c *creation) post(ctx context.Context) (sandbox api.Sandbox, err error) {
	if cause := context.Cause(ctx); cause != nil {
		return api.Sandbox{}, cause
	}
	request := c.spec.Request
	request.Metadata = withKey(request.Metadata, c.failure.CreateID)
	longer, done := c.outlive(ctx, postGrace)
	defer done()
	err = c.while(longer, "the server to make the sandbox", func() (err error) {
		sandbox, err = c.creates.CreateSandbox(longer, request, c.settings.Create.Timeout)
		return err
	})
	return sandbox, err
}

// note takes a sandbox for the one of this create.
func (c *creation) note(ctx context.Context, sandbox api.Sandbox) {
	if c.failure.ID == sandbox.ID {
		return
	}
	c.failure.ID, c.usable.Sandbox, c.agent = sandbox.ID, sandbox, nil
	if c.spec.Noted != nil {
		c.spec.Noted(sandbox.ID)
	}
	c.progress(ctx, "the server has accepted the sandbox", map[string]any{"id": sandbox.ID, "status": sandbox.Status.State})
}

// redact takes secrets out of text that somebody else wrote.
func (c *creation) redact(text string) string {
	text = c.API.Redact(text)
	if c.agent != nil {
		text = c.agent.Redact(text)
	}
	return redact.Quotations(text, c.spec.Secrets...)
}
