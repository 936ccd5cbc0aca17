package opensandbox

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/apiclient"
	api "github.com/agentenv/terraform-provider-gpuvm/internal/apiclient/opensandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/poll"
)

// Probe is a command that has to succeed before a sandbox counts as usable.
type Probe struct {
	Line        string        // "" turns the probe off
	Expected    string        // has to occur in what it prints
	Timeout     time.Duration // of one try; 0 = 30 s
	Deadline    time.Duration // of all of it; 0 = Timeout
	StableCount int           // successes in a row; 0 = 1
	StableDelay time.Duration // between them
}

const (
	defaultReadyTimeout = 60 * time.Second
	defaultProbeTimeout = 30 * time.Second
)

// awaitRunning follows the sandbox until it runs. A server that says so at once is asked once more all the same: a sandbox whose
// entrypoint can't start is Running for a moment, and only this answer tells all about it.
func (c *creation) awaitRunning(ctx context.Context) error {
	id := c.failure.ID
	remembering := func(o *poll.Options) { o.Memory, o.Kind = &c.boots, "boot" }
	return c.wait(ctx, "sandbox "+id+" to run", c.settings.Create.Timeout, remembering, func(ctx context.Context) (poll.State, error) {
		latest, err := c.API.Sandbox(ctx, id)
		if err != nil {
			return poll.State{}, err
		}
		c.usable.Sandbox = latest
		return poll.State{Done: latest.Status.State == api.StateRunning, Status: latest.Status.String()}, finalState(latest)
	})
}

// awaitAgent waits for execd's first answer: a sandbox runs before its agent listens, and there are pools without one.
func (c *creation) awaitAgent(ctx context.Context) error {
	if c.spec.SkipHealthCheck {
		return nil
	}
	limit := c.spec.ReadyTimeout
	if limit <= 0 {
		limit = defaultReadyTimeout
	}
	return c.wait(ctx, "the agent of sandbox "+c.failure.ID+" to answer", limit, patiently, func(ctx context.Context) (poll.State, error) {
		err := c.ping(ctx)
		if c.reached = err == nil; c.reached {
			return poll.State{Done: true}, nil
		}
		return poll.State{Status: err.Error()}, c.hopeless(ctx, err)
	})
}

func (c *creation) ping(ctx context.Context) error {
	agent, err := c.knownAgent(ctx)
	if err != nil {
		return err
	}
	return agent.Ping(ctx)
}

// knownAgent looks the agent's endpoint up once a create, and again when it turns out to lead nowhere.
func (c *creation) knownAgent(ctx context.Context) (*api.Execd, error) {
	if c.agent != nil {
		return c.agent, nil
	}
	agent, err := c.reachAgent(ctx, c.failure.ID)
	if err != nil {
		return nil, err
	}
	c.agent, c.failure.URL = agent, agent.URL
	return agent, nil
}

// hopeless says why waiting on after err makes no sense, if it doesn't: the agent refuses who asks, or its sandbox has ended.
func (c *creation) hopeless(ctx context.Context, err error) error {
	if apiclient.IsUnauthorized(err) {
		return err
	}
	if failed, ok := errors.AsType[*apiclient.Error](err); ok && failed.Status == 0 {
		c.agent = nil
	}
	latest, getErr := c.API.Sandbox(ctx, c.failure.ID)
	switch {
	case getErr == nil:
		c.usable.Sandbox = latest
		return finalState(latest)
	case apiclient.IsGone(getErr):
		return &UnreachableError{ID: c.failure.ID, Err: err, gone: getErr}
	}
	return nil // the next round asks again
}

// probe runs the probe until it has succeeded often enough in a row.
func (c *creation) probe(ctx context.Context) error {
	probe := c.spec.Probe
	if probe.Line == "" {
		return nil
	}
	if probe.Timeout <= 0 {
		probe.Timeout = defaultProbeTimeout
	}
	if probe.Deadline <= 0 {
		probe.Deadline = probe.Timeout
	}
	end := c.clock.Now().Add(probe.Deadline)
	stable := 0
	what := fmt.Sprintf("the probe %q in sandbox %s to succeed", probe.Line, c.failure.ID)
	return c.wait(ctx, what, probe.Deadline, patiently, func(ctx context.Context) (poll.State, error) {
		failed, err := c.try(ctx, probe, min(probe.Timeout, end.Sub(c.clock.Now())))
		if failed != "" || err != nil {
			stable = 0
			return poll.State{Status: failed}, err
		}
		if stable++; stable >= probe.StableCount {
			return poll.State{Done: true}, nil
		}
		return poll.State{Status: fmt.Sprintf("succeeded %d of %d times", stable, probe.StableCount), Again: true}, c.clock.Sleep(ctx, probe.StableDelay)
	})
}

// try runs the probe once. failed says why it doesn't count as a success; an error ends the waiting.
func (c *creation) try(ctx context.Context, probe Probe, timeout time.Duration) (failed string, err error) {
	agent, err := c.knownAgent(ctx)
	if err != nil {
		return err.Error(), c.hopeless(ctx, err)
	}
	once, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	result, err := c.run(once, agent, api.Command{Line: probe.Line, Env: c.spec.Request.Env, Timeout: timeout}, nil)
	switch c.reached = err == nil; {
	case err != nil:
		return err.Error(), c.hopeless(ctx, err)
	case result.ExitCode != 0:
		return c.redact(strings.TrimSpace(fmt.Sprintf("exit code %d\n%s", result.ExitCode, outputOf(result)))), nil
	case !strings.Contains(result.Stdout.Text, probe.Expected):
		return c.redact(strings.TrimSpace(fmt.Sprintf("it exits with 0 and doesn't print %q\n%s", probe.Expected, outputOf(result)))), nil
	}
	return "", nil
}

// lookUpPorts puts up with a server that doesn't know the address of a sandbox yet.
func (c *creation) lookUpPorts(ctx context.Context) error {
	limit := c.settings.Operations.CloseTimeout
	return c.wait(ctx, "the endpoints of sandbox "+c.failure.ID, limit, nil, func(ctx context.Context) (state poll.State, err error) {
		c.usable.Ports, c.usable.VNCURL, err = c.Reach(ctx, c.failure.ID, c.spec.Ports, c.spec.VNCPort)
		return poll.State{Done: true}, err
	})
}
