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
}

func watch(s Server) *watched { return &watched{Server: s} }

func (w *watched) ApplyResourceChange(ctx context.Context, req *tfprotov6.ApplyResourceChangeRequest) (*tfprotov6.ApplyResourceChangeResponse, error) {
	w.underWay.Add(1)
	defer w.underWay.Done()
	return w.Server.ApplyResourceChange(ctx, req)
}

func (w *watched) OpenEphemeralResource(ctx context.Context, req *tfprotov6.OpenEphemeralResourceRequest) (*tfprotov6.OpenEphemeralResourceResponse, error) {
	w.underWay.Add(1)
	defer w.underWay.Done()
	return w.Server.OpenEphemeralResource(ctx, req)
}

// endWithParent ends the program when Terraform was killed and left it behind. What is under way then has lost its
// connection, so it is cleaning up; that may finish. What is open then will never be closed, so end ends it.
func (w *watched) endWithParent(end func()) {
	parent := os.Getppid()
	tick := time.NewTicker(time.Second)
	for os.Getppid() == parent {
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
