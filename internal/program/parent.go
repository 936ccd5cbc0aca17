package program

import (
	"context"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/agentenv/terraform-provider-gpuvm/internal/private"
)

// watched is a provider server that knows which of its calls, that may have a machine to clean up, are under way.
type watched struct {
	Server
	underWay sync.WaitGroup
	orphaned func() bool // whether Terraform was killed
}

func watch(s Server, orphaned func() bool) *watched { return &watched{Server: s, orphaned: orphaned} }

// parentGone gives a question: whether the process that started this one has ended since.
func parentGone() func() bool {
	parent := os.Getppid()
	return func() bool { return os.Getppid() != parent }
}

// ApplyResourceChange ends what it has made where Terraform was killed meanwhile: no state will ever know it. A create that is all
// but done doesn't notice by itself.
func (w *watched) ApplyResourceChange(ctx context.Context, req *tfprotov6.ApplyResourceChangeRequest) (*tfprotov6.ApplyResourceChangeResponse, error) {
	w.underWay.Add(1)
	defer w.underWay.Done()
	resp, err := w.Server.ApplyResourceChange(ctx, req)
	// What has no identity, such as a file, costs nothing, and may be what another object of the state stands for, too.
	if err == nil && isNull(req.PriorState) && !isNull(resp.NewState) && resp.NewIdentity != nil && w.unheard(ctx) {
		w.undo(ctx, req, resp)
	}
	return resp, err
}

// unheard says whether nobody will get the answer to a call: Terraform is gone, and the call has ended with it. Each of the two
// may show a moment before the other; one alone has other reasons.
func (w *watched) unheard(ctx context.Context) bool {
	if ctx.Err() == nil && !w.orphaned() {
		return false
	}
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for limit := time.Now().Add(partingTimeout); time.Now().Before(limit); <-tick.C {
		if ctx.Err() != nil && w.orphaned() {
			return true
		}
	}
	return false
}

// undo destroys what a create has made, as what was never finished: without its teardown script, which would save nothing, and
// even where the service doesn't know it yet.
func (w *watched) undo(ctx context.Context, req *tfprotov6.ApplyResourceChangeRequest, made *tfprotov6.ApplyResourceChangeResponse) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), orphanTimeout)
	defer cancel()
	nothing := req.PriorState
	destroy := &tfprotov6.ApplyResourceChangeRequest{
		TypeName: req.TypeName, PriorState: made.NewState, PlannedState: nothing, Config: nothing,
		PlannedPrivate: private.Add(made.Private, private.Unfinished, time.Now()), PlannedIdentity: made.NewIdentity, ProviderMeta: req.ProviderMeta,
	}
	// Nobody is left to be told why it doesn't end.
	for {
		resp, err := w.Server.ApplyResourceChange(ctx, destroy)
		if err == nil && !slices.ContainsFunc(resp.Diagnostics, isError) || ctx.Err() != nil {
			return
		}
		select {
		case <-time.After(againAfter):
		case <-ctx.Done():
		}
	}
}

func isNull(v *tfprotov6.DynamicValue) bool {
	if v == nil {
		return true
	}
	null, err := v.IsNull()
	return err == nil && null
}

func (w *watched) OpenEphemeralResource(ctx context.Context, req *tfprotov6.OpenEphemeralResourceRequest) (*tfprotov6.OpenEphemeralResourceResponse, error) {
	w.underWay.Add(1)
	defer w.underWay.Done()
	return w.Server.OpenEphemeralResource(ctx, req)
}

// endWithParent ends the program when Terraform was killed and left it behind. What is under way then has lost its
// connection, so it is cleaning up; that may finish. What is open then will never be closed, so end ends it.
func (w *watched) endWithParent(end func()) {
	tick := time.NewTicker(time.Second)
	for !w.orphaned() {
		<-tick.C
	}
	tick.Stop()
	done := make(chan struct{})
	go func() { w.underWay.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(orphanTimeout):
	}
	end()
	os.Exit(1)
}
