package opensandbox

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/apiclient"
	api "github.com/agentenv/terraform-provider-gpuvm/internal/apiclient/opensandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/poll"
)

// CreateIDKey is the metadata by which a create recognises what it made. The server knows no idempotency keys.
const CreateIDKey = "agentenv.dev/create-id"

const (
	// listLag is how long a server's list may take to show what was just made.
	listLag = 5 * time.Second
	// postGrace is how long an interrupt waits for the answer of a create under way.
	postGrace = 60 * time.Second
)

func withKey(metadata map[string]string, key string) map[string]string {
	marked := map[string]string{CreateIDKey: key}
	maps.Copy(marked, metadata)
	marked[CreateIDKey] = key
	return marked
}

// UnseenError is a create whose answer was lost and whose outcome the server's list couldn't tell either. It isn't asked for
// again: that might make a second one.
type UnseenError struct {
	Lost error // why there is no answer
	Err  error // why there is no list
}

func (e *UnseenError) Error() string {
	return fmt.Sprintf("%v; whether it was made all the same could not be found out: %v", e.Lost, e.Err)
}

func (e *UnseenError) Unwrap() []error { return []error{e.Lost, e.Err} }

// find looks for what an attempt without a usable answer made: the one that is kept, or lost where there is none.
func (c *creation) find(ctx context.Context, lost error) (api.Sandbox, error) {
	if !nothingMade(lost) || ctx.Err() != nil {
		c.lost++
	}
	if ctx.Err() != nil {
		return api.Sandbox{}, lost // giveUp looks, and for another purpose
	}
	c.progress(ctx, "the server gave no usable answer to the create: looking for the sandbox by its metadata "+CreateIDKey,
		map[string]any{"create_id": c.failure.CreateID, "answer": c.redact(lost.Error())})
	lag := listLag
	if isPullFailure(lost) || isQuota(lost) {
		lag = 0 // the server itself says that there is none
	}
	// A server that is still at it, pulling an image, answers nothing else meanwhile: the list is asked for as long as the
	// create itself may take.
	found, err := c.look(ctx, c.settings.Create.Timeout, lag, func(found []api.Sandbox) bool { return len(found) > 0 })
	switch {
	case err != nil:
		c.lost = max(c.lost, 1)
		return api.Sandbox{}, &UnseenError{Lost: lost, Err: err}
	case len(found) == 0:
		return api.Sandbox{}, lost
	}
	c.note(ctx, found[0])
	c.lost = max(0, c.lost-len(found))
	if c.deleteEach(ctx, found[1:]) != nil {
		c.lost++ // removeStrays and giveUp see to it again
	}
	return found[0], nil
}

// look lists what carries the key, until it is enough or the list has been there for as long as it may lag. What there is to
// keep comes first.
func (c *creation) look(ctx context.Context, limit, lag time.Duration, enough func([]api.Sandbox) bool) ([]api.Sandbox, error) {
	var found []api.Sandbox
	var first time.Time
	err := c.wait(ctx, "the list of sandboxes with create-id "+c.failure.CreateID, limit, patiently, func(ctx context.Context) (poll.State, error) {
		var err error
		if found, err = c.marked(ctx); err != nil {
			return poll.State{}, err
		}
		now := c.clock.Now()
		if first.IsZero() {
			first = now
		}
		return poll.State{Done: enough(found) || now.Sub(first) >= lag, Status: fmt.Sprintf("%d listed", len(found))}, nil
	})
	return found, err
}

// marked lists what carries the key. It trusts no filter but its own: what it finds may be deleted.
func (c *creation) marked(ctx context.Context) ([]api.Sandbox, error) {
	var found []api.Sandbox
	filter := api.SandboxFilter{Metadata: map[string]string{CreateIDKey: c.failure.CreateID}}
	for sandbox, err := range c.API.Sandboxes(ctx, filter) {
		if err != nil {
			return nil, err
		}
		if sandbox.ID != "" && sandbox.Metadata[CreateIDKey] == c.failure.CreateID {
			found = append(found, sandbox)
		}
	}
	slices.SortStableFunc(found, func(a, b api.Sandbox) int { return closeness(b) - closeness(a) })
	return found, nil
}

// closeness says how near a sandbox is to being usable.
func closeness(s api.Sandbox) int {
	switch s.Status.State {
	case api.StateRunning:
		return 2
	case api.StateStopping, api.StateTerminated, api.StateFailed:
		return 0
	}
	return 1
}

// lastLook comes before the error of a create of which an earlier attempt was lost: what that one made after all is as good
// as any.
func (c *creation) lastLook(ctx context.Context, err error) error {
	if c.lost == 0 || open(err) || c.failure.ID != "" || ctx.Err() != nil {
		return err
	}
	if _, stillLost := c.find(ctx, err); stillLost != nil {
		return err
	}
	c.failure.Stage = StageBoot
	return c.awaitRunning(ctx)
}

// removeStrays deletes what a lost attempt made besides the sandbox of this create.
func (c *creation) removeStrays(ctx context.Context) error {
	if c.lost == 0 {
		return nil
	}
	found, err := c.lookForAll(ctx)
	if err == nil {
		err = c.deleteEach(ctx, c.strays(found))
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if err != nil {
		c.usable.Warnings = append(c.usable.Warnings, fmt.Sprintf(
			"An attempt to create sandbox %s got no answer and may have made a second one, which could not be found and deleted: %v. It would carry the same metadata %s = %s.",
			c.failure.ID, err, CreateIDKey, c.failure.CreateID))
	}
	return nil
}

// lookForAll finds what lost attempts made. The list has caught up with them once it shows the sandbox of this create, which
// came last, or as many as were lost.
func (c *creation) lookForAll(ctx context.Context) ([]api.Sandbox, error) {
	lag := listLag
	if c.failure.ID != "" {
		lag = c.settings.Operations.CloseTimeout
	}
	found, err := c.look(ctx, lag+c.settings.Operations.CloseTimeout, lag, c.caughtUp)
	if err == nil && !c.caughtUp(found) && c.failure.ID != "" {
		err = errors.New("the server's list doesn't show " + c.failure.ID + ", so that it may lack others too")
	}
	return found, err
}

func (c *creation) caughtUp(found []api.Sandbox) bool {
	return c.failure.ID != "" && c.showsOwn(found) || c.failure.ID == "" && len(found) >= c.lost
}

func (c *creation) showsOwn(found []api.Sandbox) bool {
	return slices.ContainsFunc(found, func(s api.Sandbox) bool { return s.ID == c.failure.ID })
}

func (c *creation) strays(found []api.Sandbox) []api.Sandbox {
	return slices.DeleteFunc(found, func(s api.Sandbox) bool { return s.ID == c.failure.ID })
}

// worthRepeating says whether a new sandbox may come out better. Quota, validation and credentials don't heal.
func worthRepeating(err error) bool {
	if _, unseen := errors.AsType[*UnseenError](err); unseen || isQuota(err) {
		return false
	}
	if _, ended := errors.AsType[*StateError](err); ended || isPullFailure(err) {
		return isPullFailure(err)
	}
	if malformed(err) {
		return true
	}
	failed, ok := errors.AsType[*apiclient.Error](err)
	if !ok {
		return false
	}
	switch failed.Status {
	case http.StatusNotFound, http.StatusGone:
		return failed.Method == http.MethodGet // it vanished while it started: a server deletes what doesn't come up in time
	case http.StatusConflict: // a snapshot that isn't ready yet, among others
		return true
	case http.StatusNotImplemented:
		return false
	}
	return apiclient.IsTransient(err)
}

// nothingMade says whether the server's own word is that there is nothing: a quota, a failed pull, or Docker, which cleans up
// after what it can't start. A gateway, a timeout or silence says nothing of the kind.
func nothingMade(err error) bool {
	failed, ok := errors.AsType[*apiclient.Error](err)
	return isQuota(err) || isPullFailure(err) || ok && strings.HasPrefix(failed.Code, "DOCKER::")
}

func isQuota(err error) bool {
	failed, ok := errors.AsType[*apiclient.Error](err)
	return ok && (strings.Contains(failed.Code+failed.Text, "QUOTA_EXCEEDED") || strings.Contains(failed.Text, "exceeded quota"))
}

// isPullFailure knows a failed image pull by the server's code, or by the words of the runtimes: ErrImagePull,
// ImagePullBackOff, InvalidImageName.
func isPullFailure(err error) bool {
	if failed, ok := errors.AsType[*apiclient.Error](err); ok && strings.Contains(failed.Code, "IMAGE_PULL") {
		return true
	}
	ended, ok := errors.AsType[*StateError](err)
	if !ok {
		return false
	}
	text := strings.ToLower(ended.Status.Reason + " " + ended.Status.Message)
	return slices.ContainsFunc([]string{"imagepull", "image_pull", "invalidimagename", "pull image", "pulling image"},
		func(words string) bool { return strings.Contains(text, words) })
}
