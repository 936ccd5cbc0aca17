package opensandbox

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/agentenv/terraform-provider-gpuvm/internal/apiclient"
	api "github.com/agentenv/terraform-provider-gpuvm/internal/apiclient/opensandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/poll"
)

// describe fills in what is known about the failure, but for what becomes of the sandbox.
func (c *creation) describe(err error) {
	c.failure.Err = err
	if script, ok := errors.AsType[*ScriptError](err); ok {
		script.Output = c.redact(script.Output)
		c.failure.ScriptOutput = script.Output
	}
	if c.failure.Stage != StageHealth && c.failure.Stage != StageProbe {
		c.failure.URL = ""
	}
	c.failure.Hint = c.hint(err)
}

// hint says what to do about a failure, where the error itself doesn't.
func (c *creation) hint(err error) string {
	_, timedOut := errors.AsType[*poll.TimeoutError](err)
	unreachable, isUnreachable := errors.AsType[*UnreachableError](err)
	failed, isAnswer := errors.AsType[*apiclient.Error](err)
	final, isFinal := errors.AsType[*StateError](err)
	switch stage := c.failure.Stage; {
	case isQuota(err):
		return "the quota behind the api_key is used up; delete sandboxes, or ask for more. A sandbox that never expires holds its share until it is deleted."
	case isPullFailure(err):
		return "check the image's name, and image_auth if its registry is private."
	case stage == StageCreate && c.refusesForever(failed):
		return "the server's runtime may not have sandboxes that never expire: set ttl_seconds."
	case stage == StagePool:
		return "create the pool first (opensandbox_pool), or correct pool_ref."
	case isUnreachable && unreachable.Status.State == "", isAnswer && apiclient.IsGone(err) && c.failure.ID != "":
		return c.ttlHint()
	case isUnreachable && outOfMemory(unreachable.Status):
		return "give it more memory in the resources block."
	case isFinal && final.Status.State == api.StateTerminated && c.spec.Request.Image != nil:
		return "a sandbox lasts as long as its entrypoint, and this one's has ended: it has to be a program that stays, such as the default [\"tail\", \"-f\", \"/dev/null\"]."
	case (stage == StageHealth || stage == StageProbe) && isAnswer && apiclient.IsUnauthorized(failed):
		return "the agent refuses whoever lacks what its endpoint demands. The api_key goes to it only through the server: try use_server_proxy = true."
	case stage == StageProbe && timedOut && c.reached:
		return "the agent answers, and the probe doesn't succeed: see what it did above. The probe block of the provider says what is run and what it has to print; command = \"\" turns it off."
	case (stage == StageHealth || stage == StageProbe) && timedOut && !c.settings.ServerProxy:
		return "if the address above can't be reached from here, set use_server_proxy = true in the provider block; if the sandbox only takes longer, raise ready_timeout_seconds or the probe block's deadline_seconds."
	case (stage == StageHealth || stage == StageProbe) && timedOut:
		return "if the sandbox only takes longer, raise ready_timeout_seconds or the probe block's deadline_seconds. A sandbox of an image or a pool without OpenSandbox's agent needs skip_health_check = true and a probe command of \"\"."
	case stage == StageBoot && timedOut && c.usable.Sandbox.Status.State == api.StatePending:
		return "an image that can't be pulled, or resources that no node has, keep a sandbox Pending: see what the server tells above."
	}
	return ""
}

// refusesForever knows a server that answers a request without an expiry with words about one: not every runtime can do
// without, and only its answer tells.
func (c *creation) refusesForever(failed *apiclient.Error) bool {
	if failed == nil || c.spec.Request.TimeoutSeconds != nil || failed.Status < 400 || failed.Status > 499 && failed.Status != http.StatusNotImplemented {
		return false
	}
	text := strings.ToLower(failed.Code + " " + failed.Text)
	return slices.ContainsFunc([]string{"timeout", "expir", "manual"}, func(word string) bool { return strings.Contains(text, word) })
}

func (c *creation) ttlHint() string {
	if ttl := c.spec.Request.TimeoutSeconds; ttl != nil {
		return fmt.Sprintf("it may have expired: ttl_seconds = %d has to last for the whole of its setup.", *ttl)
	}
	return ""
}
