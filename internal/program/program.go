// Package program is what the two provider programs share: serving one provider to Terraform, and ending well.
package program

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path"
	"syscall"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server"
)

// closer is a provider that has something to end when the program does.
type closer interface{ Close(ctx context.Context) }

const (
	// closeTimeout bounds what is done as the program ends: Terraform kills it about 2 s after asking it to end.
	closeTimeout = 1800 * time.Millisecond
	// orphanTimeout bounds how long the program outlives a Terraform that was killed: the answer of a create under way
	// (60 s), then the deletion of its machine (120 s).
	orphanTimeout = 190 * time.Second
	// partingTimeout is how far the end of Terraform and the end of its calls may lie apart.
	partingTimeout = time.Second
	// againAfter is the pause between two attempts to destroy what nobody knows.
	againAfter = 5 * time.Second
)

// Main serves the provider until Terraform is done with it, and gives the program's exit code.
func Main(address string, p provider.Provider) int {
	debug := flag.Bool("debug", false, "serve for a debugger: print the TF_REATTACH_PROVIDERS value to use, and run until interrupted")
	flag.Parse()
	tuneGarbage()
	quietLogs(path.Base(address))

	watched := watch(NewServer(p), parentGone())
	var options []tf6server.ServeOpt
	if *debug {
		watched.orphaned = func() bool { return false } // a debugger's Terraform isn't its parent
		options = append(options, tf6server.WithManagedDebug())
	} else {
		// Terraform's own Stop ends what is under way. A SIGTERM that reaches the whole process group would kill this
		// program in the middle of a create, and lose the machine.
		// A Terraform that was killed takes no more log lines; to be killed by writing one (SIGPIPE) would end the clean-up.
		signal.Ignore(syscall.SIGTERM, syscall.SIGPIPE)
		go watched.endWithParent(func() { end(p) })
	}
	err := tf6server.Serve(address, func() tfprotov6.ProviderServer { return watched }, options...)
	end(p)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// end ends what the provider has left to end.
func end(p provider.Provider) {
	if p, ok := p.(closer); ok {
		ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
		defer cancel()
		p.Close(ctx)
	}
}
