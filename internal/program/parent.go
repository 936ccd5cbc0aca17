package program

import (
	"context"
	"os"
	"sync"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
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

// ApplyResourceChange ends what it has made where Terraform was killed meanwhile: no state will ever know it. The end of the
// connection comes too late for a create that is all but done.
func (w *watched) ApplyResourceChange(ctx context.Context, req *tfprotov6.ApplyResourceChangeRequest) (*tfprotov6.ApplyResourceChangeResponse, error) {
	w.underWay.Add(1)
	defer w.underWay.Done()
	resp, err := w.Server.ApplyResourceChange(ctx, req)
	if err == nil && w.orphaned() && isNull(req.PriorState) && !isNull(resp.NewState) {
		w.undo(ctx, req, resp)
	}
	return resp, err
}

// undo destroys what a create has made.
func (w *watched) undo(ctx context.Context, req *tfprotov6.ApplyResourceChangeRequest, made *tfprotov6.ApplyResourceChangeResponse) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), orphanTimeout)
	defer cancel()
	nothing := req.PriorState
	// Nobody is left to be told how it went.
	_, _ = w.Server.ApplyResourceChange(ctx, &tfprotov6.ApplyResourceChangeRequest{
		TypeName: req.TypeName, PriorState: made.NewState, PlannedState: nothing, Config: nothing,
		PlannedPrivate: made.Private, PlannedIdentity: made.NewIdentity, ProviderMeta: req.ProviderMeta,
	})
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
