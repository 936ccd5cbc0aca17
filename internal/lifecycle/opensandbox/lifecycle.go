// Package opensandbox is the life of a sandbox, from the request that makes it to the answer that it is gone, and of the
// snapshots and pools around it. It knows nothing of Terraform.
package opensandbox

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/apiclient"
	api "github.com/agentenv/terraform-provider-gpuvm/internal/apiclient/opensandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/clock"
	"github.com/agentenv/terraform-provider-gpuvm/internal/poll"
)

// Settings are what a provider block says about the life of its sandboxes.
type Settings struct {
	ServerProxy bool // execd, the egress sidecar and ports are reached through the server
	Create      CreateSettings
	Operations  Operations
	Clock       clock.Clock // nil = the system's
	// Progress hears what is done, and every 10 s what is waited for and for how long; nil = nobody does.
	Progress func(ctx context.Context, message string, fields map[string]any)
}

// CreateSettings rule a create until the sandbox runs.
type CreateSettings struct {
	Timeout time.Duration // of one attempt, and of the boot after it; 0 = 20 minutes
	Retry   Retry
}

// Operations rule everything after that.
type Operations struct {
	Retry          Retry
	CommandRetries int           // how often a command whose outcome is open is run again: the user's word, as it may run twice
	CloseTimeout   time.Duration // of each deletion of a sandbox that nobody is to keep; 0 = 30 s
}

// Retry says how often, and how long after, something is tried again: before the n-th time after a random part of Delay
// doubled n-1 times, at most MaxDelay; a server's Retry-After goes before that.
type Retry struct {
	Times           int
	Delay, MaxDelay time.Duration
}

// Lifecycle makes, watches, changes and ends what one server holds. It is safe for concurrent use.
type Lifecycle struct {
	// API is the client with the retry settings of Operations.
	API      *api.Client
	creates  *api.Client // with those of Create
	settings Settings
	clock    clock.Clock
	boots    poll.Memory // spares the requests of a boot that is known to take long
	listing  listing     // spares the requests of a refresh of many
}

// New gives a lifecycle over a client.
func New(client *api.Client, settings Settings) *Lifecycle {
	if settings.Create.Timeout <= 0 {
		settings.Create.Timeout = 20 * time.Minute
	}
	if settings.Operations.CloseTimeout <= 0 {
		settings.Operations.CloseTimeout = 30 * time.Second
	}
	if settings.Clock == nil {
		settings.Clock = clock.System()
	}
	with := func(r Retry) *api.Client { return client.WithRetry(r.Times, r.Delay, r.MaxDelay) }
	return &Lifecycle{
		API:      with(settings.Operations.Retry),
		creates:  with(settings.Create.Retry),
		settings: settings,
		clock:    settings.Clock,
	}
}

// longest bounds a wait whose context has no deadline, so that every wait has an end.
const longest = 10 * time.Minute

func (l *Lifecycle) progress(ctx context.Context, message string, fields map[string]any) {
	if l.settings.Progress != nil {
		l.settings.Progress(ctx, message, fields)
	}
}

// wait polls until check is done, for at most limit by the lifecycle's clock. check sees to what it can't tolerate.
func (l *Lifecycle) wait(ctx context.Context, what string, limit time.Duration, change func(*poll.Options), check func(context.Context) (poll.State, error)) error {
	options := poll.Options{
		Clock:    l.clock,
		What:     what,
		Tolerate: tolerable,
		Gone:     apiclient.IsGone,
		Progress: func(ctx context.Context, elapsed time.Duration, last string) {
			l.progress(ctx, "waiting for "+what, map[string]any{"elapsed": shown(elapsed), "last": last})
		},
	}
	if change != nil {
		change(&options)
	}
	// The context cuts a request that hangs; the clock, which a test may hold, is what the limit is measured by.
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	start := l.clock.Now()
	seen := poll.TimeoutError{What: what}
	return poll.Until(ctx, options, func(ctx context.Context) (poll.State, error) {
		if seen.Waited = l.since(start); seen.Waited >= limit {
			return poll.State{}, &seen
		}
		state, err := check(ctx)
		seen.Polls++
		if seen.LastErr = err; err == nil {
			seen.Last = state.Status
		}
		return state, err
	})
}

// while does something that is silent until its end, such as a request that takes as long as what it asks for. The time is the
// system's: a test's would stand still, or run away, meanwhile.
func (l *Lifecycle) while(ctx context.Context, what string, do func() error) error {
	return poll.While(ctx, clock.System(), func(ctx context.Context, elapsed time.Duration) {
		l.progress(ctx, "waiting for "+what, map[string]any{"elapsed": shown(elapsed)})
	}, do)
}

// shown is a time as messages have it.
func shown(d time.Duration) string { return d.Round(time.Second).String() }

// patiently puts up with any number of passing faults; the wait's limit ends them.
func patiently(o *poll.Options) { o.Transient = 1 << 30 }

// untilGone takes "not found" for what it is.
func untilGone(o *poll.Options) { o.EarlyGone, o.Gone = -1, nil }

// tolerable says what may pass by itself: no answer, an answer in distress, one that is cut or garbled.
func tolerable(err error) bool {
	if _, explained := errors.AsType[*UnreachableError](err); explained {
		return false
	}
	return apiclient.IsTransient(err) || malformed(err)
}

// open says whether the server may have done what it was asked to, although no usable answer came.
func open(err error) bool {
	if failed, ok := errors.AsType[*apiclient.Error](err); ok {
		return failed.Open()
	}
	return malformed(err)
}

func malformed(err error) bool {
	_, ok := errors.AsType[*api.MalformedError](err)
	return ok || errors.Is(err, apiclient.ErrGarbled)
}

// repeat does what may be done twice without harm, until it succeeds or fails for good.
func (l *Lifecycle) repeat(ctx context.Context, do func() error) error {
	for n := 1; ; n++ {
		err := do()
		if err == nil || n > l.settings.Operations.Retry.Times || !tolerable(err) || ctx.Err() != nil {
			return err
		}
		if l.backOff(ctx, l.API, n, err) != nil {
			return err
		}
	}
}

// backOff waits before the n-th retry of what failed with after, at the pace of the client that did it. It fails at once where
// the time wouldn't suffice.
func (l *Lifecycle) backOff(ctx context.Context, client *api.Client, n int, after error) error {
	wait := client.Backoff(n - 1)
	if failed, ok := errors.AsType[*apiclient.Error](after); ok && failed.RetryAfter >= 0 {
		wait = failed.RetryAfter
	}
	// A context's deadline is one of the system's clock, whatever clock the wait is on.
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= wait {
		return fmt.Errorf("the next attempt would come in %s: %w", wait.Round(time.Millisecond), context.DeadlineExceeded)
	}
	return l.clock.Sleep(ctx, wait)
}

// outlive gives a context that ends grace after ctx does, not with it; no request pauses for longer than ctx, though.
func (l *Lifecycle) outlive(ctx context.Context, grace time.Duration) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		if l.clock.Sleep(longer, grace) == nil {
			cancel(context.Cause(ctx))
		}
	})
	return apiclient.PauseWithin(longer, ctx), func() { stop(); cancel(context.Canceled) }
}

// tailOf is the end of a text, for a message: whole lines where there are some.
func tailOf(text string, limit int) string {
	text = strings.TrimSpace(text)
	if len(text) <= limit {
		return text
	}
	text = text[len(text)-limit:]
	if _, rest, found := strings.Cut(text, "\n"); found {
		text = rest
	}
	return "…\n" + strings.ToValidUTF8(text, "")
}
