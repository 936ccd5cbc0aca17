// Package destroy is how both providers end a machine.
package destroy

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/agentenv/terraform-provider-gpuvm/internal/diagnose"
)

// Lifecycle ends machines.
type Lifecycle interface {
	// Teardown runs a script in a machine; skipped says why it couldn't run.
	Teardown(ctx context.Context, id, script string) (skipped string, err error)
	// Delete ends a machine and waits until the service no longer knows it.
	Delete(ctx context.Context, id string) error
}

// Machine runs the teardown script, ends the machine and waits until it is gone. Where the script fails the machine stays.
// what is the user's word for it: "Instance".
func Machine(ctx context.Context, by Lifecycle, service diagnose.Service, what, id, teardown string, diags *diag.Diagnostics) {
	skipped, err := by.Teardown(ctx, id, teardown)
	if err != nil {
		service.AttributeError(diags, path.Root("teardown_script"), "Teardown of "+id+" failed",
			fmt.Errorf("%w\n\nThe machine was not destroyed, and is still in the state. Correct the script, or take teardown_script away and apply, then destroy again", err))
		return
	}
	if skipped != "" {
		warnSkipped(diags, id, skipped)
	}
	if err := by.Delete(ctx, id); err != nil {
		service.Error(diags, what+" "+id+" was not destroyed", fmt.Errorf("%w\n\nIt is still in the state; destroy again", err))
	}
}

// Script gives the teardown script to run for an object: none for one whose create failed, in which nothing is to be saved
// and much is not yet set up. Else a script that fails there would keep it for ever: a tainted object takes no correction.
func Script(teardown, id string, unfinished bool, diags *diag.Diagnostics) string {
	if !unfinished || teardown == "" {
		return teardown
	}
	warnSkipped(diags, id, "its create has failed")
	return ""
}

func warnSkipped(diags *diag.Diagnostics, id, why string) {
	diags.AddAttributeWarning(path.Root("teardown_script"), "Teardown script was skipped", "It can't run in "+id+": "+why+".")
}
